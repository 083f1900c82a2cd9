import { randomBytes } from "node:crypto";
import { submittersOf } from "../../core/access/principals";
import { InvalidInputError } from "../../core/errors";
import { runNotFound } from "../../core/runs/errors";
import { workersPerHost } from "../../core/runs/resources";
import { workersOf } from "../../core/runs/run";
import type { RunDetails } from "../../core/runs/shapes";
import { experimentOf } from "../../core/tracking/experiments";
import { readCheckpoints, summaryOf } from "../../core/training/checkpoint/manifest";
import { cancelRun } from "../../core/training/close-run";
import { resumeRun } from "../../core/training/pause";
import { restoreRun } from "../../core/training/restore";
import { submitRun } from "../../core/training/submit";
import { defineRoute } from "../http/route";
import * as operations from "../operations/training-runs";
import { metricsRoute } from "./run-metrics";

const randomId = (): string => randomBytes(8).toString("hex");

export const runRoutes = [
  defineRoute(operations.submitTrainingRun, async ({ platform, body, caller, actor, idempotencyKey }) => {
    const { team } = platform;
    const run = await submitRun(
      { ...platform, randomId },
      { ...body, team, actor, ...submittersOf(caller), idempotencyKey },
    );
    platform.logger.log("info", "run submitted", { runId: run.runId });
    return { run };
  }),

  defineRoute(operations.listTrainingRuns, async ({ platform: { runs, experiments }, query }) => {
    const { experiment: requested, ...page } = query;
    const experiment = requested === undefined ? undefined : await experimentOf(experiments, requested);
    return runs.list({ ...page, experimentId: experiment?.experimentId });
  }),

  defineRoute(operations.getTrainingRun, async ({ platform, params: { runId } }) => {
    const details = await platform.runs.findDetails(runId);
    if (!details) throw runNotFound(runId, "training");
    return details;
  }),

  defineRoute(operations.cancelTrainingRun, async ({ platform, params, actor }) => ({
    run: await cancelRun(platform, params.runId, actor),
  })),

  defineRoute(operations.resumeTrainingRun, async ({ platform, params, body }) => ({
    run: await resumeRun(platform, { ...params, ...body }),
  })),

  defineRoute(operations.listCheckpoints, async ({ platform: { runs, objects }, params: { runId } }) => {
    if (!(await runs.find(runId))) throw runNotFound(runId, "training");
    const { checkpoints, damaged } = await readCheckpoints(objects, runId);
    return { checkpoints: checkpoints.map(summaryOf), damaged };
  }),

  defineRoute(operations.restoreTrainingRun, async ({ platform, params, body, caller, actor, idempotencyKey }) => {
    const { team } = platform;
    const run = await restoreRun(
      { ...platform, randomId },
      { ...params, ...body, team, actor, ...submittersOf(caller), idempotencyKey },
    );
    platform.logger.log("info", "run restored", { runId: run.runId, restoredFrom: run.restoredFrom });
    return { run };
  }),

  metricsRoute,

  defineRoute(operations.getTrainingRunLogs, async ({ platform: { runs, logs }, params: { runId }, query }) => {
    const details = await runs.findDetails(runId);
    if (!details) throw runNotFound(runId, "training");
    const perHost = workersPerHost(details.run.job.resources);
    checkWorker(query.worker, details, perHost);
    const page = await logs.read(details.workers, { ...query, workersPerHost: perHost });
    return { ...page, lines: page.lines.filter(({ message }) => !isOfAnotherRun(message, runId)) };
  }),
];

/** Refuses a worker's index that the run cannot have. Workers of earlier segments and of evaluation follow its own. */
function checkWorker(worker: number | undefined, { run, workers }: RunDetails, perHost: number): void {
  const count = Math.max(workersOf(run), ...workers.map(({ workerIndex }) => (workerIndex + 1) * perHost));
  if (worker === undefined || worker < count) return;
  const rule =
    count === 1 ? "must be 0: the run has 1 worker" : `must be 0 to ${count - 1}: the run has ${count} workers`;
  throw new InvalidInputError("the logs cannot be read", [{ path: "worker", value: worker, rule }]);
}

/** Tests whether a trainer's log line names another run: the log of a shared job has the lines of several. */
function isOfAnotherRun(line: string, runId: string): boolean {
  const [, named = runId] = /^\{"time":.*?"runId":"(run-[0-9a-z]+)"/.exec(line) ?? [];
  return named !== runId;
}
