import type { Clock } from "../clock";
import type { EventSink, LogAppender } from "../service";

/** The local replacement for a container image: a command, to which the job's command is appended. */
export interface ImageConfig {
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** The working directory. The default is the stack's. */
  readonly workingDirectory?: string;
}

export interface BatchOptions {
  /** The directory of the service's files. */
  readonly dataDirectory: string;
  /** The directory of the store's seal. The default is the store's directory. */
  readonly seals?: string;
  /** The images by the name in job definitions, either complete or without registry and tag. */
  readonly images: Readonly<Record<string, ImageConfig>>;
  readonly logs?: LogAppender;
  readonly events?: EventSink;
  readonly clock?: Clock;
  /** The declared vCPUs that may run at once. The default is 1024, because local workers oversubscribe the machine. */
  readonly vcpus?: number;
  /** The GPUs of this machine, see `listGpus`. The default is none. */
  readonly gpus?: readonly string[];
  /** The bundle of `host.ts`. The default is `batch-host.js` next to the running bundle. */
  readonly hostPath?: string;
  /** The time between SIGTERM and SIGKILL. The default is 30 s, as in the ECS agent. */
  readonly graceMs?: number;
  /** The time between the notice of a spot interruption and the end of the host. The default is 120 s. */
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

/** The `containerProperties` of a job definition, or the ones resolved for a job. */
export interface ContainerProperties {
  readonly image: string;
  readonly command?: readonly string[];
  readonly environment?: readonly KeyValue[];
  readonly resourceRequirements?: readonly ResourceRequirement[];
  /** Deprecated in Batch in favour of `resourceRequirements`, but accepted. */
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
  /** A range of nodes: `2`, `0:3`, `4:` or `:3`. */
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

/** The end of one attempt's container, with the fields of `DescribeJobs`. */
export interface Ending {
  /** Undefined if no container ran to its end. */
  readonly exitCode?: number;
  readonly reason?: string;
  readonly statusReason: string;
}

/** The container of the current attempt, or of the last one. */
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
  readonly dependsOn: readonly Dependency[];
  readonly parameters: Readonly<Record<string, string>>;
  readonly retryStrategy: RetryStrategy;
  readonly timeoutSeconds?: number;
  readonly propagateTags: boolean;
  tags: Readonly<Record<string, string>>;
  /** For jobs that run a process. */
  readonly containerProperties?: ContainerProperties;
  /** For multi-node parents. */
  readonly nodeProperties?: NodeProperties;
  status: JobStatus;
  statusReason?: string;
  startedAt?: number;
  stoppedAt?: number;
  attempts: readonly Attempt[];
  container?: Container;
  /** The announced interruption of the spot host: its time in ISO 8601, and in milliseconds since the epoch. */
  hostInterruption?: { readonly time: string; readonly endsAt: number };
  /** The compute environment that the job was placed in. */
  computeEnvironment?: string;
  /** The reason given to TerminateJob or CancelJob. Such a job is never retried. */
  terminated?: string;
  cancelled?: boolean;
}

/** The fields of a job that ListJobs needs. */
export type ListedJob = Omit<
  Job,
  "attempts" | "containerProperties" | "dependsOn" | "nodeProperties" | "parameters" | "retryStrategy" | "tags"
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
