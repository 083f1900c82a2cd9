import type { TrainingProgress } from "../tracking/metric-batch";
import type { Warning } from "../warnings";
import type { Job } from "./job";

export const runStatuses = ["queued", "running", "completed", "failed", "killed"] as const;
export type RunStatus = (typeof runStatuses)[number];

/** The states of `state-machines/training-run.asl.json` in which a run does its work, in order. */
export const phases = [
  "ValidateDataset",
  "PrepareFeatures",
  "LaunchTraining",
  "Evaluate",
  "Register",
  "Gate",
  "AwaitApproval",
  "Promote",
] as const;
export type Phase = (typeof phases)[number];

export interface RunFailure {
  readonly code: string;
  readonly message: string;
  readonly phase?: Phase;
  readonly details?: unknown;
}

/** What became of the model that a completed run made. */
export type RunOutcome =
  | { readonly decision: "promoted"; readonly model: string; readonly version: number }
  | {
      readonly decision: "refused-by-gate";
      readonly model: string;
      readonly version: number;
      readonly reasons: readonly string[];
    }
  | {
      readonly decision: "rejected";
      readonly model: string;
      readonly version: number;
      readonly reasons: readonly string[];
    };

/** Where the code that made a run came from. */
export interface CodeReference {
  /** As `git remote get-url origin` has it, without credentials. */
  readonly repository?: string;
  readonly branch?: string;
  readonly commit?: string;
  readonly dirty?: boolean;
  /** What was not committed (`git diff HEAD`, and the files that git does not know), in the content store. */
  readonly diffSha256?: string;
  /** Bundle of the user's module, by content. */
  readonly moduleSha256?: string;
}

/** What a run was submitted with, beside its code. */
export interface SubmittedEnvironment {
  /** Of the lockfile beside the code. */
  readonly lockfileSha256?: string;
  /** Of the trainer's container image. */
  readonly imageDigest?: string;
}

/** What a run is made in: what its submitter told, and what the deployment that took it knows. */
export interface MadeEnvironment extends SubmittedEnvironment {
  /**
   * The trainer's container image, as the job definition names it. One that the deployment built has the hash of its sources as its tag, which never
   * moves; its registry's digest is not known before it is pushed.
   */
  readonly image?: string;
}

/** What made a retraining rule submit a run. */
export interface RunCause {
  readonly rule: string;
  readonly type: "dataset" | "schedule" | "drift" | "manual";
  /** What happened, the same whatever the number of events that told of it: `dataset:digits@2`. */
  readonly id: string;
  /** When it happened. */
  readonly at: string;
}

export interface Run {
  readonly runId: string;
  readonly team: string;
  readonly status: RunStatus;
  /** The state that it is in, or was in when it ended. */
  readonly phase?: Phase;
  readonly job: Job;
  /** Resolved when the run was created: an immutable version, whatever `latest` means later. */
  readonly dataset: { readonly name: string; readonly version: number; readonly digest: string };
  /** Registered model that the run makes a version of. */
  readonly model: string;
  readonly code: CodeReference;
  readonly environment?: MadeEnvironment;
  /** Compute every step anew, whatever outputs are known. */
  readonly noCache: boolean;
  /** Absent where a person submitted it. */
  readonly cause?: RunCause;
  /** The checkpoint that training begins with, where it does not begin at step 0. */
  readonly restoredFrom?: {
    readonly runId: string;
    readonly epoch: number;
    readonly step: number;
    readonly weightsSha256: string;
  };
  /** The run that it does again from its record; it ends behind its evaluation, and makes no version. */
  readonly reproducedFrom?: string;
  /** Train on although the machine computes otherwise than the checkpoint's. */
  readonly allowOtherNumerics?: true;
  /** Digest of the request, to tell a repeated request from another one under the same key. */
  readonly requestDigest: string;
  readonly createdBy: string;
  /** Ids of the people who submitted it, or wrote and fired its retraining rule; absent where they are not known. */
  readonly submitters?: readonly string[];
  readonly createdAt: string;
  readonly updatedAt: string;
  /** When it first waited for an approval, a check or a canary's test: the end of its own work. */
  readonly awaitingSince?: string;
  readonly endedAt?: string;
  readonly failure?: RunFailure;
  readonly outcome?: RunOutcome;
}

