import type { DatasetManifest } from "../datasets/shapes";
import { metricsOfTask } from "../evaluation/metrics";
import type { DecisionSettings } from "../runs/decision";
import { testPrefix } from "../tracking/test-metrics";

/**
 * Returns the metric of the test split that suits a job's task: `test/rmse` of values, `test/accuracy` of classes, and
 * `test/auc` where a class is rare or the job names the class of interest. `undefined` if the dataset does not tell.
 */
export function primaryMetricOf(
  { schema, task }: Pick<DatasetManifest, "schema" | "task">,
  { positive }: Pick<DecisionSettings, "positive">,
): string | undefined {
  const isValue = schema.some(({ role, type }) => role === "label" && type === "float");
  const known = task ?? (isValue ? "regression" : undefined);
  const kind = positive !== undefined && (known ?? "balanced") === "balanced" ? "positive" : known;
  return kind && `${testPrefix}${metricsOfTask(kind)[0]}`;
}
