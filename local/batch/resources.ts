import type * as z from "zod";
import { clientError } from "./errors";
import { batchArn, nameOf } from "./names";
import type { schemas } from "./schemas";
import type { Store } from "./store";
import type { ComputeEnvironment, FairsharePolicy, JobQueue, SchedulingPolicy } from "./types";

type Input<K extends keyof typeof schemas> = z.infer<(typeof schemas)[K]>;

export class Resources {
  private readonly environments = new Map<string, ComputeEnvironment>();
  private readonly queues = new Map<string, JobQueue>();
  private readonly policies = new Map<string, SchedulingPolicy>();

  constructor(private readonly store: Store) {}

  load(rows: ReadonlyMap<string, unknown>): void {
    for (const [key, value] of rows) {
      const [kind, name = ""] = key.split("!");
      if (kind === "ce") this.environments.set(name, value as ComputeEnvironment);
      else if (kind === "jq") this.queues.set(name, value as JobQueue);
      else if (kind === "sp") this.policies.set(name, value as SchedulingPolicy);
    }
  }

  environment(reference: string | undefined): ComputeEnvironment | undefined {
    return reference === undefined ? undefined : this.environments.get(nameOf(reference));
  }

  queue(reference: string): JobQueue | undefined {
    return this.queues.get(nameOf(reference));
  }

  queuesByPriority(): readonly JobQueue[] {
    return [...this.queues.values()].sort((a, b) => b.priority - a.priority);
  }

  environmentsOf(queue: JobQueue): readonly ComputeEnvironment[] {
    return [...queue.computeEnvironmentOrder]
      .sort((a, b) => a.order - b.order)
      .flatMap(({ computeEnvironment }) => this.environment(computeEnvironment) ?? []);
  }

  fairshare(queue: JobQueue): FairsharePolicy | undefined {
    const { schedulingPolicyArn: arn } = queue;
    return arn === undefined ? undefined : (this.policies.get(nameOf(arn))?.fairsharePolicy ?? {});
  }

  createEnvironment(input: Input<"createComputeEnvironment">): ComputeEnvironment {
    const { computeEnvironmentName: name } = input;
    if (this.environments.has(name)) throw clientError("Object already exists");
    const arn = batchArn(`compute-environment/${name}`);
    return this.setEnvironment({ ...input, computeEnvironmentArn: arn, state: input.state ?? "ENABLED" });
  }

  createQueue(input: Input<"createJobQueue">): JobQueue {
    const { jobQueueName: name } = input;
    if (this.queues.has(name)) throw clientError("Object already exists");
    return this.setQueue({ ...input, jobQueueArn: batchArn(`job-queue/${name}`), state: input.state ?? "ENABLED" });
  }

  updateQueue({ jobQueue, ...changes }: Input<"updateJobQueue">): JobQueue {
    const old = this.queue(jobQueue);
    if (!old) throw clientError(`${jobQueue} does not exist`);
    return this.setQueue({ ...old, ...changes });
  }

  createPolicy(input: Input<"createSchedulingPolicy">): SchedulingPolicy {
    if (this.policies.has(input.name)) throw clientError("Object already exists");
    return this.setPolicy({ ...input, arn: batchArn(`scheduling-policy/${input.name}`) });
  }

  describeEnvironments(references: readonly string[] | undefined): readonly object[] {
    const chosen = references?.map((reference) => this.environment(reference)) ?? [...this.environments.values()];
    return chosen
      .filter((environment) => environment !== undefined)
      .map((environment) => ({ ...environment, status: "VALID", statusReason: "ComputeEnvironment Healthy" }));
  }

  describeQueues(references: readonly string[] | undefined): readonly object[] {
    const chosen = references?.map((reference) => this.queue(reference)) ?? [...this.queues.values()];
    return chosen
      .filter((queue) => queue !== undefined)
      .map((queue) => ({ ...queue, status: "VALID", statusReason: "JobQueue Healthy" }));
  }

  describePolicies(arns: readonly string[] | undefined): readonly SchedulingPolicy[] {
    return (arns?.map((arn) => this.policies.get(nameOf(arn))) ?? [...this.policies.values()]).filter(
      (policy) => policy !== undefined,
    );
  }

  private setEnvironment(environment: ComputeEnvironment): ComputeEnvironment {
    this.environments.set(environment.computeEnvironmentName, environment);
    this.store.put(`ce!${environment.computeEnvironmentName}`, environment);
    return environment;
  }

  /**
   * Stores a queue. References are stored as ARNs, because Batch describes them as ARNs even if the request gave names.
   */
  private setQueue(queue: JobQueue): JobQueue {
    const computeEnvironmentOrder = queue.computeEnvironmentOrder.map(({ order, computeEnvironment }) => {
      const environment = this.environment(computeEnvironment);
      if (!environment) throw clientError(`ComputeEnvironment ${computeEnvironment} does not exist`);
      return { order, computeEnvironment: environment.computeEnvironmentArn };
    });
    const { schedulingPolicyArn: policy } = queue;
    if (policy && !this.policies.has(nameOf(policy))) throw clientError(`SchedulingPolicy ${policy} does not exist`);
    const whole = { ...queue, computeEnvironmentOrder };
    this.queues.set(queue.jobQueueName, whole);
    this.store.put(`jq!${queue.jobQueueName}`, whole);
    return whole;
  }

  private setPolicy(policy: SchedulingPolicy): SchedulingPolicy {
    this.policies.set(policy.name, policy);
    this.store.put(`sp!${policy.name}`, policy);
    return policy;
  }
}
