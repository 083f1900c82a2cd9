import type { DatasetManifest } from "../datasets/shapes";
import { testPrefix } from "../evaluation/metric-goal";
import { metricsOfTask } from "../evaluation/metrics";
import type { DecisionSettings } from "../runs/decision";

/**
 * Returns the metric of the test split that suits a job's task: `test/rmse` of values, `test/accuracy` of classes, and
 * `test/auc` where a class is rare or the job names the class of interest. `undefined` if the dataset does not tell.
 */
export function primaryMetricOf(
  { schema, task }: Pick<DatasetManifest, "schema" | "task">,
  { positive }: Pick<DecisionSettings, "positive">,
): string | undefined {
  const isValue = schema.some(({ role, type }) => role === "label" && type === "float");
  const taskKind = task ?? (isValue ? "regression" : undefined);
  const kind = positive !== undefined && (taskKind ?? "balanced") === "balanced" ? "positive" : taskKind;
  return kind && `${testPrefix}${metricsOfTask(kind)[0]}`;
}

/**
 * Returns the metric of the validation split by which trials of a job are compared: the primary one. A training logs
 * only loss and accuracy of each epoch; where accuracy misleads, the loss is compared.
 * @param byEpoch whether trials are compared after each epoch
 */
export function validationMetricOf(
  manifest: Pick<DatasetManifest, "schema" | "task">,
  decision: Pick<DecisionSettings, "positive">,
  byEpoch: boolean,
): string {
  const name = primaryMetricOf(manifest, decision)?.slice(testPrefix.length);
  return `validation/${name === undefined || (byEpoch && name !== "accuracy") ? "loss" : name}`;
}
