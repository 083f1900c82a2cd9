// Made from docs/api/openapi.json by `npm run api`. Do not edit.

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

/** A version of a dataset, which never changes. */
export interface DatasetReference {
  readonly name: string;
  readonly version: number;
  readonly digest: Sha256;
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

/** A SHA-256, lower-case hex. */
export type Sha256 = string;
