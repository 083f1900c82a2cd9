import { account, region } from "../account";

export function batchArn(resource: string): string {
  return `arn:aws:batch:${region}:${account}:${resource}`;
}

/** Returns the last part of an ARN. A name is returned unchanged. */
export function nameOf(reference: string): string {
  return reference.startsWith("arn:") ? reference.slice(reference.indexOf("/") + 1) : reference;
}

export function jobArn(jobId: string): string {
  return batchArn(`job/${jobId}`);
}

/** Returns the id of the emulated instance of a process. It contains the container's process id. */
export function instanceId(pid: number): string {
  return `i-local-${pid}`;
}

export function containerInstanceArn(pid: number): string {
  return `arn:aws:ecs:${region}:${account}:container-instance/ringmaster/${instanceId(pid)}`;
}

/** Returns Batch's status reason for an attempt whose instance was lost. Retry rules match its beginning. */
export function hostLost(instance: string): string {
  return `Host EC2 (instance ${instance}) terminated.`;
}

export function isHostLost(statusReason: string): boolean {
  return statusReason.startsWith("Host EC2 ");
}

export const defaultLogGroup = "/aws/batch/job";