export interface StepRecord {
  readonly step: Phase;
  readonly inputHash: string;
  /** Small: ids, keys, digests, metrics. */
  readonly output: unknown;
  /** The run whose output this is, where it was not computed by this run. */
  readonly reusedFrom?: string;
  readonly startedAt: string;
  readonly finishedAt: string;
}

/** One Batch job submitted for the run's training. */
export interface TrainingAttempt {
  readonly attempt: number;
  readonly market: "spot" | "on-demand";
  readonly workers: number;
  readonly jobId?: string;
  readonly status: "submitting" | "submitted" | "succeeded" | "failed";
  readonly reason?: string;
  readonly startedAt: string;
  /** When whoever submits it took it upon itself: at the start, or later where that one died. */
  readonly claimedAt?: string;
  readonly endedAt?: string;
  /** Once it has ended. */
  readonly usage?: AttemptUsage;
}

/** Tells whether an attempt's job is multi-node-parallel; other jobs are arrays, which AWS Batch also runs on spot. */
export function isMultiNode({ market, workers }: Pick<TrainingAttempt, "market" | "workers">): boolean {
  return market === "on-demand" && workers > 1;
}

/** What an attempt took, of all workers together. */
export interface AttemptUsage {
  /** From each worker's start in Batch to its stop. */
  readonly workerSeconds: number;
  readonly gpuSeconds: number;
  /** Worker processes that were killed, lost their host or asked to be started again; absent in rows of earlier versions. */
  readonly workerLosses?: number;
  /** Those that its workers said they run on, each once. */
  readonly instanceTypes: readonly string[];
  /** Seconds × price × the part of the instance that the job had reserved; absent where no worker's instance has a known price. */
  readonly estimatedUsd?: number;
  /** The day of the prices that it is estimated by. */
  readonly pricesOf?: string;
}

/** The machine under one process of a worker, as that process found it in the instance's metadata. */
export interface MachineRecord {
  /** Batch's job and attempt: `<job>:<index>/<attempt>`. */
  readonly memberId: string;
  readonly instanceType: string;
  readonly availabilityZone?: string;
  readonly instanceId?: string;
  /** When EC2 said that it will take the instance back. ISO 8601. */
  readonly interruptionNoticeAt?: string;
}

/** How training resumed after the gang had lost a worker. */
export interface RecoveryRecord {
  /** The generation that resumed it. */
  readonly generation: number;
  /** Finished before the loss. */
  readonly step: number;
  /** From the loss, as a survivor noticed it, to the next finished step; absent where no worker survived to measure it. */
  readonly seconds?: number;
}

/** A worker's place in Batch: one child of the array, or one node. */
export interface WorkerRecord {
  readonly workerIndex: number;
  readonly jobId: string;
  /** Ours, of which this is a worker; absent counts as the first. */
  readonly attempt?: number;
  readonly status: string;
  /** Milliseconds since the epoch; of the process that runs now. */
  readonly startedAt?: number;
  /** Of the attempt that runs now. */
  readonly logStreamName?: string;
  readonly attempts: readonly WorkerAttempt[];
}

export interface WorkerAttempt {
  readonly exitCode?: number;
  readonly reason?: string;
  readonly startedAt?: number;
  readonly stoppedAt?: number;
  readonly logStreamName?: string;
}

/** Everything known of a run, in one read. */
export interface RunDetails {
  readonly run: Run;
  readonly steps: readonly StepRecord[];
  readonly attempts: readonly TrainingAttempt[];
  readonly workers: readonly WorkerRecord[];
  readonly machines: readonly MachineRecord[];
  readonly recoveries: readonly RecoveryRecord[];
  /** Warnings of its steps' outputs, then those recorded for the run itself. */
  readonly warnings: readonly Warning[];
  readonly progress?: TrainingProgress;
  /** The event of the run's end was accepted, and the run is still in the list of open ones. */
  readonly endPublished?: true;
}

export function isOpen(status: RunStatus): boolean {
  return status === "queued" || status === "running";
}
