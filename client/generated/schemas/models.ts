// Made from docs/api/openapi.json by `npm run api`. Do not edit.

import type { ColumnSchema, DatasetReference, Instant, Sha256 } from "./shared";

export interface Approval {
  readonly decision: "approved" | "rejected";
  readonly by: string;
  readonly reason: string;
  readonly at: Instant;
}

export interface CheckAnswer {
  readonly passed: boolean;
  readonly evidence: string;
  readonly by: string;
  readonly at: Instant;
  readonly exitCode?: number;
  readonly command?: string;
  /** The end of what the command wrote. */
  readonly output?: string;
}

/** Something in the content store. */
export interface ContentReference {
  readonly sha256: Sha256;
  readonly bytes: number;
}

export interface DecisionRequest {
  readonly decision: "approved" | "rejected";
  /** Why, for the record. */
  readonly reason?: string;
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

export interface GateCheck {
  readonly gate:
    | "threshold"
    | "no-regression"
    | "worst-slice"
    | "slice-gap"
    | "demographic-parity"
    | "equalized-odds"
    | "latency"
    | "size"
    | "check";
  readonly metric: string;
  readonly value: number | null;
  readonly limit: number | null;
  readonly passed: boolean;
  /** Nobody has answered yet. */
  readonly pending?: true;
  /** A sentence: which value, which rule. */
  readonly evidence: string;
  readonly interval?: PairedInterval;
  readonly slices?: SliceEvidence;
  readonly external?: {
    readonly kind: "http" | "command";
    readonly digest: string;
    readonly answer?: CheckAnswer;
  };
}

export interface GateVerdict {
  readonly passed: boolean;
  readonly checks: readonly GateCheck[];
  /** Of the policy that it was judged by. */
  readonly rulesRevision?: number;
  /** The version that it was compared with. */
  readonly champion?: number;
  /** The verdict with its whole evidence, as JSON. */
  readonly document?: ContentReference;
  readonly at: Instant;
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
  readonly approval?: Approval;
  /** What it was promoted upon; a rollback to it rests on that. */
  readonly served?: {
    readonly gate: GateVerdict;
    readonly approval: Approval;
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

export type OutputSchema =
  | {
      readonly kind: "probabilities";
      readonly classes: readonly (string | number | boolean)[];
    }
  | {
      readonly kind: "value";
      readonly column: string;
    };

/** Candidate minus champion on the same rows: a paired bootstrap. */
export interface PairedInterval {
  readonly difference: number;
  readonly lower: number;
  readonly upper: number;
  readonly confidence: number;
  readonly rows: number;
  readonly resamples: number;
  readonly seed: number;
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

export interface RollbackRequest {
  /** Why, for the record. */
  readonly reason?: string;
  /** The version that is to go. */
  readonly from?: number;
}

/** Slices of the test split, with intervals that hold for all of them together. */
export interface SliceEvidence {
  readonly column: string;
  /** The class whose rates were compared. */
  readonly positive?: string | number | boolean;
  readonly rate?: "selection" | "true-positive" | "false-positive";
  readonly estimate: number;
  readonly lower: number;
  readonly upper: number;
  readonly confidence: number;
  readonly resamples: number;
  readonly seed: number;
  readonly rows: number;
  readonly minimumRows: number;
  readonly slices: readonly {
    readonly value: string | number | boolean | null;
    readonly rows: number;
    readonly estimate: number;
    readonly lower: number;
    readonly upper: number;
  }[];
  readonly judged: number;
  readonly leftOut: number;
}

export interface StageRequest {
  readonly stage: "production";
  /** Why, for the record. */
  readonly reason?: string;
}
