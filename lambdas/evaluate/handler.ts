import { createShardSource } from "../../adapters/duckdb/shard-source";
import { withDuckDb } from "../../adapters/duckdb/workspace";
import { stopwatch } from "../../adapters/host/stopwatch";
import { loadPredictor } from "../../adapters/tfjs/predictor";
import { evaluationStep, type WithRows } from "../../core/evaluation/step";
import { findChampion } from "../../core/registry/champion";
import { RunNotFoundError } from "../../core/runs/errors";
import { outputOf, runStep } from "../../core/runs/step";
import type { TrainingOutput } from "../../core/runs/training-task";
import { recordTestMetrics } from "../../core/tracking/test-metrics";
import { stepHandler } from "../step-handler";

/** Evaluates the run's model on the test split, next to the champion, and records the result as metrics of the run. */
export const handler = stepHandler(async (platform, { runId }) => {
  const { objects, runs } = platform;
  const details = await runs.findDetails(runId);
  if (!details) throw new RunNotFoundError(runId);
  const champion = await findChampion(platform, details.run.model);
  const withRows: WithRows = (manifest, work) =>
    withDuckDb((session) => work(createShardSource(session, objects, manifest)));
  const step = evaluationStep(platform, loadPredictor, withRows, champion, stopwatch());
  const { output, reusedFrom } = await runStep(platform, runId, step);
  await recordTestMetrics(platform, runId, outputOf<TrainingOutput>(details, "LaunchTraining").steps, output);
  const reproduces = details.run.reproducedFrom !== undefined;
  return { metrics: output.metrics, comparison: output.comparison, reusedFrom, reproduces };
});
