// Made from docs/api/openapi.json by `npm run api`. Do not edit.

/** What an attempt took, of all workers together. */
export interface AttemptUsage {
  readonly workerSeconds: number;
  readonly gpuSeconds: number;
  readonly instanceTypes: readonly string[];
  /** Worker processes that ended before the training did. */
  readonly workerLosses?: number;
  /** Absent where no worker's instance has a known price. */
  readonly estimatedUsd?: number;
  /** The day of the prices that it is estimated by. */
  readonly pricesOf?: string;
}

/** Where the code that made a run came from. */
export interface CodeReference {
  readonly repository?: string;
  readonly branch?: string;
  readonly commit?: string;
  /** Whether files differed from the commit. */
  readonly dirty?: boolean;
  /** What was not committed, as a patch, in the content store. */
  readonly diffSha256?: Sha256;
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
    readonly nesterov?: boolean;
    readonly beta1?: number;
    readonly beta2?: number;
    readonly epsilon?: number;
    readonly weightDecay: number;
    readonly schedule: "constant" | "cosine" | "step";
    readonly minLearningRate?: number;
    readonly stepSize?: number;
    readonly gamma?: number;
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
    readonly tf32?: boolean;
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
    readonly regressionTolerance?: number;
    readonly regressionRule?: "credible" | "excluded";
    readonly incompatibleChampion?: "refuse" | "pass";
    readonly gates?: {
      readonly slices: readonly {
        readonly metric: string;
        readonly worst?: number;
        readonly gap?: number;
        readonly column: string;
        readonly minRows: number;
        readonly rule: "credible" | "excluded";
      }[];
      readonly fairness: readonly {
        readonly positive?: string | number | boolean;
        readonly demographicParity?: number;
        readonly equalizedOdds?: number;
        readonly column: string;
        readonly minRows: number;
        readonly rule: "credible" | "excluded";
      }[];
      readonly latency?: {
        readonly p99Ms: number;
      };
      readonly size?: {
        readonly bytes: number;
      };
    };
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
    readonly nesterov?: boolean;
    readonly beta1?: number;
    readonly beta2?: number;
    readonly epsilon?: number;
    readonly weightDecay?: number;
    readonly schedule?: "constant" | "cosine" | "step";
    readonly minLearningRate?: number;
    readonly stepSize?: number;
    readonly gamma?: number;
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
    readonly tf32?: boolean;
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
    readonly gates?: {
      readonly slices?: readonly {
        readonly metric: string;
        readonly worst?: number;
        readonly gap?: number;
        readonly column: string;
        readonly minRows?: number;
        readonly rule?: "credible" | "excluded";
      }[];
      readonly fairness?: readonly {
        readonly positive?: string | number | boolean;
        readonly demographicParity?: number;
        readonly equalizedOdds?: number;
        readonly column: string;
        readonly minRows?: number;
        readonly rule?: "credible" | "excluded";
      }[];
      readonly latency?: {
        readonly p99Ms: number;
      };
      readonly size?: {
        readonly bytes: number;
      };
    };
  };
  readonly seed?: number;
  readonly retries?: number;
  readonly tags?: Readonly<Record<string, string>>;
  readonly notes?: string;
}

export interface LineageAnswer {
  readonly lineage: LineageGraph;
}

/** What came of what. */
export interface LineageGraph {
  /** The id of the node that was asked for. */
  readonly root: string;
  readonly nodes: readonly LineageNode[];
  /** `to` was made of `from`, or read it. */
  readonly edges: readonly {
    readonly from: string;
    readonly to: string;
  }[];
  /** Opaque; absent on the last page. */
  readonly nextToken?: string;
}

export interface LineageNode {
  /** Kind and name. */
  readonly id: string;
  readonly kind: "file" | "shard" | "dataset" | "features" | "code" | "run" | "model-version";
  readonly name: string;
  readonly details: Readonly<Record<string, string | number | boolean>>;
}

export interface MetricPoint {
  readonly step: number;
  readonly value: MetricValue;
  /** Milliseconds since the epoch. */
  readonly time: number;
}

export interface MetricSummaries {
  readonly metrics: readonly MetricSummary[];
  /** Id of the run whose training, with its metrics, a training run reuses. */
  readonly reusedFrom?: string;
}

export interface MetricSummary {
  readonly metric: string;
  /** Value at the highest step; ties by the latest time, then by the largest value. */
  readonly last: MetricValue;
  readonly lastStep: number;
  /** Milliseconds since the epoch. */
  readonly lastTime: number;
  readonly min: MetricValue;
  readonly max: MetricValue;
}

