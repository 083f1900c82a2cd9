import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { createJson, findJson } from "../../core/object-documents";
import { objectKeys } from "../../core/object-keys";
import { type Clock, isoTime, type ObjectStore } from "../../core/ports";
import type { FineTuneOutcome } from "../../core/runs/fine-tune";
import type { NumericsRecord } from "../../core/runs/shapes";
import {
  shortMessage,
  type TrainingPause,
  type TrainingResult,
  trainingPause,
  trainingResult,
} from "../../core/runs/training-task";
import { type ContentReference, nearestStorable, type Warning } from "../../core/shapes";
import { findCheckpointManifest } from "../../core/training/checkpoint/manifest";
import { contentOf, fileOf, readLive } from "../checkpoint/state-files";
import type { TrainableModel } from "../engine/engine";
import { CheckpointMissingError } from "../loop/errors";
import type { TrainingPlan } from "../loop/plan";
import { named, namedScore } from "../loop/score";
import type { TrainingEnd } from "../loop/train";

/** The end of a training, or of a segment of it, at a step that every rank has finished. */
export type LastStep = Extract<TrainingEnd, { end: "completed" | "paused" }>;

export interface ResultOptions {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly runId: string;
  readonly model: TrainableModel;
  readonly weights: Float32Array;
  readonly plan: TrainingPlan;
  readonly numerics: NumericsRecord;
  readonly otherNumerics: readonly string[];
  readonly warnings?: readonly Warning[];
  readonly fineTune?: FineTuneOutcome | undefined;
  /** The first connected rank stores at once. The others store only if no result appears for a while. */
  readonly end: LastStep;
  /** The storing rank awaits it first: data that must outlive this process. Never rejects. */
  readonly beforeVisible: () => Promise<void>;
  readonly sleep?: (ms: number) => Promise<unknown>;
}

/** Wait for each earlier rank that may be storing the result. */
const patienceMs = 10_000;
const pollMs = 100;

/** Stores weights, topology and result; the first rank counts. @throws OBJECT_DIFFERS if it has other weights */
export async function publishResult(options: ResultOptions): Promise<TrainingResult> {
  const { store, clock, runId, model, weights, plan, numerics, end } = options;
  const key = objectKeys.trainingResult(runId);
  await earlierRanks(store, key, end, options.sleep);
  const earlier = await findResult(store, runId);
  if (earlier !== undefined) return earlier;

  const file = fileOf("weights", model.layout);
  const storeFile = (open: () => AsyncIterable<Uint8Array>, contentType?: string): Promise<ContentReference> =>
    store.putContentStream(open, contentType, async ({ sha256 }) => ({
      key: objectKeys.trainingFile(runId, sha256),
      stored: false,
    }));
  const weightsFile = await storeFile(() => contentOf(file, readLive([weights])));
  const topology = await storeFile(() => Readable.from([Buffer.from(model.topology())]), "application/json");
  const result: TrainingResult = {
    runId,
    weights: weightsFile,
    topology,
    weightsSha256: weightsFile.sha256,
    steps: end.finishedSteps,
    epochs: end.finishedSteps / plan.sampler.stepsPerEpoch,
    metrics: storable({
      ...namedScore("train", end.train),
      ...(end.validation === undefined ? {} : namedScore("validation", end.validation)),
      // The evaluation has loss and accuracy.
      ...named("test", end.test?.metrics ?? {}),
    }),
    ...(plan.earlyStopping && end.best
      ? {
          earlyStopping: {
            metric: plan.earlyStopping.metric,
            bestEpoch: end.best.epoch,
            value: nearestStorable(end.best.value),
            stopped: end.finishedSteps < plan.totalSteps,
          },
        }
      : {}),
    ...(options.fineTune ? { fineTune: options.fineTune } : {}),
    numerics,
    ...(options.otherNumerics.length === 0 ? {} : { otherNumerics: options.otherNumerics }),
    ...(options.warnings?.length
      ? { warnings: options.warnings.map(({ code, message }) => ({ code, message: shortMessage(message) })) }
      : {}),
    backend: numerics.backend,
    generations: end.generation,
    finishedAt: isoTime(clock),
  };
  await options.beforeVisible();
  const stored = await createJson(store, key, trainingResult, result, {
    indent: 2,
    essence: (each) => each.weightsSha256,
  });
  return stored.document;
}

/** Waits until an earlier rank that is still connected has stored the object, or all of them have left or had their time. */
async function earlierRanks(
  store: Pick<ObjectStore, "size">,
  key: string,
  { ranksBefore }: LastStep,
  pause: (ms: number) => Promise<unknown> = sleep,
): Promise<void> {
  for (let waited = 0; waited < ranksBefore() * patienceMs; waited += pollMs) {
    if ((await store.size(key)) !== undefined) return;
    await pause(pollMs);
  }
}

interface PauseOptions {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly runId: string;
  readonly segment: number;
  readonly end: LastStep;
  /** The storing rank awaits it first: the checkpoint of the last step, and data that must outlive this process. */
  readonly beforeVisible: () => Promise<void>;
  readonly sleep?: (ms: number) => Promise<unknown>;
}

/** @throws CheckpointMissingError if no rank has stored the last step's checkpoint, from which the run is resumed */
export async function publishPause(
  options: PauseOptions,
  { finishedSteps, epoch }: Pick<TrainingPause, "finishedSteps" | "epoch">,
): Promise<TrainingPause> {
  const { store, clock, runId, segment, end } = options;
  const key = objectKeys.trainingPause(runId, segment);
  await earlierRanks(store, key, end, options.sleep);
  const earlier = await findPause(store, runId, segment);
  if (earlier !== undefined) return earlier;
  await options.beforeVisible();
  const manifest = await findCheckpointManifest(store, objectKeys.checkpointManifest(runId, finishedSteps));
  if (manifest === undefined) throw new CheckpointMissingError(runId, finishedSteps);
  const { weightsSha256 } = manifest;
  const pause = { runId, segment, epoch, finishedSteps, weightsSha256, pausedAt: isoTime(clock) };
  const stored = await createJson(store, key, trainingPause, pause, {
    indent: 2,
    essence: (each) => each.weightsSha256,
  });
  return stored.document;
}

export function findPause(store: ObjectStore, runId: string, segment: number): Promise<TrainingPause | undefined> {
  return findJson(store, objectKeys.trainingPause(runId, segment), trainingPause);
}

export function findResult(store: ObjectStore, runId: string): Promise<TrainingResult | undefined> {
  return findJson(store, objectKeys.trainingResult(runId), trainingResult);
}

/** Omits metrics that are not finite, which the database cannot store, and rounds the others to its range. */
function storable(metrics: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  const finite = Object.entries(metrics).filter(([, value]) => Number.isFinite(value));
  return Object.fromEntries(finite.map(([name, value]) => [name, nearestStorable(value)]));
}
