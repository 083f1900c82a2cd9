import type { ChampionComparison } from "../evaluation/champion";
import type { LatencyReport } from "../evaluation/latency";
import type { ContentReference } from "../ports";
import type { TrainingResult } from "../runs/training-task";
import type { Warning } from "../warnings";

/** What each step leaves for the later ones. References and small numbers only: payloads never carry data. */

export interface ValidationOutput {
  readonly rowCount: number;
  /** Profile by column, JSON in the content store. */
  readonly profile: ContentReference;
  readonly warnings: readonly Warning[];
}

export interface FeaturesOutput {
  readonly featureManifestKey: string;
  /** Digest of the manifest's JSON. */
  readonly digest: string;
  readonly width: number;
  readonly rows: { readonly train: number; readonly validation: number; readonly test: number };
}

/** What a training left, but for whose run it was and when. */
export type TrainingOutput = Omit<TrainingResult, "runId" | "finishedAt" | "warnings">;

export interface EvaluationOutput {
  /** The full report, JSON in the content store. */
  readonly report: ContentReference;
  /** Overall metrics on the test split: `accuracy`, `f1`, `auc`, `logLoss`, … */
  readonly metrics: Readonly<Record<string, number>>;
  /** Absent where the model has no champion yet, or the candidate has the champion's weights. */
  readonly comparison?: ChampionComparison;
  /** Of predicting one row, on the machine that evaluated; absent in evaluations from before it was measured. */
  readonly latency?: LatencyReport;
}

export interface RegistrationOutput {
  readonly model: string;
  readonly version: number;
}

export interface GateOutput {
  readonly model: string;
  readonly version: number;
  readonly passed: boolean;
  /** Nothing failed, and a check is waited for: the run goes on to wait with it. */
  readonly pending?: true;
  readonly reasons: readonly string[];
}
