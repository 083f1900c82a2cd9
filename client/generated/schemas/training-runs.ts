// Made from docs/api/openapi.json by `npm run api`. Do not edit.

import type {
  CodeReference,
  Instant,
  Job,
  JobInput,
  MetricSummaries,
  MetricView,
  Phase,
  Sha256,
  TrainingAttempt,
  Warning,
} from "./shared";

export interface CheckpointList {
  readonly checkpoints: readonly CheckpointSummary[];
  readonly damaged: readonly DamagedCheckpoint[];
}

export interface CheckpointSummary {
  readonly finishedSteps: number;
  /** Epochs that are finished. */
  readonly epoch: number;
  readonly validation?: {
    readonly loss: number;
    readonly accuracy?: number;
  };
  readonly bytes: number;
  readonly weightsSha256: Sha256;
  readonly createdAt: Instant;
}

/** A checkpoint whose manifest cannot be read. */
export interface DamagedCheckpoint {
  readonly finishedSteps: number;
  /** Key of the manifest in the bucket. */
  readonly key: string;
  readonly error: string;
}

/** A version of a dataset, which never changes. */
export interface DatasetReference {
  readonly name: string;
  readonly version: number;
  readonly digest: Sha256;
}

/** Where two trainings part: a metric's point, or a checkpoint's weights. */
export interface FirstDifference {
  readonly by: "metric" | "checkpoint";
  readonly step: number;
  readonly metric?: string;
  readonly original: string;
  readonly reproduction: string;
}

/** What workers printed. */
export interface LogPage {
  readonly lines: readonly {
    readonly worker: number;
    readonly time: number;
    readonly message: string;
  }[];
  /** Opaque; absent on the last page. */
  readonly nextToken?: string;
}

/** The machine under one process of a worker. */
export interface MachineRecord {
  readonly memberId: string;
  readonly instanceType: string;
  readonly availabilityZone?: string;
  readonly instanceId?: string;
  /** When EC2 said that it will take the instance back. */
  readonly interruptionNoticeAt?: Instant;
}

/** What its submitter and the deployment know of what it is made in. */
export interface MadeEnvironment {
  /** SHA-256 of the lockfile next to the code. */
  readonly lockfileSha256?: Sha256;
  /** Of the trainer's container image. */
  readonly imageDigest?: string;
  /** The trainer's container image, as the job definition names it; the tag of one that the deployment built is the hash of its sources. */
  readonly image?: string;
}

/** How training resumed after the gang had lost a worker. */
export interface RecoveryRecord {
  readonly generation: number;
  readonly step: number;
  /** Absent where no worker survived to measure it. */
  readonly seconds?: number;
}

/** Whether a run gave the same weights as another, to the bit; where not, from where on and why. */
export interface Reproduction {
  readonly runId: string;
  /** The run that it is held against. */
  readonly of: string;
  readonly verdict: "pending" | "identical" | "different" | "failed";
  /** Of the weights. */
  readonly originalSha256?: Sha256;
  readonly reproductionSha256?: Sha256;
  /** What could make them differ: code first, then data, parameters, numerics. */
  readonly differences: readonly ReproductionDifference[];
  /** Of two that have trained and differ. */
  readonly agreement?: {
    /** Of which both have a point of the training loss. */
    readonly steps: number;
    /** Of the same step, that both still have. */
    readonly checkpoints: number;
    readonly first?: FirstDifference;
  };
  readonly explanation: string;
}

export interface ReproductionAnswer {
  readonly reproduction: Reproduction;
}

/** A fact in which the two runs differ. */
export interface ReproductionDifference {
  readonly kind: "code" | "data" | "parameters" | "numerics";
  readonly field: string;
  readonly original: string;
  readonly reproduction: string;
}

/** What may differ from the run that the checkpoint is of. */
export interface RestoreOverrides {
  readonly hyperparameters?: {
    readonly epochs?: number;
  };
  readonly resources?: {
    readonly workers?: number;
    readonly minWorkers?: number;
    readonly market?: "spot" | "on-demand";
    readonly memoryMbPerWorker?: number;
  };
  readonly checkpoint?: {
    readonly everySteps?: number;
    readonly keep?: number;
  };
  readonly retries?: number;
}

export interface RestoreRequest {
  readonly overrides?: RestoreOverrides;
  /** Go on although the machine computes otherwise; the result is then marked. */
  readonly allowOtherNumerics?: boolean;
}

