// Made from docs/api/openapi.json by `npm run api`. Do not edit.

/** What an attempt took, of all workers together. */
export interface AttemptUsage {
  readonly workerSeconds: number;
  readonly gpuSeconds: number;
  readonly instanceTypes: readonly string[];
  /** Absent where no worker's instance has a known price. */
  readonly estimatedUsd?: number;
  /** The day of the prices that it is estimated by. */
  readonly pricesOf?: string;
}

export interface CheckpointList {
  readonly checkpoints: readonly CheckpointSummary[];
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

/** Where the code that made a run came from. */
export interface CodeReference {
  readonly commit?: string;
  /** Whether files differed from the commit. */
  readonly dirty?: boolean;
  /** Bundle of the user's module, in the content store. */
  readonly moduleSha256?: Sha256;
}

export interface ColumnSchema {
  readonly name: string;
  readonly type: "int" | "float" | "string" | "bool" | "timestamp" | "tensor";
  readonly role: "feature" | "label" | "slice" | "ignore";
  /** Of a tensor, e.g. [28, 28, 1]. */
  readonly shape?: readonly number[];
  readonly nullable?: boolean;
  /** Closed set of values. */
  readonly values?: readonly (string | number)[];
  readonly minimum?: number;
  readonly maximum?: number;
}

/** Something in the content store. */
export interface ContentReference {
  readonly sha256: Sha256;
  readonly bytes: number;
}

export interface ContentUrl {
  readonly url: string;
}

/** A version before it has a number; `ringmaster data push` makes it. */
export interface DatasetDraft {
  readonly name: string;
  /** SHA-256 over schema, shards and split: equal content is the same version. */
  readonly digest: Sha256;
  readonly schema: readonly ColumnSchema[];
  /** SHA-256 over column names and types. */
  readonly schemaHash: Sha256;
  readonly rowCount: number;
  readonly bytes: number;
  /** Parquet, in row order, in the content store. */
  readonly shards: readonly {
    readonly sha256: Sha256;
    readonly bytes: number;
    readonly rows: number;
  }[];
  readonly split: {
    readonly seed: number;
    readonly fractions: {
      readonly train: number;
      readonly validation: number;
      readonly test: number;
    };
    readonly stratifyBy?: string;
    readonly indexes: {
      readonly train: {
        readonly sha256: Sha256;
        readonly bytes: number;
        readonly rows: number;
      };
      readonly validation: {
        readonly sha256: Sha256;
        readonly bytes: number;
        readonly rows: number;
      };
      readonly test: {
        readonly sha256: Sha256;
        readonly bytes: number;
        readonly rows: number;
      };
    };
  };
}

export interface DatasetManifest {
  readonly name: string;
  /** SHA-256 over schema, shards and split: equal content is the same version. */
  readonly digest: Sha256;
  readonly schema: readonly ColumnSchema[];
  /** SHA-256 over column names and types. */
  readonly schemaHash: Sha256;
  readonly rowCount: number;
  readonly bytes: number;
  /** Parquet, in row order, in the content store. */
  readonly shards: readonly {
    readonly sha256: Sha256;
    readonly bytes: number;
    readonly rows: number;
  }[];
  readonly split: {
    readonly seed: number;
    readonly fractions: {
      readonly train: number;
      readonly validation: number;
      readonly test: number;
    };
    readonly stratifyBy?: string;
    readonly indexes: {
      readonly train: {
        readonly sha256: Sha256;
        readonly bytes: number;
        readonly rows: number;
      };
      readonly validation: {
        readonly sha256: Sha256;
        readonly bytes: number;
        readonly rows: number;
      };
      readonly test: {
        readonly sha256: Sha256;
        readonly bytes: number;
        readonly rows: number;
      };
    };
  };
  readonly version: number;
  readonly createdAt: Instant;
}

/** Datasets by name. */
export interface DatasetPage {
  readonly items: readonly DatasetSummary[];
  /** Opaque; absent on the last page. */
  readonly nextToken?: string;
}

/** A version of a dataset, which never changes. */
export interface DatasetReference {
  readonly name: string;
  readonly version: number;
  readonly digest: Sha256;
}

export interface DatasetRegistration {
  readonly created: boolean;
  readonly version: DatasetVersion;
}

export interface DatasetRegistrationRequest {
  readonly draft: DatasetDraft;
  /** Columns may differ from the version before. */
  readonly allowSchemaChange?: boolean;
}

export interface DatasetSummary {
  readonly name: string;
  readonly latestVersion: number;
  readonly rowCount: number;
  readonly bytes: number;
  readonly updatedAt: Instant;
}

/** An immutable version of a dataset. */
export interface DatasetVersion {
  readonly manifest: DatasetManifest;
  readonly team: string;
  /** No new run may use it. */
  readonly deprecation?: {
    readonly at: Instant;
    readonly reason: string;
  };
}

export interface DatasetVersionAnswer {
  readonly version: DatasetVersion;
}

/** Versions, newest first. */
export interface DatasetVersionPage {
  readonly items: readonly DatasetVersion[];
  /** Opaque; absent on the last page. */
  readonly nextToken?: string;
}

export interface DecisionRequest {
  readonly decision: "approved" | "rejected";
  /** Why, for the record. */
  readonly reason?: string;
}

export interface DeprecationRequest {
  readonly reason?: string;
}

export interface DisableRequest {
  /** Why, for the record. */
  readonly reason?: string;
}

/** Every refusal and failure has this shape. */
export interface Error {
  readonly error: {
    readonly code: string;
    /** What was wrong, with which value, by which rule, and what to do next. */
    readonly message: string;
    /** Evidence by code; of INVALID_INPUT `{problems: Problem[]}`. */
    readonly details?: unknown;
    readonly requestId: string;
  };
}

/** The fitted transform: raw row in, dense input out. */
export interface FeatureTransform {
  readonly outputs: readonly (
    | {
        readonly kind: "numeric";
        readonly column: string;
        readonly offset: number;
        readonly width: number;
        readonly source: number;
        readonly mean: number;
        readonly deviation: number;
      }
    | {
        readonly kind: "one-hot";
        readonly column: string;
        readonly offset: number;
        readonly width: number;
        readonly source: number;
        readonly part?: "hour" | "dayOfWeek" | "month";
        readonly vocabulary: readonly (string | number | boolean)[];
      }
  )[];
  readonly width: number;
  readonly shape: readonly number[];
}

export interface GateVerdict {
  readonly passed: boolean;
  readonly checks: readonly {
    readonly gate: "threshold" | "no-regression";
    readonly metric: string;
    readonly value: number | null;
    readonly limit: number | null;
    readonly passed: boolean;
    /** A sentence: which value, which rule. */
    readonly evidence: string;
    /** Candidate minus champion on the same rows: a paired bootstrap. */
    readonly interval?: {
      readonly difference: number;
      readonly lower: number;
      readonly upper: number;
      readonly confidence: number;
      readonly rows: number;
      readonly resamples: number;
      readonly seed: number;
    };
  }[];
  /** The version that it was compared with. */
  readonly champion?: number;
  readonly at: Instant;
}

export interface Health {
  readonly status: "ok";
  readonly prefix: string;
}

/** Who did what, when and why; append-only. */
export interface HistoryEntry {
  readonly revision: number;
  readonly action: "registered" | "gated" | "approval-requested" | "approved" | "rejected" | "promoted" | "rolled-back";
  readonly version: number;
  readonly by: string;
  readonly reason?: string;
  readonly at: Instant;
}

/** A moment, ISO 8601 in UTC. */
export type Instant = string;

/** A job with every default filled in. */
export interface Job {
  readonly experiment: string;
  readonly dataset: string;
  readonly registerAs?: string;
  readonly model:
    | {
        readonly type: "mlp";
        readonly hidden: readonly number[];
        readonly activation: "relu" | "tanh" | "sigmoid" | "elu" | "selu";
        readonly dropout: number;
      }
    | {
        readonly type: "cnn";
        readonly filters: readonly number[];
        readonly kernelSize: number;
        readonly hidden: readonly number[];
        readonly activation: "relu" | "tanh" | "sigmoid" | "elu" | "selu";
        readonly dropout: number;
      }
    | {
        readonly type: "module";
        readonly path: string;
        readonly sha256?: string;
        readonly options: Readonly<Record<string, unknown>>;
      };
  readonly hyperparameters: {
    readonly optimizer: "sgd" | "momentum" | "adam" | "adamw";
    readonly learningRate: number;
    readonly momentum: number;
    readonly weightDecay: number;
    readonly schedule: "constant" | "cosine";
    readonly warmupSteps: number;
    readonly gradientFormat: "float32" | "bfloat16" | "float16";
    readonly clipNorm: number;
    readonly batchSize: number;
    readonly epochs: number;
  };
  readonly features: {
    readonly standardize: boolean;
  };
  readonly resources: {
    readonly workers: number;
    readonly minWorkers: number;
    readonly gpusPerWorker: number;
    readonly vcpusPerWorker: number;
    readonly memoryMbPerWorker: number;
    readonly market: "spot" | "on-demand";
    readonly microshards: number;
    readonly shardOptimizer: boolean;
    readonly backend: "auto" | "native" | "wasm";
  };
  readonly checkpoint: {
    readonly everySteps: number;
    readonly keep: number;
  };
  readonly evaluation: {
    readonly thresholds: Readonly<Record<string, number>>;
    readonly slices: readonly string[];
    readonly regressionTolerance: number;
    readonly regressionRule: "credible" | "excluded";
    readonly incompatibleChampion: "refuse" | "pass";
  };
  readonly seed: number;
  readonly retries: number;
  readonly tags: Readonly<Record<string, string>>;
  readonly notes?: string;
}

/** A job as people write it; what is left out has the default. */
export interface JobInput {
  readonly experiment: string;
  readonly dataset: string;
  readonly registerAs?: string;
  readonly model:
    | {
        readonly type: "mlp";
        readonly hidden?: readonly number[];
        readonly activation?: "relu" | "tanh" | "sigmoid" | "elu" | "selu";
        readonly dropout?: number;
      }
    | {
        readonly type: "cnn";
        readonly filters?: readonly number[];
        readonly kernelSize?: number;
        readonly hidden?: readonly number[];
        readonly activation?: "relu" | "tanh" | "sigmoid" | "elu" | "selu";
        readonly dropout?: number;
      }
    | {
        readonly type: "module";
        readonly path: string;
        readonly sha256?: string;
        readonly options?: Readonly<Record<string, unknown>>;
      };
  readonly hyperparameters?: {
    readonly optimizer?: "sgd" | "momentum" | "adam" | "adamw";
    readonly learningRate?: number;
    readonly momentum?: number;
    readonly weightDecay?: number;
    readonly schedule?: "constant" | "cosine";
    readonly warmupSteps?: number;
    readonly gradientFormat?: "float32" | "bfloat16" | "float16";
    readonly clipNorm?: number;
    readonly batchSize?: number;
    readonly epochs?: number;
  };
  readonly features?: {
    readonly standardize?: boolean;
  };
  readonly resources?: {
    readonly workers?: number;
    readonly minWorkers?: number;
    readonly gpusPerWorker?: number;
    readonly vcpusPerWorker?: number;
    readonly memoryMbPerWorker?: number;
    readonly market?: "spot" | "on-demand";
    readonly microshards?: number;
    readonly shardOptimizer?: boolean;
    readonly backend?: "auto" | "native" | "wasm";
  };
  readonly checkpoint?: {
    readonly everySteps?: number;
    readonly keep?: number;
  };
  readonly evaluation?: {
    readonly thresholds?: Readonly<Record<string, number>>;
    readonly slices?: readonly string[];
    readonly regressionTolerance?: number;
    readonly regressionRule?: "credible" | "excluded";
    readonly incompatibleChampion?: "refuse" | "pass";
  };
  readonly seed?: number;
  readonly retries?: number;
  readonly tags?: Readonly<Record<string, string>>;
  readonly notes?: string;
}

export type LabelEncoding =
  | {
      readonly kind: "class";
      readonly column: string;
      readonly classes: readonly (string | number | boolean)[];
    }
  | {
      readonly kind: "value";
      readonly column: string;
    };

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
}

