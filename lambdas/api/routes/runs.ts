import { randomBytes } from "node:crypto";
import * as contracts from "../../../core/api/contracts/training-runs";
import { encodeValue } from "../../../core/tracking/metric-values";
import { cancelRun } from "../../../core/training/cancel";
import { readCheckpoints, summaryOf } from "../../../core/training/checkpoint/list";
import { RunNotFoundError } from "../../../core/training/errors";
import { restoreRun } from "../../../core/training/restore";
import { submitRun } from "../../../core/training/submit";
import { defineRoute } from "../route";

const randomId = (): string => randomBytes(8).toString("hex");

export const runRoutes = [
  defineRoute(contracts.submitTrainingRun, async ({ platform, body, actor, idempotencyKey }) => {
    const { team } = platform;
    const run = await submitRun({ ...platform, randomId }, { ...body, team, actor, idempotencyKey });
    platform.logger.log("info", "run submitted", { runId: run.runId });
    return { status: 201, body: { run } };
  }),

  defineRoute(contracts.listTrainingRuns, async ({ platform, query }) => ({
    status: 200,
    body: await platform.runs.list(query),
  })),

  defineRoute(contracts.getTrainingRun, async ({ platform, params: { runId } }) => {
    const details = await platform.runs.findDetails(runId);
    if (!details) throw new RunNotFoundError(runId);
    return { status: 200, body: details };
  }),

  defineRoute(contracts.cancelTrainingRun, async ({ platform, params, actor }) => ({
    status: 200,
    body: { run: await cancelRun(platform, params.runId, actor) },
  })),

  defineRoute(contracts.listCheckpoints, async ({ platform: { runs, objects }, params: { runId } }) => {
    if (!(await runs.find(runId))) throw new RunNotFoundError(runId);
    return { status: 200, body: { checkpoints: (await readCheckpoints(objects, runId)).map(summaryOf) } };
  }),

  defineRoute(contracts.restoreTrainingRun, async ({ platform, params, body, actor, idempotencyKey }) => {
    const { team } = platform;
    const run = await restoreRun({ ...platform, randomId }, { ...params, ...body, team, actor, idempotencyKey });
    platform.logger.log("info", "run restored", { runId: run.runId, restoredFrom: run.restoredFrom });
    return { status: 201, body: { run } };
  }),

  defineRoute(contracts.getTrainingRunMetrics, async ({ platform, params: { runId }, query: { metric } }) => {
    const { metrics, runs } = platform;
    if (!(await runs.find(runId))) throw new RunNotFoundError(runId);
    if (metric === undefined) {
      const summaries = (await metrics.summaries(runId)).map(({ last, min, max, ...rest }) => ({
        ...rest,
        last: encodeValue(last),
        min: encodeValue(min),
        max: encodeValue(max),
      }));
      return { status: 200, body: { metrics: summaries } };
    }
    const points = await metrics.read(runId, metric);
    const encoded = points.map((point) => ({ ...point, value: encodeValue(point.value) }));
    return { status: 200, body: { metric, points: encoded } };
  }),

  defineRoute(contracts.getTrainingRunLogs, async ({ platform: { runs, logs }, params: { runId }, query }) => {
    const details = await runs.findDetails(runId);
    if (!details) throw new RunNotFoundError(runId);
    return { status: 200, body: await logs.read(details.workers, query) };
  }),
];
