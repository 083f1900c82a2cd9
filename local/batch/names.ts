import { account, region } from "../account";

export function batchArn(resource: string): string {
  return `arn:aws:batch:${region}:${account}:${resource}`;
}

/** The last part of an ARN, or the name as it is. */
export function nameOf(reference: string): string {
  return reference.startsWith("arn:") ? reference.slice(reference.indexOf("/") + 1) : reference;
}

export function jobArn(jobId: string): string {
  return batchArn(`job/${jobId}`);
}

/** The instance that a process stands for. Its number is the container's process id. */
export function instanceId(pid: number): string {
  return `i-local-${pid}`;
}

export function containerInstanceArn(pid: number): string {
  return `arn:aws:ecs:${region}:${account}:container-instance/ringmaster/${instanceId(pid)}`;
}

/** What Batch says of an attempt whose instance went away. Retry rules look for its beginning. */
export function hostLost(instance: string): string {
  return `Host EC2 (instance ${instance}) terminated.`;
}

/** Where containers' output goes unless their definition names a group. */
export const defaultLogGroup = "/aws/batch/job";
