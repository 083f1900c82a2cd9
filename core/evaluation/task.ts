import * as z from "zod";
import { type DatasetManifest, datasetManifest } from "../datasets/shapes";
import { featureManifest } from "../features/shapes";
import type { RowSource } from "../features/values";
import { type DocumentKind, getJson } from "../object-documents";
import type { ObjectStore } from "../ports";
import { thresholdRule } from "../runs/decision";
import { machine } from "../runs/shapes";
import { engineBackend } from "../runs/training-task";
import { type ContentReference, category, contentReference, count, metrics, type Shape, sha256 } from "../shapes";
import { champion, compareWithChampion } from "./champion";
import { evaluateModel } from "./evaluate-model";
import { maxWeightBytes } from "./importance";
import { latencyRows, measureLatency, type Stopwatch } from "./latency";
import { type RowPredictor, splitShards } from "./predict";
import { type EvaluationEngine, type EvaluationOutput, evaluationOutput } from "./shapes";

/** Rebuilds the trained model; the caller disposes of it. */
export type LoadModel = (artifact: {
  readonly topology: string;
  readonly weights: Uint8Array;
}) => Promise<RowPredictor & { dispose(): void }>;

/** Returns a model's multiply-adds for one row, from its topology. */
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
  /** Recorded in the output. */
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
  const isCounted = task.importance && model.weights.bytes <= maxWeightBytes;
  const count = async () => {
    if (!isCounted) return undefined;
    return task.operations ?? operationsPerRow?.(await topologyOf(objects, model));
  };
  const { predictions, ...own } = await withModel(tools, model, async (predictor) => {
    const evaluated = await evaluateModel({
      features,
      predictor,
      objects,
      settings,
      count,
      own: ownMetrics,
      validates,
    });
    if (!stopwatch) return evaluated;
    const rows = await latencyRows(splitShards(features, objects, "test"), features.transform.width);
    const latency = measureLatency(predictor, rows, stopwatch, timedPredictions);
    return latency ? { ...evaluated, latency } : evaluated;
  });
  const output = engine ? { ...own, engine } : own;
  if (!opponent) return output;
  const { manifest } = opponent;
  const candidate = { predictions, weightsSha256: model.weightsSha256 };
  const comparison = await withModel(tools, opponent.champion.artifact, (predictor) =>
    withRows(manifest, (rows) =>
      compareWithChampion({ ...opponent, predictor, manifest, rows, objects, candidate, task: own.task }),
    ),
  );
  return { ...output, comparison };
}

async function withModel<Result>(
  { objects, loadModel }: EvaluationTools,
  model: { readonly topology: ContentReference; readonly weights: ContentReference },
  work: (predictor: RowPredictor) => Promise<Result>,
): Promise<Result> {
  const [topology, weights] = await Promise.all([topologyOf(objects, model), objects.getContent(model.weights.sha256)]);
  const predictor = await loadModel({ topology, weights });
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
