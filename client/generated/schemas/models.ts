// Made from docs/api/openapi.json by `npm run api`. Do not edit.

import type { ColumnSchema, DatasetReference, Instant, Sha256 } from "./shared";

export interface Approval {
  readonly decision: "approved" | "rejected";
  readonly by: string;
  readonly reason: string;
  readonly at: Instant;
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

export interface StageRequest {
  readonly stage: "production";
  /** Why, for the record. */
  readonly reason?: string;
}
