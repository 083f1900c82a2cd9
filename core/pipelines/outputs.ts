import type { ChampionComparison } from "../evaluation/champion";
import type { LatencyReport } from "../evaluation/latency";
import type { ContentReference } from "../ports";
import type { TrainingResult } from "../runs/training-task";
import type { Warning } from "../warnings";

/**
 * Outputs of the steps, for later steps. They have only references and small numbers, because payloads never carry
 * data.
 */

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

/** The result of a training, without the run and the time. */
export type TrainingOutput = Omit<TrainingResult, "runId" | "finishedAt" | "warnings">;

export interface EvaluationOutput {
  /** The full report, JSON in the content store. */
  readonly report: ContentReference;
  /** Overall metrics on the test split: `accuracy`, `f1`, `auc`, `logLoss`, … */
  readonly metrics: Readonly<Record<string, number>>;
  /** Absent if the model has no champion, or the candidate has the champion's weights. */
  readonly comparison?: ChampionComparison;
  /** Latency of a single prediction, on the machine that evaluated. Evaluations of earlier releases lack it. */
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
  /** Set if nothing failed and a check has no answer: the run waits with it. */
  readonly pending?: true;
  readonly reasons: readonly string[];
}
