import { createShardSource } from "../../adapters/duckdb/shard-source";
import { withDuckDb } from "../../adapters/duckdb/workspace";
import { datasets } from "../../adapters/dynamodb/dataset-repository";
import { metrics } from "../../adapters/dynamodb/metric-store";
import { stepCache } from "../../adapters/dynamodb/step-cache";
import { stopwatch } from "../../adapters/host/stopwatch";
import { teamObjects } from "../../adapters/s3/object-store";
import { registry } from "../../adapters/team-registry";
import { runSteps } from "../../adapters/team-runs";
import { evaluationStep } from "../../core/evaluation/step";
import type { WithRows } from "../../core/evaluation/task";
import { findChampion } from "../../core/registry/gates/candidate";
import { runNotFound } from "../../core/runs/errors";
import { outputOf, runLaterStep } from "../../core/runs/step";
import { trainingKind } from "../../core/runs/training-task";
import { recordTestMetrics } from "../../core/tracking/test-metrics";
import { evaluateHereOrInJob } from "../../core/training/evaluate-run";
import { operationsPerRow } from "../../trainer-container/tfjs/operations";
import { loadPredictor } from "../../trainer-container/tfjs/predictor";
import { stepHandler } from "../step-handler";

/**
 * Evaluates the run's model on the test split, next to the champion, and records the result as metrics of the run. Of a large
 * evaluation, the first call returns its hash (`job`), and the call after the job's end records the result.
 */
export const handler = stepHandler(
  {
    runs: runSteps("use", "produce"),
    cache: stepCache("read", "write"),
    datasets: datasets("read"),
    registry: registry("read"),
    objects: teamObjects("read", "write"),
    metrics: metrics("write"),
  },
  async (ports, { runId, model: awaited }) => {
    const { objects, runs, config } = ports;
    const details = await runs.findDetails(runId);
    if (!details) throw runNotFound(runId);
    const { reproducedFrom } = details.run;
    const model = awaited ?? details.run.model;
    const champion = model === undefined ? undefined : await findChampion(ports, model);
    const withRows: WithRows = (manifest, work) =>
      withDuckDb((session) => work(createShardSource(session, objects, manifest)));
    const engine = { backend: "wasm", device: "cpu", ran: "function" } as const;
    const tools = { ...ports, loadModel: loadPredictor, withRows, stopwatch: stopwatch(), engine, operationsPerRow };
    if (awaited !== undefined) {
      const { metrics, comparison } = await runLaterStep(ports, details, evaluationStep(tools, champion));
      return { metrics, comparison };
    }
    const maxOperations = config.evaluationOperations;
    const result = await evaluateHereOrInJob({ ...tools, maxOperations }, details, champion);
    if ("job" in result) return result;
    const { output, reusedFrom } = result;
    await recordTestMetrics(ports, runId, outputOf(details, trainingKind), output);
    const ends = reproducedFrom !== undefined ? "reproduced" : model === undefined ? "evaluated" : undefined;
    return { metrics: output.metrics, comparison: output.comparison, reusedFrom, ends };
  },
);
