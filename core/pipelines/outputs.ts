import type { ContentReference } from "../ports";
import type { NumericsRecord } from "../training/numerics";

/** What each step leaves for the later ones. References and small numbers only: payloads never carry data. */

export interface ValidationOutput {
  readonly rowCount: number;
  /** Profile by column, JSON in the content store. */
  readonly profile: ContentReference;
  readonly warnings: readonly string[];
}

export interface FeaturesOutput {
  readonly featureManifestKey: string;
  /** Digest of the manifest's JSON. */
  readonly digest: string;
  readonly width: number;
  readonly rows: { readonly train: number; readonly validation: number; readonly test: number };
}

export interface TrainingOutput {
  readonly weights: ContentReference;
  readonly topology: ContentReference;
  readonly weightsSha256: string;
  readonly steps: number;
  readonly epochs: number;
  readonly metrics: Readonly<Record<string, number>>;
  readonly numerics: NumericsRecord;
  readonly backend: "native" | "wasm";
  readonly generations: number;
}

export interface EvaluationOutput {
  /** The full report, JSON in the content store. */
  readonly report: ContentReference;
  /** Overall metrics on the test split: `accuracy`, `f1`, `auc`, `logLoss`, … */
  readonly metrics: Readonly<Record<string, number>>;
}

export interface RegistrationOutput {
  readonly model: string;
  readonly version: number;
}

export interface GateOutput {
  readonly model: string;
  readonly version: number;
  readonly passed: boolean;
  readonly reasons: readonly string[];
}
