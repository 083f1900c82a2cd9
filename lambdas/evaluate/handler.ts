import { createShardSource } from "../../adapters/duckdb/shard-source";
import { withDuckDb } from "../../adapters/duckdb/workspace";
import { stopwatch } from "../../adapters/host/stopwatch";
import { loadPredictor } from "../../adapters/tfjs/predictor";
import { evaluationStep, type WithRows } from "../../core/evaluation/step";
import { runStep } from "../../core/pipelines/step";
import { findChampion } from "../../core/registry/champion";
import { stepHandler } from "../step-handler";

/** Evaluates the run's model on the test split, beside the champion. */
export const handler = stepHandler(async (platform, { runId }) => {
  const { objects, runs } = platform;
  const run = await runs.find(runId);
  const champion = run && (await findChampion(platform, run.model));
  const withRows: WithRows = (manifest, work) =>
    withDuckDb((session) => work(createShardSource(session, objects, manifest)));
  const step = evaluationStep(platform, loadPredictor, withRows, champion, stopwatch());
  const { output, reusedFrom } = await runStep(platform, runId, step);
  const reproduces = run?.reproducedFrom !== undefined;
  return { metrics: output.metrics, comparison: output.comparison, reusedFrom, reproduces };
});