export interface Run {
  readonly runId: string;
  readonly team: string;
  readonly status: "queued" | "running" | "completed" | "failed" | "killed";
  readonly phase?: Phase;
  readonly job: Job;
  readonly dataset: DatasetReference;
  /** Registered model that the run makes a version of. */
  readonly model: string;
  readonly code: CodeReference;
  readonly environment?: MadeEnvironment;
  /** Compute every step, without reusing outputs of earlier runs. */
  readonly noCache: boolean;
  /** What made a retraining rule submit it; absent where a person did. */
  readonly cause?: {
    readonly rule: string;
    readonly type: "dataset" | "schedule" | "drift" | "manual";
    readonly id: string;
    readonly at: Instant;
  };
  /** The checkpoint that training begins with. */
  readonly restoredFrom?: {
    readonly runId: string;
    readonly epoch: number;
    readonly step: number;
    readonly weightsSha256: Sha256;
  };
  /** The run that it does again from its record; it ends behind its evaluation, and makes no version. */
  readonly reproducedFrom?: string;
  readonly allowOtherNumerics?: true;
  readonly requestDigest: string;
  readonly createdBy: string;
  /** Immutable ids of the people who submitted it, where they are known. */
  readonly submitters?: readonly string[];
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
  /** When it first waited for an approval: the end of its own work. */
  readonly awaitingSince?: Instant;
  readonly endedAt?: Instant;
  readonly failure?: {
    readonly code: string;
    readonly message: string;
    readonly phase?: Phase;
    readonly details?: unknown;
  };
  readonly outcome?: RunOutcome;
}

export interface RunAnswer {
  readonly run: Run;
}

/** Everything known of a run. */
export interface RunDetails {
  readonly run: Run;
  readonly steps: readonly StepRecord[];
  readonly attempts: readonly TrainingAttempt[];
  readonly workers: readonly WorkerRecord[];
  readonly machines: readonly MachineRecord[];
  readonly recoveries: readonly RecoveryRecord[];
  readonly warnings: readonly Warning[];
  readonly progress?: TrainingProgress;
}

export type RunMetrics = MetricSummaries | MetricView;

/** What became of the model that a completed run made. */
export type RunOutcome =
  | {
      readonly decision: "promoted";
      readonly model: string;
      readonly version: number;
    }
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

/** Runs, newest first. */
export interface RunPage {
  readonly runs: readonly Run[];
  /** Opaque; absent on the last page. */
  readonly nextToken?: string;
}

export interface StepRecord {
  readonly step: Phase;
  readonly inputHash: string;
  /** Small: ids, keys, digests, metrics. */
  readonly output: unknown;
  /** The run that computed it, where this one did not. */
  readonly reusedFrom?: string;
  readonly startedAt: Instant;
  readonly finishedAt: Instant;
}

export interface SubmitRequest {
  readonly job: JobInput;
  readonly code?: CodeReference;
  readonly environment?: SubmittedEnvironment;
  /** Compute every step, without reusing outputs of earlier runs. */
  readonly noCache?: boolean;
}

/** What a run was submitted with, in addition to its code. */
export interface SubmittedEnvironment {
  /** SHA-256 of the lockfile next to the code. */
  readonly lockfileSha256?: Sha256;
  /** Of the trainer's container image. */
  readonly imageDigest?: string;
}

export interface TrainingProgress {
  readonly step: number;
  readonly totalSteps: number;
  readonly epoch: number;
  readonly epochs: number;
  readonly generation: number;
  readonly worldSize: number;
  readonly loss: number | null;
  readonly samplesPerSecond: number;
  readonly backend: "native" | "wasm";
  readonly workers: readonly {
    readonly rank: number;
    readonly memberId: string;
    readonly workerIndex: number;
    readonly host: string;
    readonly pid: number;
    readonly state: "joining" | "training" | "left" | "lost";
    readonly step: number;
  }[];
}

/** A worker's place in Batch. */
export interface WorkerRecord {
  readonly workerIndex: number;
  readonly jobId: string;
  readonly attempt?: number;
  readonly status: string;
  /** Milliseconds since the epoch. */
  readonly startedAt?: number;
  readonly logStreamName?: string;
  readonly attempts: readonly {
    readonly exitCode?: number;
    readonly reason?: string;
    readonly startedAt?: number;
    readonly stoppedAt?: number;
    readonly logStreamName?: string;
  }[];
}
