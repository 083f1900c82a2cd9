import type { Platform } from "../../adapters/platform";
import { evaluateModel } from "../../core/evaluation/task";
import type { LabelEncoding } from "../../core/features/shapes";
import { recordTestMetrics } from "../../core/tracking/test-metrics";
import { resultOf, runOf } from "./fixtures";
import { storeOneColumn } from "./one-column";

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
  const label: LabelEncoding =
    classes.length > 0 ? { kind: "class", column: "y", classes } : { kind: "value", column: "y" };
  const features = await storeOneColumn(objects, { xs: labels.map(() => 0), labels, label });
  const predictor = { predict: () => Float32Array.from(outputs) };
  const { predictions: _, ...evaluation } = await evaluateModel({ features, predictor, objects });
  await runs.create(runOf(runId));
  const step = { inputHash: "h", ...stepTimes };
  await runs.recordStep(runId, { step: "LaunchTraining", output: resultOf(runId), ...step });
  await runs.recordStep(runId, { step: "Evaluate", output: evaluation, ...step });
  await recordTestMetrics(platform, runId, resultOf(runId), evaluation);
}
