import type { Decision } from "../runs/decision";
import type { ContentReference } from "../shapes";
import type { ClassReport, SliceReport } from "./shapes";

/**
 * Metrics by name. A metric that is undefined for the rows (AUC of a single class, R² of one row) is absent.
 *
 * Classes: `accuracy`; `precision`, `recall`, `f1` of the positive one of two classes (default: the second), else their macro average;
 * `precisionMacro`, …, `precisionWeighted`, …; `auc` (binary, else one-vs-rest macro), `prAuc` (average precision,
 * likewise), `logLoss`. Regression: `rmse`, `mae`, `r2`.
 */
export type Metrics = Readonly<Record<string, number>>;

/** The evaluation of a model on the held-out test split; JSON in the content store. */
export interface EvaluationReport {
  readonly dataset: { readonly name: string; readonly version: number; readonly digest: string };
  readonly split: "test";
  readonly rows: number;
  readonly label: string;
  readonly metrics: Metrics;
  /** Present if the job chose it. Absent: the second of two classes, above 0.5. */
  readonly decision?: Decision;
  /** Present for a label with classes. */
  readonly classes?: readonly ClassReport[];
  /** `counts[true class][predicted class]`, in the order of `classes`. */
  readonly confusionMatrix?: readonly (readonly number[])[];
  readonly slices: readonly SliceReport[];
  /**
   * Safetensors, in the test split's order: `label` [rows]; for classes `predicted` I32 [rows] and `probabilities` F32
   * [rows, classes] (binary: [rows], of the second class); for regression `predicted` F32 [rows]; with slice columns
   * `slices` I32 [rows, columns], indexes into the column's `slices` of this report. Two models that were evaluated on
   * the same rows can be compared row by row.
   */
  readonly predictions: ContentReference;
}
