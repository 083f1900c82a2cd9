import type { Category } from "../datasets/profile";
import type { ContentReference } from "../ports";

/**
 * Metrics by name. Where the metric is undefined for the rows (AUC of a single class, R² of one row) it is left out.
 *
 * Classes: `accuracy`; `precision`, `recall`, `f1` of the second class where there are two, else their macro average;
 * `precisionMacro`, …, `precisionWeighted`, …; `auc` (binary, else one-vs-rest macro), `prAuc` (average precision, alike), `logLoss`.
 * Values: `rmse`, `mae`, `r2`.
 */
export type Metrics = Readonly<Record<string, number>>;

export interface SliceReport {
  readonly column: string;
  readonly value: Category | null;
  readonly rows: number;
  readonly metrics: Metrics;
}

export interface ClassReport {
  readonly value: Category;
  readonly support: number;
  readonly precision: number;
  readonly recall: number;
  readonly f1: number;
  /** One-vs-rest. */
  readonly auc?: number;
}

/** The evaluation of a model on the held-out test split; JSON in the content store. */
export interface EvaluationReport {
  readonly dataset: { readonly name: string; readonly version: number; readonly digest: string };
  readonly split: "test";
  readonly rows: number;
  readonly label: string;
  readonly metrics: Metrics;
  /** Of a label with classes. */
  readonly classes?: readonly ClassReport[];
  /** `counts[true class][predicted class]`, in the order of `classes`. */
  readonly confusionMatrix?: readonly (readonly number[])[];
  readonly slices: readonly SliceReport[];
  /**
   * Safetensors, in the test split's order: `label` [rows] and, of classes, `predicted` I32 [rows] and `probabilities` F32 [rows, classes]
   * (binary: [rows], of the second class); of values, `predicted` F32 [rows]; of columns that it is broken down by, `slices` I32 [rows, columns]: which of the
   * column's `slices` here, in their order. Two models evaluated on the same rows compare pair by pair.
   */
  readonly predictions: ContentReference;
}
