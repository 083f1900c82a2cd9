import type { DatasetManifest, SplitName } from "../core/datasets/shapes";
import { decodeSplitIndex } from "../core/datasets/split-index";
import { InvalidInputError } from "../core/errors";
import { classMetrics, confusionMatrix } from "../core/evaluation/classification";
import { decided } from "../core/evaluation/decision";
import { metricsOf, predictedClasses } from "../core/evaluation/metrics";
import type { ModelArtifact } from "../core/evaluation/model-artifact";
import { misfits, modelRows, predictShards, type RowPredictor } from "../core/evaluation/predict";
import type { Metrics } from "../core/evaluation/report";
import type { ClassReport } from "../core/evaluation/shapes";
import type { RowSource } from "../core/features/values";
import type { ObjectStore } from "../core/ports";

/** A model's evaluation on rows of any dataset version. */
export interface DatasetEvaluation {
  readonly rows: number;
  readonly metrics: Metrics;
  /** Present for a label with classes. */
  readonly classes?: readonly Omit<ClassReport, "auc">[];
}

/**
 * Evaluates a model on a split of a dataset version, or on all of its rows, with the metrics of a run's evaluation. Raw
 * rows go through the model's own transform.
 *
 * @throws InvalidInputError if the model cannot read the rows, or does not know a class of their label
 */
export async function evaluateDataset(input: {
  readonly artifact: ModelArtifact;
  readonly predictor: RowPredictor;
  readonly manifest: DatasetManifest;
  readonly rows: RowSource;
  readonly objects: Pick<ObjectStore, "getContent">;
  readonly split: SplitName | "all";
}): Promise<DatasetEvaluation> {
  const { artifact, predictor, manifest, split, objects } = input;
  const { transform, label } = artifact;
  const dataset = `${manifest.name}@${manifest.version}`;
  const refuse = (rules: readonly string[]) =>
    new InvalidInputError(
      "the model cannot be evaluated",
      rules.map((rule) => ({ path: "dataset", value: dataset, rule })),
    );
  const reasons = misfits(artifact, manifest.schema);
  if (reasons.length > 0) throw refuse(reasons.map((reason) => `does not fit the model: ${reason}`));
  const chosen = await chosenRows(manifest, split, objects);
  const count = chosen.reduce((sum, one) => sum + one, 0);
  if (count === 0) throw refuse([`has no rows in its split ${split}; name another one, or all`]);
  const shape = { rows: count, slices: 0, transform, label };
  const rows = modelRows(artifact, manifest.schema, input.rows, chosen);
  const { predictions: found } = await predictShards(rows, shape, predictor);
  if (label.kind === "value") return { rows: count, metrics: metricsOf(found) };
  const predictions = decided(found, label, artifact.decision);
  const { labels } = predictions;
  let unknown = 0;
  for (const one of labels) unknown += Number(one < 0);
  if (unknown > 0) {
    const known = label.classes.join(", ");
    throw refuse([`has ${unknown} of ${count} rows whose ${label.column} the model does not know: it knows ${known}`]);
  }
  const each = classMetrics(
    confusionMatrix(labels, predictedClasses(predictions), label.classes.length),
    label.classes.length,
  );
  const classes = each.map(({ support, precision, recall, f1 }, i) => ({
    value: label.classes[i] as ClassReport["value"],
    support,
    precision,
    recall,
    f1,
  }));
  return { rows: count, metrics: metricsOf(predictions), classes };
}

/** Returns 1 for each row of the split, of all rows in order. */
async function chosenRows(
  { rowCount, split: { indexes } }: DatasetManifest,
  split: SplitName | "all",
  objects: Pick<ObjectStore, "getContent">,
): Promise<Uint8Array> {
  const chosen = new Uint8Array(rowCount);
  if (split === "all") return chosen.fill(1);
  for (const row of decodeSplitIndex(await objects.getContent(indexes[split].sha256))) chosen[row] = 1;
  return chosen;
}