export interface MetricPoint {
  readonly step: number;
  readonly value: MetricValue;
  /** Milliseconds since the epoch. */
  readonly time: number;
}

export interface MetricPoints {
  readonly metric: string;
  readonly points: readonly MetricPoint[];
}

export interface MetricSummaries {
  readonly metrics: readonly MetricSummary[];
}

export interface MetricSummary {
  readonly metric: string;
  readonly last: MetricValue;
  readonly lastStep: number;
  readonly min: MetricValue;
  readonly max: MetricValue;
}

/** A number; NaN and the infinities, which JSON lacks, are strings. */
export type MetricValue = number | "NaN" | "Infinity" | "-Infinity";

/** A registered model. */
export interface Model {
  readonly name: string;
  readonly team: string;
  /** Counts every change of the model and its versions. */
  readonly revision: number;
  readonly latestVersion: number;
  /** The champion, if there is one. */
  readonly production?: number;
  /** Former champions, latest last: where a rollback goes. */
  readonly formerProduction: readonly number[];
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

/** What serving loads. */
export interface ModelArtifact {
  readonly format: 1;
  readonly runId: string;
  readonly model: string;
  readonly weights: ContentReference;
  /** tfjs-layers topology JSON. */
  readonly topology: ContentReference;
  readonly weightsSha256: Sha256;
  readonly transform: FeatureTransform;
  readonly label: LabelEncoding;
  readonly inputSchema: readonly ColumnSchema[];
  readonly outputSchema: OutputSchema;
  readonly numerics: NumericsRecord;
}

export interface ModelChange {
  readonly model: Model;
  readonly version: ModelVersion;
}

export interface ModelDetails {
  readonly model: Model;
  readonly versions: readonly ModelVersion[];
  readonly history: readonly HistoryEntry[];
}

export interface ModelList {
  readonly models: readonly Model[];
}

export interface ModelVersion {
  readonly model: string;
  readonly version: number;
  readonly stage: "none" | "staging" | "canary" | "production" | "archived";
  readonly runId: string;
  readonly weightsSha256: Sha256;
  readonly artifactKey: string;
  readonly dataset: DatasetReference;
  readonly metrics: Readonly<Record<string, number>>;
  readonly evaluationReport: ContentReference;
  readonly gate?: GateVerdict;
  readonly approval?: {
    readonly decision: "approved" | "rejected";
    readonly by: string;
    readonly reason: string;
    readonly at: Instant;
  };
  /** The run that waits for the approval. */
  readonly awaitedBy?: string;
  readonly createdAt: Instant;
}

export interface ModelVersionAnswer {
  readonly version: ModelVersion;
}

/** Everything outside code, data and seed that decides the weights' bits. */
export interface NumericsRecord {
  readonly backend: "native" | "wasm";
  readonly device: "cpu" | "gpu";
  readonly libraries: Readonly<Record<string, string>>;
  readonly threads: {
    readonly intraOp: number;
    readonly interOp: number;
  };
  readonly cpu: {
    readonly model: string;
    readonly features: readonly string[];
  };
  readonly gpu?: {
    readonly model: string;
    readonly driver: string;
  };
  readonly switches: Readonly<Record<string, string>>;
  readonly node: string;
  readonly platform: string;
  readonly arch: string;
}

export interface OpenApiDocument {
  readonly openapi: string;
  readonly [others: string]: unknown;
}

export type OutputSchema =
  | {
      readonly kind: "probabilities";
      readonly classes: readonly (string | number | boolean)[];
    }
  | {
      readonly kind: "value";
      readonly column: string;
    };

/** A step of the run's state machine. */
export type Phase =
  | "ValidateDataset"
  | "PrepareFeatures"
  | "LaunchTraining"
  | "Evaluate"
  | "Register"
  | "Gate"
  | "AwaitApproval"
  | "Promote";

/** How the gang came back after it had lost a worker. */
export interface RecoveryRecord {
  readonly generation: number;
  readonly step: number;
  readonly seconds: number;
}

/** What serving should load. */
export interface ResolvedModel {
  readonly model: string;
  readonly version: number;
  readonly runId: string;
  readonly artifactUri: string;
  readonly weightsUri: string;
  /** Of the weights. */
  readonly sha256: Sha256;
  readonly inputSchema: readonly ColumnSchema[];
  readonly outputSchema: OutputSchema;
  readonly metrics: Readonly<Record<string, number>>;
  readonly artifact: ModelArtifact;
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

/** What happened. */
export type RetrainingCause =
  | {
      readonly type: "dataset";
      readonly at: Instant;
      readonly dataset: string;
      readonly version: number;
    }
  | {
      readonly type: "schedule";
      readonly at: Instant;
    }
  | {
      readonly type: "drift";
      readonly at: Instant;
      readonly monitor: string;
      readonly windowEnd: Instant;
      readonly severity: "warning" | "critical";
    }
  | {
      readonly type: "manual";
      readonly at: Instant;
      readonly by: string;
      readonly key: string;
    };

export interface RetrainingCausePage {
  readonly items: readonly RetrainingCauseRecord[];
  /** Opaque; absent on the last page. */
  readonly nextToken?: string;
}

/** What became of a cause. */
export interface RetrainingCauseRecord {
  readonly rule: string;
  /** The same however many events told of it: `dataset:digits@2`. */
  readonly id: string;
  readonly cause: RetrainingCause;
  readonly state: "waiting" | "started" | "submitted" | "skipped" | "failed";
  /** Why it waits or was skipped. */
  readonly reason?: string;
  readonly failure?: {
    readonly code: string;
    readonly message: string;
  };
  readonly runId?: string;
  readonly heardAt: Instant;
  readonly changedAt: Instant;
}

export interface RetrainingRule {
  readonly name: string;
  readonly trigger: RetrainingTrigger;
  readonly job: Job;
  readonly code: CodeReference;
  readonly cooldownMinutes: number;
  readonly maxConcurrentRuns?: number;
  readonly team: string;
  readonly revision: number;
  readonly enabled: boolean;
  readonly pausedReason?: string;
  /** What happened before is no cause. */
  readonly since: Instant;
  readonly createdBy: string;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
  readonly deletedAt?: Instant;
}

export interface RetrainingRuleAnswer {
  readonly rule: RetrainingRule;
}

export interface RetrainingRuleCreation {
  readonly created: boolean;
  readonly rule: RetrainingRule;
}

/** When to retrain, and by which job. The job's dataset is without a version. */
export interface RetrainingRuleDefinition {
  readonly name: string;
  readonly trigger:
    | {
        readonly type: "dataset";
        readonly dataset: string;
      }
    | {
        readonly type: "schedule";
        readonly expression: string;
        readonly timeZone?: string;
      }
    | {
        readonly type: "drift";
        readonly monitor: string;
        readonly severity?: "warning" | "critical";
      };
  readonly job: JobInput;
  readonly code?: {
    readonly commit?: string;
    readonly dirty?: boolean;
    readonly moduleSha256?: string;
  };
  readonly cooldownMinutes?: number;
  readonly maxConcurrentRuns?: number;
}

export interface RetrainingRuleDetails {
  readonly state: RetrainingRuleState;
  /** When its cron expression fires next. */
  readonly next: readonly Instant[];
}

export interface RetrainingRulePage {
  readonly items: readonly RetrainingRuleState[];
  /** Opaque; absent on the last page. */
  readonly nextToken?: string;
}

/** A rule, and what became of it. */
export interface RetrainingRuleState {
  readonly rule: RetrainingRule;
  /** Runs begun so far. */
  readonly starts: number;
  readonly lastStartedAt?: Instant;
  /** The revision that the Scheduler has. */
  readonly scheduledRevision?: number;
  /** The latest cause that no run could be made of. */
  readonly lastFailure?: {
    readonly cause: string;
    readonly code: string;
    readonly message: string;
    readonly at: Instant;
  };
}

export interface RetrainingRunAnswer {
  readonly cause: RetrainingCauseRecord;
}

/** When to retrain: a new version of a dataset, a time, or drift that a monitor finds. */
export type RetrainingTrigger =
  | {
      readonly type: "dataset";
      readonly dataset: string;
    }
  | {
      readonly type: "schedule";
      readonly expression: string;
      readonly timeZone: string;
    }
  | {
      readonly type: "drift";
      readonly monitor: string;
      readonly severity: "warning" | "critical";
    };

export interface RollbackRequest {
  /** Why, for the record. */
  readonly reason?: string;
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
  /** Compute every step anew, whatever outputs are known. */
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
  readonly allowOtherNumerics?: true;
  readonly requestDigest: string;
  readonly createdBy: string;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
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
  readonly progress?: TrainingProgress;
}

export type RunMetrics = MetricSummaries | MetricPoints;

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

/** A SHA-256, lower-case hex. */
export type Sha256 = string;

export interface StageRequest {
  readonly stage: "production";
  /** Why, for the record. */
  readonly reason?: string;
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
  /** Compute every step anew. */
  readonly noCache?: boolean;
}

/** One Batch job submitted for the run. */
export interface TrainingAttempt {
  readonly attempt: number;
  readonly market: "spot" | "on-demand";
  readonly workers: number;
  readonly jobId?: string;
  readonly status: "submitting" | "submitted" | "succeeded" | "failed";
  readonly reason?: string;
  readonly startedAt: Instant;
  readonly claimedAt?: Instant;
  readonly endedAt?: Instant;
  /** Once it has ended. */
  readonly usage?: AttemptUsage;
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

export interface UploadRequest {
  readonly contents: readonly {
    readonly sha256: Sha256;
    readonly bytes: number;
  }[];
}

/** PUT the content to `url` with exactly these headers. */
export interface UploadTarget {
  readonly sha256: Sha256;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface UploadTargets {
  readonly missing: readonly UploadTarget[];
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
