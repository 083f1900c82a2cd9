import type { Clock } from "../clock";
import type { LogAppender } from "../log-appender";
import type { EventSink } from "../service";

/** What a container image stands for on one machine: a command, to which the job's own is appended. */
export interface ImageConfig {
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Default: the stack's. */
  readonly workingDirectory?: string;
}

export interface BatchOptions {
  /** The service keeps its files in here. */
  readonly dataDirectory: string;
  /** Where the seal of the store lies; by default next to its files. */
  readonly seals?: string;
  /** By the image's name as job definitions give it, whole or without registry and tag. */
  readonly images: Readonly<Record<string, ImageConfig>>;
  readonly logs?: LogAppender;
  readonly events?: EventSink;
  readonly clock?: Clock;
  /** Declared vCPUs that may run at once. Default 1024: workers on one machine oversubscribe it. */
  readonly vcpus?: number;
  /** Bundle of `host.ts`. Default: `batch-host.js` beside the running bundle. */
  readonly hostPath?: string;
  /** Between SIGTERM and SIGKILL. Default 30 s, as the ECS agent's. */
  readonly graceMs?: number;
  /** Between the notice of a spot interruption and the loss of the host. Default 120 s. */
  readonly spotNoticeMs?: number;
}

export type JobStatus = "SUBMITTED" | "PENDING" | "RUNNABLE" | "STARTING" | "RUNNING" | "SUCCEEDED" | "FAILED";

export interface KeyValue {
  readonly name: string;
  readonly value: string;
}

export interface ResourceRequirement {
  readonly type: "VCPU" | "MEMORY" | "GPU";
  readonly value: string;
}

/** `containerProperties` of a job definition, or what a job made of them. */
export interface ContainerProperties {
  readonly image: string;
  readonly command?: readonly string[];
  readonly environment?: readonly KeyValue[];
  readonly resourceRequirements?: readonly ResourceRequirement[];
  /** Deprecated in Batch for `resourceRequirements`, but taken. */
  readonly vcpus?: number;
  readonly memory?: number;
  readonly logConfiguration?: { readonly options?: Readonly<Record<string, string>> };
  readonly [other: string]: unknown;
}

export interface ContainerOverrides {
  readonly command?: readonly string[];
  readonly environment?: readonly KeyValue[];
  readonly resourceRequirements?: readonly ResourceRequirement[];
  readonly vcpus?: number;
  readonly memory?: number;
}

export interface NodeRange {
  /** `2`, `0:3`, `4:` or `:3`. */
  readonly targetNodes: string;
  readonly container?: ContainerProperties;
}

export interface NodeProperties {
  readonly numNodes: number;
  readonly mainNode: number;
  readonly nodeRangeProperties: readonly NodeRange[];
}

export interface RetryRule {
  readonly action: string;
  readonly onReason?: string;
  readonly onStatusReason?: string;
  readonly onExitCode?: string;
}

export interface RetryStrategy {
  readonly attempts?: number;
  readonly evaluateOnExit?: readonly RetryRule[];
}

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

export interface Dependency {
  readonly jobId?: string;
  readonly type?: "N_TO_N" | "SEQUENTIAL";
}

/** How the container of one attempt ended, in the words of `DescribeJobs`. */
export interface Ending {
  /** Missing when no container ran to its end. */
  readonly exitCode?: number;
  readonly reason?: string;
  readonly statusReason: string;
}

/** One attempt's container: while it runs, and as the last one afterwards. */
export interface Container {
  readonly taskArn: string;
  readonly logStreamName: string;
  readonly containerInstanceArn?: string;
  /** Milliseconds since the epoch, as are all times here. */
  readonly startedAt?: number;
  readonly stoppedAt?: number;
  readonly exitCode?: number;
  readonly reason?: string;
  /** Of the container's main process, with the kernel's start time of it: together they name one process for good. */
  readonly pid?: number;
  readonly pidStart?: string;
}

export interface Attempt extends Container {
  readonly statusReason: string;
}

export type JobKind = "single" | "array" | "array-child" | "multi-node" | "node";

/** A job, a parent or a child of one, as it is kept on disk. Only the engine changes one. */
export interface Job {
  readonly jobId: string;
  readonly jobName: string;
  readonly kind: JobKind;
  readonly queue: string;
  readonly definition: string;
  readonly createdAt: number;
  /** Of children: their parent's id, and their place in it. */
  readonly parent?: string;
  readonly index?: number;
  /** Of parents and children: how many children there are. */
  readonly size?: number;
  /** Of nodes: the main node's index. */
  readonly mainNode?: number;
  readonly shareIdentifier?: string;
  readonly schedulingPriority: number;
  readonly dependsOn: readonly Dependency[];
  readonly parameters: Readonly<Record<string, string>>;
  readonly retryStrategy: RetryStrategy;
  readonly timeoutSeconds?: number;
  readonly propagateTags: boolean;
  tags: Readonly<Record<string, string>>;
  /** Of jobs that run a process. */
  readonly containerProperties?: ContainerProperties;
  /** Of multi-node parents. */
  readonly nodeProperties?: NodeProperties;
  status: JobStatus;
  statusReason?: string;
  startedAt?: number;
  stoppedAt?: number;
  attempts: readonly Attempt[];
  container?: Container;
  /** The compute environment that it was placed in. */
  computeEnvironment?: string;
  /** The reason that was given to TerminateJob or CancelJob; such a job is never retried. */
  terminated?: string;
  cancelled?: boolean;
}

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

export interface FairsharePolicy {
  readonly shareDecaySeconds?: number;
  readonly computeReservation?: number;
  readonly shareDistribution?: readonly { readonly shareIdentifier: string; readonly weightFactor?: number }[];
}

export interface SchedulingPolicy {
  readonly name: string;
  readonly arn: string;
  readonly fairsharePolicy?: FairsharePolicy;
  readonly tags?: Readonly<Record<string, string>>;
}

export function isFinal(status: JobStatus): boolean {
  return status === "SUCCEEDED" || status === "FAILED";
}
