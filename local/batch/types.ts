import type * as z from "zod";
import type { Clock } from "../clock";
import type { EventSink, LogAppender } from "../service";
import type { container, fairsharePolicy, nodeProperties, overrides, retryStrategy } from "./schemas";

/** The values of a schema, with readonly members at any depth. */
type Shape<Schema extends z.ZodType> = DeepReadonly<z.output<Schema>>;
type DeepReadonly<T> = T extends object ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> } : T;

export interface ImageConfig {
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** The working directory. The default is the stack's. */
  readonly workingDirectory?: string;
}

export interface BatchOptions {
  readonly dataDirectory: string;
  readonly images: Readonly<Record<string, ImageConfig>>;
  readonly logs?: LogAppender;
  readonly events?: EventSink;
  readonly clock?: Clock;
  /** The vCPUs of the jobs that run at once. A job that needs more runs alone. The default is 1024. */
  readonly vcpus?: number;
  /** The GPUs of this machine, see `listGpus`. The default is none. */
  readonly gpus?: readonly string[];
  /** The bundle of `host.ts`. The default is `batch-host.js` next to the running bundle. */
  readonly hostPath?: string;
  /** The time between SIGTERM and SIGKILL. The default is 30 s, as in the ECS agent. */
  readonly graceMs?: number;
  readonly spotNoticeMs?: number;
}

export type JobStatus = "SUBMITTED" | "PENDING" | "RUNNABLE" | "STARTING" | "RUNNING" | "SUCCEEDED" | "FAILED";

export type ContainerProperties = Shape<typeof container>;
export type KeyValue = NonNullable<ContainerProperties["environment"]>[number];
export type ResourceRequirement = NonNullable<ContainerProperties["resourceRequirements"]>[number];
export type ContainerOverrides = Shape<typeof overrides>;
export type NodeProperties = Shape<typeof nodeProperties>;
export type NodeRange = NodeProperties["nodeRangeProperties"][number];
export type RetryStrategy = Shape<typeof retryStrategy>;
export type RetryRule = NonNullable<RetryStrategy["evaluateOnExit"]>[number];

export interface JobDefinition {
  readonly jobDefinitionName: string;
  readonly revision: number;
  readonly jobDefinitionArn: string;
  readonly status: "ACTIVE" | "INACTIVE";
  readonly type: "container" | "multinode";
  readonly parameters?: Readonly<Record<string, string>>;
  readonly retryStrategy?: RetryStrategy;
  readonly timeout?: { readonly attemptDurationSeconds?: number };
  readonly schedulingPriority?: number;
  readonly containerProperties?: ContainerProperties;
  readonly nodeProperties?: NodeProperties;
  readonly propagateTags?: boolean;
  readonly platformCapabilities?: readonly string[];
  readonly tags?: Readonly<Record<string, string>>;
}

export interface Ending {
  /** Undefined if no container ran to its end. */
  readonly exitCode?: number;
  readonly reason?: string;
  readonly statusReason: string;
}

export interface Container {
  readonly taskArn: string;
  readonly logStreamName: string;
  readonly containerInstanceArn?: string;
  /** The start time in milliseconds since the epoch, like all times here. */
  readonly startedAt?: number;
  readonly stoppedAt?: number;
  readonly exitCode?: number;
  readonly reason?: string;
  /** The id of the container's main process. Together with the process's start time it identifies one process. */
  readonly pid?: number;
  readonly pidStart?: string;
}

export interface Attempt extends Container {
  readonly statusReason: string;
}

export type JobKind = "single" | "array" | "array-child" | "multi-node" | "node";

/** A job, or a parent or child of one, as stored on disk. Only the engine changes it. */
export interface Job {
  readonly jobId: string;
  readonly jobName: string;
  readonly kind: JobKind;
  readonly queue: string;
  readonly definition: string;
  readonly createdAt: number;
  /** For children: the id of the parent, and the index in it. */
  readonly parent?: string;
  readonly index?: number;
  /** For parents and children: the number of children. */
  readonly size?: number;
  /** For nodes: the index of the main node. */
  readonly mainNode?: number;
  readonly shareIdentifier?: string;
  readonly schedulingPriority: number;
  readonly parameters: Readonly<Record<string, string>>;
  readonly retryStrategy: RetryStrategy;
  readonly timeoutSeconds?: number;
  readonly propagateTags: boolean;
  readonly tags: Readonly<Record<string, string>>;
  readonly containerProperties?: ContainerProperties;
  readonly nodeProperties?: NodeProperties;
  status: JobStatus;
  statusReason?: string;
  startedAt?: number;
  stoppedAt?: number;
  attempts: readonly Attempt[];
  container?: Container;
  /** The announced interruption of the spot host: its time in ISO 8601, and in milliseconds since the epoch. */
  hostInterruption?: { readonly time: string; readonly endsAt: number };
  computeEnvironment?: string;
  terminated?: string;
}

export type ListedJob = Omit<
  Job,
  "attempts" | "containerProperties" | "nodeProperties" | "parameters" | "retryStrategy" | "tags"
>;

export interface ComputeEnvironment {
  readonly computeEnvironmentName: string;
  readonly computeEnvironmentArn: string;
  readonly type: string;
  readonly state: "ENABLED" | "DISABLED";
  readonly computeResources?: {
    readonly type?: string;
    readonly maxvCpus?: number;
    readonly instanceTypes?: readonly string[];
    readonly [other: string]: unknown;
  };
  readonly serviceRole?: string;
  readonly tags?: Readonly<Record<string, string>>;
}

export interface JobQueue {
  readonly jobQueueName: string;
  readonly jobQueueArn: string;
  readonly state: "ENABLED" | "DISABLED";
  readonly priority: number;
  readonly schedulingPolicyArn?: string;
  readonly computeEnvironmentOrder: readonly { readonly order: number; readonly computeEnvironment: string }[];
  readonly tags?: Readonly<Record<string, string>>;
}

export type FairsharePolicy = Shape<typeof fairsharePolicy>;

export interface SchedulingPolicy {
  readonly name: string;
  readonly arn: string;
  readonly fairsharePolicy?: FairsharePolicy;
  readonly tags?: Readonly<Record<string, string>>;
}

export function isFinal(status: JobStatus): boolean {
  return status === "SUCCEEDED" || status === "FAILED";
}
