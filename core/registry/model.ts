import type { ColumnSchema } from "../datasets/manifest";
import type { PairedInterval } from "../evaluation/paired-bootstrap";
import type { FeatureTransform, LabelEncoding } from "../features/manifest";
import type { ContentReference } from "../ports";
import type { NumericsRecord } from "../training/numerics";

const stages = ["none", "staging", "canary", "production", "archived"] as const;
export type Stage = (typeof stages)[number];

/** A registered model: the head row, whose `revision` guards every change of the model and its versions. */
export interface Model {
  readonly name: string;
  readonly team: string;
  readonly revision: number;
  readonly latestVersion: number;
  /** The champion, if there is one. */
  readonly production?: number;
  /** Former champions, latest last, each once: where a rollback goes. */
  readonly formerProduction: readonly number[];
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface ModelVersion {
  readonly model: string;
  readonly version: number;
  readonly stage: Stage;
  readonly runId: string;
  readonly weightsSha256: string;
  /** Key of the artifact manifest. */
  readonly artifactKey: string;
  readonly dataset: { readonly name: string; readonly version: number; readonly digest: string };
  readonly metrics: Readonly<Record<string, number>>;
  readonly evaluationReport: ContentReference;
  readonly gate?: GateVerdict;
  readonly approval?: Approval;
  /** Of a version that was promoted: what it was promoted upon. */
  readonly served?: { readonly gate: GateVerdict; readonly approval: Approval };
  /** The run whose state machine waits for the approval. */
  readonly awaitedBy?: string;
  readonly createdAt: string;
}

export interface Approval {
  readonly decision: "approved" | "rejected";
  readonly by: string;
  readonly reason: string;
  readonly at: string;
}

export interface GateCheck {
  readonly gate: "threshold" | "no-regression";
  readonly metric: string;
  readonly value: number | null;
  /** What the value was held against. */
  readonly limit: number | null;
  readonly passed: boolean;
  /** A sentence: which value, which rule. */
  readonly evidence: string;
  /** What the sentence rests on, where two models were compared row by row. */
  readonly interval?: PairedInterval;
}

export interface GateVerdict {
  readonly passed: boolean;
  readonly checks: readonly GateCheck[];
  /** The champion that it was compared with. */
  readonly champion?: number;
  readonly at: string;
}

/** One line of a model's history; append-only. */
export interface HistoryEntry {
  /** The model's revision that this change made. */
  readonly revision: number;
  readonly action: "registered" | "gated" | "approval-requested" | "approved" | "rejected" | "promoted" | "rolled-back";
  readonly version: number;
  readonly by: string;
  readonly reason?: string;
  readonly at: string;
}

/** What serving loads, at `objectKeys.artifactManifest(runId)`. */
export interface ModelArtifact {
  readonly format: 1;
  readonly runId: string;
  readonly model: string;
  readonly weights: ContentReference;
  /** tfjs-layers topology JSON. */
  readonly topology: ContentReference;
  readonly weightsSha256: string;
  readonly transform: FeatureTransform;
  readonly label: LabelEncoding;
  readonly inputSchema: readonly ColumnSchema[];
  readonly outputSchema: OutputSchema;
  readonly numerics: NumericsRecord;
}

export type OutputSchema =
  | { readonly kind: "probabilities"; readonly classes: readonly (string | number | boolean)[] }
  | { readonly kind: "value"; readonly column: string };