/** A number; NaN and the infinities, which JSON lacks, are strings. */
export type MetricValue = number | "NaN" | "Infinity" | "-Infinity";

export interface MetricView {
  readonly metric: string;
  /** Ascending by step. */
  readonly points: readonly MetricPoint[];
  /** How many there are in the range. */
  readonly total: number;
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

/** The code that made the run. */
export interface RunCode {
  readonly repository?: string;
  readonly branch?: string;
  readonly commit?: string;
  /** Whether files differed from the commit. */
  readonly dirty?: boolean;
  /** What was not committed, as a patch, in the content store. */
  readonly diffSha256?: Sha256;
  /** Bundle of the user's module, in the content store. */
  readonly moduleSha256?: Sha256;
  readonly entryPoint?: string;
}

/** Data that a run read. */
export interface RunDataset {
  readonly name: string;
  readonly digest: string;
  /** Of a dataset that is registered here. */
  readonly version?: number;
  readonly sourceType: string;
  readonly source: string;
  readonly schema?: string;
  readonly profile?: string;
  readonly tags: Readonly<Record<string, string>>;
}

/** What it ran in. */
export interface RunEnvironment {
  readonly lockfileSha256?: Sha256;
  /** The trainer's container image, as the job definition names it. */
  readonly image?: string;
  /** Of the trainer's container image. */
  readonly imageDigest?: string;
  readonly numerics?: NumericsRecord;
  readonly hardware?: {
    readonly instanceTypes: readonly string[];
    readonly cpu?: string;
    readonly gpu?: string;
  };
}

/** A run, trained here or logged by a client. */
export interface RunRecord {
  readonly runId: string;
  readonly team: string;
  readonly experimentId: string;
  /** Trained here from a job, or told of by a client. */
  readonly source: "training" | "logged";
  readonly name: string;
  readonly status: RunStatus;
  /** Of a training run that has begun. */
  readonly phase?: Phase;
  /** Deleting is a mark that can be taken off again. */
  readonly lifecycle: "active" | "deleted";
  readonly deletedAt?: Instant;
  readonly createdBy: string;
  /** Immutable ids of the people who submitted it, where they are known. */
  readonly submitters?: readonly string[];
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Milliseconds since the epoch: when a training run first waited for an approval, the end of its own work. */
  readonly awaitingSince?: number;
  /** Milliseconds since the epoch. */
  readonly endedAt?: number;
  /** Written once each; of a training run its job's leaves by dotted path, too. */
  readonly params: Readonly<Record<string, string>>;
  readonly tags: Readonly<Record<string, string>>;
  /** Markdown. */
  readonly notes: string;
  readonly parentRunId?: string;
  readonly datasets: readonly RunDataset[];
  readonly modelInputs: readonly string[];
  readonly modelOutputs: readonly {
    readonly modelId: string;
    readonly step: number;
  }[];
  readonly code: RunCode;
  readonly environment: RunEnvironment;
  readonly seed?: number;
  readonly artifactUri: string;
  /** Of a training run. */
  readonly job?: Job;
  /** Of a training run that has trained. */
  readonly weightsSha256?: Sha256;
  /** Id of the run whose training, with its metrics, this training run reuses. */
  readonly reusedFrom?: string;
  readonly revision: number;
}

/** How far the run is. */
export type RunStatus = "queued" | "running" | "completed" | "failed" | "killed";

/** A run's record and what belongs to it. */
export interface RunView {
  readonly run: RunRecord;
  /** By name. */
  readonly metrics: readonly MetricSummary[];
  /** Ids of the runs that name this one as their parent. */
  readonly children: readonly string[];
  /** Of a training run: its Batch jobs. */
  readonly attempts?: readonly TrainingAttempt[];
}

export interface SequentialPlan {
  readonly metric: string;
  readonly kind: "binary" | "mean";
  readonly goal: "increase" | "decrease";
  readonly margin: number;
  readonly alpha: number;
  readonly effect: number;
  readonly minUnits: number;
  readonly maxUnits?: number;
  readonly act: "advise" | "automatic";
}

/** A SHA-256, lower-case hex. */
export type Sha256 = string;

/** Who answers whom beside the champion. */
export interface Traffic {
  readonly canaries: readonly {
    readonly version: number;
    readonly weight: number;
    readonly ranges: readonly {
      readonly from: number;
      readonly to: number;
    }[];
  }[];
  readonly shadows: readonly number[];
  readonly test?: SequentialPlan;
  readonly deal: number;
  /** Outcomes are counted from this revision of the model on. */
  readonly epoch: number;
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

/** A finding that does not stop the work; `code` is stable. */
export interface Warning {
  readonly code: string;
  readonly message: string;
}
