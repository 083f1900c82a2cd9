import { type DocumentKind, getJsonContent } from "../object-documents";
import type { ObjectStore } from "../ports";
import type { ContentReference, Shape } from "../shapes";
import { evaluationReport as schema } from "./shapes";

/**
 * Metrics by name. A metric that is undefined for the rows (AUC of a single class, R² of one row) is absent.
 *
 * Classes: `accuracy`; `precision`, `recall`, `f1` of the positive one of two classes (default: the second), else their macro average;
 * `precisionMacro`, …, `precisionWeighted`, …; `auc` (binary, else one-vs-rest macro), `prAuc` (average precision,
 * likewise), `logLoss`. Regression: `rmse`, `mae`, `r2`.
 */
export type Metrics = Readonly<Record<string, number>>;

/** The evaluation of a model on the held-out test split; JSON in the content store. */
export interface EvaluationReport extends Shape<typeof schema> {}

export const evaluationReport: DocumentKind<EvaluationReport> = {
  name: "an evaluation's report",
  schema,
  maxBytes: 2 ** 28,
};

export type ContentReader = Pick<ObjectStore, "getContent">;

/** @throws CorruptObjectError */
export function readReport(objects: ContentReader, { sha256 }: ContentReference): Promise<EvaluationReport> {
  return getJsonContent(objects, sha256, evaluationReport);
}
