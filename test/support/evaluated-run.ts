import type { Platform } from "../../adapters/platform";
import { evaluateModel } from "../../core/evaluation/task";
import { encodeFeatureShard, shardLayout } from "../../core/features/encoding";
import type { FeatureManifest } from "../../core/features/shapes";
import { recordTestMetrics } from "../../core/tracking/test-metrics";
import { resultOf, runOf } from "./fixtures";

/** When a step of a run was done. */
export const stepTimes = { startedAt: "2026-01-01T00:00:00.000Z", finishedAt: "2026-01-01T00:00:01.000Z" };

/** Creates a training run whose model predicted `outputs` for test rows with these labels; no classes: a regression. */
export async function createEvaluatedRun(
  platform: Platform,
  runId: string,
  test: {
    readonly classes: readonly string[];
    readonly labels: readonly number[];
    readonly outputs: readonly number[];
  },
): Promise<void> {
  const { objects, runs } = platform;
  const { classes, labels, outputs } = test;
  const rows = labels.length;
  const transform: FeatureManifest["transform"] = {
    outputs: [{ kind: "numeric", column: "x", offset: 0, width: 1, source: 0, mean: 0, deviation: 1 }],
    width: 1,
    shape: [1],
  };
  const shard = encodeFeatureShard(
    {
      rows,
      numeric: new Float32Array(rows),
      codes: new Int32Array(0),
      label: classes.length > 0 ? Int32Array.from(labels) : Float32Array.from(labels),
      slices: new Int32Array(0),
    },
    shardLayout(transform),
  );
  const features: FeatureManifest = {
    inputHash: "f00",
    dataset: { name: "digits", version: 1, digest: "d".repeat(64) },
    transform,
    label: classes.length > 0 ? { kind: "class", column: "y", classes } : { kind: "value", column: "y" },
    slices: [],
    splits: {
      train: { rows: 0, shards: [] },
      validation: { rows: 0, shards: [] },
      test: { rows, shards: [{ ...(await objects.putContent(shard)), rows }] },
    },
  };
  const predictor = { predict: () => Float32Array.from(outputs) };
  const { predictions: _, ...evaluation } = await evaluateModel({ features, predictor, objects });
  await runs.create(runOf(runId));
  const step = { inputHash: "h", ...stepTimes };
  await runs.recordStep(runId, { step: "LaunchTraining", output: resultOf(runId), ...step });
  await runs.recordStep(runId, { step: "Evaluate", output: evaluation, ...step });
  await recordTestMetrics(platform, runId, resultOf(runId), evaluation);
}
