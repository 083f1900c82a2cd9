import type { FeatureManifest } from "../features/shapes";
import type { ObjectStore } from "../ports";
import type { Decision, DecisionSettings } from "../runs/decision";
import { encodeSafetensors, type SafetensorsTensor } from "../safetensors";
import type { ContentReference } from "../shapes";
import { classMetrics, confusionMatrix } from "./classification";
import { chooseDecision, decided } from "./decision";
import { planImportance, supportsOf } from "./importance";
import { metricsOf, type Predictions, predictedClasses, rankingsOf, selectRows, taskKindOf } from "./metrics";
import { predictShards, type RowPredictor, splitShards } from "./predict";
import type { EvaluationReport, Metrics } from "./report";
import type { ClassReport, EvaluationOutput, SliceReport } from "./shapes";
import { predictionTensors } from "./stored-predictions";

/**
 * Evaluates a model on the test split: overall, by class, by slice, and row by row. A function of features and weights;
 * stored files are named by content.
 *
 * @throws NON_FINITE_PREDICTION, MODEL_OUTPUT_MISMATCH, CorruptShardError
 */
export async function evaluateModel(input: {
  readonly features: FeatureManifest;
  readonly predictor: RowPredictor;
  readonly objects: ObjectStore;
  readonly settings?: DecisionSettings;
  /** Metrics of the test split that the run's module computed. */
  readonly own?: Metrics | undefined;
  /** Whether the validation split is evaluated too. */
  readonly validates?: boolean | undefined;
  /** Returns the model's multiply-adds for a row. Without them the importance of columns is not measured. */
  readonly count?: () => Promise<number | undefined>;
}): Promise<EvaluationOutput & { readonly predictions: Predictions }> {
  const { features, objects, predictor, settings = {}, count, own = {}, validates = false } = input;
  const { label } = features;
  const shape = { ...features, rows: features.splits.test.rows, slices: features.slices.length };
  const sample = count && (await planImportance(features, shape.rows, count));
  const tested = await predictShards(splitShards(features, objects, "test"), shape, predictor, sample);
  const { slices } = tested;
  const decision = label.kind === "class" ? await chooseDecision(settings, label, () => validated(input)) : undefined;
  const predictions = label.kind === "class" ? decided(tested.predictions, label, decision) : tested.predictions;
  const stored = await objects.putContent(
    encodeSafetensors({ tensors: { ...predictionTensors(predictions), ...sliceTensor(slices, shape.slices) } }),
  );
  const task = taskKindOf(supportsOf(label, predictions.labels), settings.positive !== undefined);
  const importance = sample?.measure(task, predictor, decision);
  const made = reportOf(features, predictions, slices, stored, decision);
  const report = { ...made, metrics: { ...own, ...made.metrics }, task, importance };
  const isValidated = validates && features.splits.validation.rows > 0;
  const validation = isValidated ? await validated(input) : undefined;
  return {
    report: await objects.putContent(JSON.stringify(report), "application/json"),
    task,
    metrics: report.metrics,
    ...(validation
      ? { validation: metricsOf(label.kind === "class" ? decided(validation, label, decision) : validation) }
      : {}),
    ...(decision ? { decision } : {}),
    predictions,
  };
}

/** Predicts the validation split. */
async function validated({ features, objects, predictor }: Parameters<typeof evaluateModel>[0]): Promise<Predictions> {
  const shape = { ...features, rows: features.splits.validation.rows, slices: 0 };
  return (await predictShards(splitShards(features, objects, "validation"), shape, predictor)).predictions;
}

/** Encodes the rows' slices, so that slice gates need only the stored predictions. */
function sliceTensor(slices: Int32Array, columns: number): Readonly<Record<string, SafetensorsTensor>> {
  if (slices.length === 0) return {};
  return { slices: { dtype: "I32", shape: [slices.length / columns, columns], data: slices } };
}

/** Computes the report from the predictions. Pure. */
function reportOf(
  features: Pick<FeatureManifest, "dataset" | "label" | "slices">,
  predictions: Predictions,
  slices: Int32Array,
  stored: ContentReference,
  decision: Decision | undefined,
): Omit<EvaluationReport, "task" | "importance"> {
  const { dataset, label } = features;
  return {
    dataset,
    split: "test",
    rows: predictions.labels.length,
    label: label.column,
    metrics: metricsOf(predictions),
    ...(decision ? { decision } : {}),
    ...(label.kind === "class" ? classReports(label.classes, predictions) : {}),
    slices: sliceReports(features.slices, predictions, slices),
    predictions: stored,
  };
}

function classReports(
  values: readonly ClassReport["value"][],
  predictions: Predictions,
): Pick<EvaluationReport, "classes" | "confusionMatrix"> {
  const { classes, labels } = predictions;
  const confusion = confusionMatrix(labels, predictedClasses(predictions), classes);
  const rankings = rankingsOf(predictions);
  const reports = classMetrics(confusion, classes).map(({ precision, recall, f1, support }, index) => {
    // With two classes, the ranking of one class determines that of the other.
    const auc = rankings[classes === 2 ? 0 : index]?.rocAuc;
    return { value: values[index]!, support, precision, recall, f1, ...(auc === undefined ? {} : { auc }) };
  });
  return {
    classes: reports,
    confusionMatrix: values.map((_, row) => [...confusion.subarray(row * classes, (row + 1) * classes)]),
  };
}

function sliceReports(
  columns: FeatureManifest["slices"],
  predictions: Predictions,
  slices: Int32Array,
): readonly SliceReport[] {
  const rows = predictions.labels.length;
  return columns.flatMap(({ column, values }, index) => {
    const counts = new Uint32Array(values.length);
    for (let row = 0; row < rows; row += 1) counts[slices[row * columns.length + index]!]! += 1;
    const members = Array.from(counts, (count) => new Uint32Array(count));
    const filled = new Uint32Array(values.length);
    for (let row = 0; row < rows; row += 1) {
      const code = slices[row * columns.length + index]!;
      members[code]![filled[code]!] = row;
      filled[code]! += 1;
    }
    return values.map((value, code) => ({
      column,
      value,
      rows: counts[code]!,
      metrics: metricsOf(selectRows(predictions, members[code]!)),
    }));
  });
}
