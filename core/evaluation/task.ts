import type { DatasetManifest } from "../datasets/shapes";
import type { FeatureManifest } from "../features/shapes";
import type { RowSource } from "../features/values";
import { getJson } from "../object-documents";
import type { ObjectStore } from "../ports";
import type { DecisionSettings } from "../runs/decision";
import type { MachineRecord } from "../runs/shapes";
import type { ContentReference } from "../shapes";
import { type Champion, compareWithChampion } from "./champion";
import { type EvaluationEngine, type EvaluationOutput, evaluateModel } from "./evaluate-model";
import { maxWeightBytes } from "./importance";
import { latencyRows, measureLatency, type Stopwatch } from "./latency";
import { type RowPredictor, splitShards } from "./predict";

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

/**
 * The input of one evaluation. A job that evaluates reads it from `objectKeys.evaluationTask`, because it cannot read
 * the run's record.
 */
export interface EvaluationTask {
  readonly runId: string;
  /** Key of the `FeatureManifest` JSON. */
  readonly featureManifestKey: string;
  readonly model: {
    readonly topology: ContentReference;
    readonly weights: ContentReference;
    readonly weightsSha256: string;
  };
  readonly settings: DecisionSettings;
  /** The model to compare with, and the dataset version whose raw rows it reads. */
  readonly opponent?: { readonly champion: Champion; readonly manifest: DatasetManifest };
  /** Number of single predictions that are timed. */
  readonly timedPredictions: number;
  /** Whether the importance of columns is measured. */
  readonly importance?: boolean;
  /** The model's multiply-adds for a row. A job does not count them. */
  readonly operations?: number;
  /** The engine of a job, as for the run's trainers. */
  readonly engine: {
    readonly backend: "auto" | "native" | "wasm";
    readonly threads: number;
    readonly gpusPerWorker: number;
    readonly tf32: boolean;
  };
}

/**
 * The result of a job that evaluated: content of `objectKeys.evaluationResult`. The evaluation is complete when it
 * exists; the first write stays.
 */
export interface EvaluationResult {
  readonly runId: string;
  readonly output: EvaluationOutput;
  /** The files that the output refers to, under `objectKeys.evaluationFile`. */
  readonly files: readonly ContentReference[];
  /** The machine of the job, if it is known. */
  readonly machine?: MachineRecord;
}

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
  const { opponent, settings, model, timedPredictions } = task;
  const features = await getJson<FeatureManifest>(objects, task.featureManifestKey);
  const isCounted = task.importance && model.weights.bytes <= maxWeightBytes;
  const count = async () => {
    if (!isCounted) return undefined;
    return task.operations ?? operationsPerRow?.(await topologyOf(objects, model));
  };
  const { predictions, ...own } = await withModel(tools, model, async (predictor) => {
    const evaluated = await evaluateModel({ features, predictor, objects, settings, count });
    if (!stopwatch) return evaluated;
    const rows = await latencyRows(splitShards(features, objects, "test"), features.transform.width);
    const latency = measureLatency(predictor, rows, stopwatch, timedPredictions);
    return latency ? { ...evaluated, latency } : evaluated;
  });
  const output = engine ? { ...own, engine } : own;
  if (!opponent) return output;
  const { champion, manifest } = opponent;
  const candidate = { predictions, weightsSha256: model.weightsSha256 };
  const comparison = await withModel(tools, champion.artifact, (predictor) =>
    withRows(manifest, (rows) => compareWithChampion({ champion, predictor, manifest, rows, objects, candidate })),
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
