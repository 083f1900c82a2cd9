import os from "node:os";
import { Readable } from "node:stream";
import { listFolder, packFolder } from "../../adapters/files/folder";
import { containerTopology } from "../../core/evaluation/container-model";
import { featureManifest } from "../../core/features/shapes";
import { createJson, getJson } from "../../core/object-documents";
import { objectKeys } from "../../core/object-keys";
import { isoTime } from "../../core/ports";
import { type TrainingTask, trainingResult } from "../../core/runs/training-task";
import { nearestStorable } from "../../core/shapes";
import type { TrainerDependencies } from "../host/dependencies";
import { TrainingHaltedError } from "../loop/errors";
import { readPredictions } from "./channels";
import type { ContainerPlace } from "./place";

const settlePatienceMs = 5_000;

/**
 * Stores the model folder as an archive, the predictions, and the result. The first result counts.
 * @throws TrainingHaltedError `BAD_PREDICTIONS`, `NO_MODEL`
 */
export async function publishContainer(
  { store, clock, telemetry }: TrainerDependencies,
  task: TrainingTask,
  { model, output, tracking }: ContainerPlace,
  generations: number,
): Promise<void> {
  const { runId } = task;
  const features = await getJson(store, task.featureManifestKey, featureManifest);
  const outputs = await readPredictions(output, features.label, features.splits.test.rows);
  const files = listFolder(model);
  if (files.length === 0)
    throw new TrainingHaltedError("NO_MODEL", "the command must write its model into $SM_MODEL_DIR, which is empty");
  const put = (open: () => AsyncIterable<Uint8Array>) =>
    store.putContentStream(open, undefined, async ({ sha256 }) => ({
      key: objectKeys.trainingFile(runId, sha256),
      stored: false,
    }));
  const bytes = (body: Uint8Array | string) => put(() => Readable.from([Buffer.from(body)]));
  const weights = await put(() => packFolder(model, files));
  const predictions = await bytes(outputs);
  const { name, version, digest } = features.dataset;
  const topology = await bytes(
    containerTopology({
      files: files.map((file) => ({ path: file.path, bytes: file.bytes })),
      dataset: { name, version, digest },
      predictions,
      params: { ...tracking.params },
    }),
  );
  const metrics = Object.entries(tracking.metrics).filter(([metric]) => metric !== "" && metric.length <= 250);
  telemetry.lead(true);
  await telemetry.settled(settlePatienceMs);
  const result = {
    ...{ runId, weights, topology, files: [predictions], weightsSha256: weights.sha256, generations },
    steps: tracking.steps,
    epochs: 0,
    metrics: Object.fromEntries(metrics.slice(0, 1_000).map(([metric, value]) => [metric, nearestStorable(value)])),
    numerics: {
      backend: "native" as const,
      device: task.gpusPerWorker > 0 ? ("gpu" as const) : ("cpu" as const),
      libraries: {},
      threads: { intraOp: task.threads, interOp: task.threads },
      cpu: { model: os.cpus()[0]?.model ?? "unknown", features: [] },
      switches: {},
      ...{ node: process.versions.node, platform: process.platform, arch: process.arch },
    },
    backend: "native" as const,
    finishedAt: isoTime(clock),
  };
  await createJson(store, objectKeys.trainingResult(runId), trainingResult, result, {
    indent: 2,
    essence: () => "the first result of a command counts",
  });
}
