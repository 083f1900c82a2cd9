import * as z from "zod";
import { type DatasetManifest, datasetManifest } from "../datasets/shapes";
import { type FeatureManifest, featureManifest } from "../features/shapes";
import type { RowSource } from "../features/values";
import { type DocumentKind, getJson } from "../object-documents";
import type { ObjectStore } from "../ports";
import { type Decision, type DecisionSettings, thresholdRule } from "../runs/decision";
import { machine } from "../runs/shapes";
import { engineBackend } from "../runs/training-task";
import { encodeSafetensors, type SafetensorsTensor } from "../safetensors";
import { type ContentReference, category, contentReference, count, metrics, type Shape, sha256 } from "../shapes";
import { champion, compareWithChampion } from "./champion";
import { classMetrics, confusionMatrix } from "./classification";
import { containerOf, storedOutputs } from "./container-model";
import { chooseDecision, decided } from "./decision";
import { maxWeightBytes, planImportance, supportsOf } from "./importance";
import { latencyRows, measureLatency, type Stopwatch } from "./latency";
import { metricsOf, type Predictions, predictedClasses, rankingsOf, selectRows, taskKindOf } from "./metrics";
import { predictShards, type RowPredictor, splitShards } from "./predict";
import type { EvaluationReport, Metrics } from "./report";
import {
  type ClassReport,
  type EvaluationEngine,
  type EvaluationOutput,
  evaluationOutput,
  type SliceReport,
} from "./shapes";
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
  readonly own?: Metrics | undefined;
  readonly validates?: boolean | undefined;
  readonly count?: () => Promise<number | undefined>;
}): Promise<EvaluationOutput & { readonly predictions: Predictions }> {
  const { features, objects, predictor, settings = {}, count, own: ownMetrics = {}, validates = false } = input;
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
  const basicReport = reportOf(features, predictions, slices, stored, decision);
  const report = { ...basicReport, metrics: { ...ownMetrics, ...basicReport.metrics }, task, importance };
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
    return { value: values[index]!, support, precision, recall, f1, auc };
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

/** Rebuilds the trained model; the caller disposes of it. */
export type LoadModel = (artifact: {
  readonly topology: string;
  readonly weights: Uint8Array;
}) => Promise<RowPredictor & { dispose(): void }>;

export type CountOperations = (topology: string) => Promise<number>;

/** Provides a dataset version's raw rows while `work` runs. */
export type WithRows = <Result>(
  manifest: DatasetManifest,
  work: (rows: RowSource) => Promise<Result>,
) => Promise<Result>;

const evaluationTaskSchema = z.object({
  runId: z.string(),
  featureManifestKey: z.string(),
  model: z.object({ topology: contentReference, weights: contentReference, weightsSha256: sha256 }),
  settings: z.object({ positive: category.optional(), threshold: thresholdRule.optional() }),
  opponent: z.object({ champion, manifest: datasetManifest }).optional().meta({
    description: "The model to compare with, and the dataset version whose raw rows it reads.",
  }),
  timedPredictions: count.meta({ description: "Number of single predictions that are timed." }),
  own: metrics.optional().meta({ description: "Metrics of the test split that the run's module computed." }),
  validates: z.boolean().optional().meta({ description: "Whether the validation split is evaluated too." }),
  importance: z.boolean().optional().meta({ description: "Whether the importance of columns is measured." }),
  operations: z.number().min(0).optional().meta({
    description: "The model's multiply-adds for a row. A job does not count them.",
  }),
  engine: z
    .object({ backend: engineBackend, threads: z.int().min(1), gpusPerWorker: count, tf32: z.boolean() })
    .meta({ description: "The engine of a job, as for the run's trainers." }),
});
/**
 * The input of one evaluation. A job that evaluates reads it from `objectKeys.evaluationTask`, because it cannot read
 * the run's record.
 */
export interface EvaluationTask extends Shape<typeof evaluationTaskSchema> {}

export const evaluationTask: DocumentKind<EvaluationTask> = {
  name: "the task of an evaluation",
  schema: evaluationTaskSchema,
  maxBytes: 2 ** 28,
};

const evaluationResultSchema = z.object({
  runId: z.string(),
  output: evaluationOutput,
  files: z.array(contentReference).max(1_000).meta({
    description: "The files that the output refers to, under `objectKeys.evaluationFile`.",
  }),
  machine: machine.optional().meta({ description: "The machine of the job, if it is known." }),
});
/**
 * The result of a job that evaluated: content of `objectKeys.evaluationResult`. The evaluation is complete when it
 * exists; the first write stays.
 */
export interface EvaluationResult extends Shape<typeof evaluationResultSchema> {}

export const evaluationResult: DocumentKind<EvaluationResult> = {
  name: "the result of an evaluation",
  schema: evaluationResultSchema,
  maxBytes: 350_000,
};

export interface EvaluationTools {
  readonly objects: ObjectStore;
  readonly loadModel: LoadModel;
  readonly withRows: WithRows;
  /** Times single predictions. The times are not in the report, because they are not a function of the inputs. */
  readonly stopwatch?: Stopwatch;
  /** Bounds the cost of measuring the importance of columns; absent: it is not measured. */
  readonly operationsPerRow?: CountOperations;
  readonly engine?: EvaluationEngine;
}

/**
 * Evaluates the trained weights, and the champion, on the same held-out rows. The candidate's own report does not depend
 * on the champion.
 */
export async function evaluateTask(tools: EvaluationTools, task: EvaluationTask): Promise<EvaluationOutput> {
  const { objects, stopwatch, engine, withRows, operationsPerRow } = tools;
  const { opponent, settings, model, timedPredictions, own: ownMetrics, validates } = task;
  const features = await getJson(objects, task.featureManifestKey, featureManifest);
  const isContainer = containerOf(await topologyOf(objects, model)) !== undefined;
  const isCounted = task.importance && !isContainer && model.weights.bytes <= maxWeightBytes;
  const count = async () => {
    if (!isCounted) return undefined;
    return task.operations ?? operationsPerRow?.(await topologyOf(objects, model));
  };
  const { predictions, ...evaluation } = await withModel(tools, model, features.dataset.digest, async (predictor) => {
    const evaluated = await evaluateModel({
      features,
      predictor,
      objects,
      settings,
      count,
      own: ownMetrics,
      validates,
    });
    if (!stopwatch || isContainer) return evaluated;
    const rows = await latencyRows(splitShards(features, objects, "test"), features.transform.width);
    const latency = measureLatency(predictor, rows, stopwatch, timedPredictions);
    return latency ? { ...evaluated, latency } : evaluated;
  });
  const output = engine ? { ...evaluation, engine } : evaluation;
  if (!opponent) return output;
  const { manifest } = opponent;
  const candidate = { predictions, weightsSha256: model.weightsSha256 };
  const comparison = await withModel(tools, opponent.champion.artifact, manifest.digest, (predictor) =>
    withRows(manifest, (rows) =>
      compareWithChampion({ ...opponent, predictor, manifest, rows, objects, candidate, task: evaluation.task }),
    ),
  );
  return { ...output, comparison };
}

async function withModel<Result>(
  { objects, loadModel }: EvaluationTools,
  model: { readonly topology: ContentReference; readonly weights: ContentReference },
  digest: string,
  work: (predictor: RowPredictor) => Promise<Result>,
): Promise<Result> {
  const topology = await topologyOf(objects, model);
  const container = containerOf(topology);
  const predictor = container
    ? await storedOutputs(objects, container, digest)
    : await loadModel({ topology, weights: await objects.getContent(model.weights.sha256) });
  try {
    return await work(predictor);
  } finally {
    predictor.dispose();
  }
}

async function topologyOf(
  objects: Pick<ObjectStore, "getContent">,
  { topology }: { readonly topology: ContentReference },
): Promise<string> {
  return new TextDecoder().decode(await objects.getContent(topology.sha256));
}
