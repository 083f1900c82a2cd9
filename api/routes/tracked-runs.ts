import { randomBytes } from "node:crypto";
import type { Platform } from "../../adapters/platform";
import { submittersOf } from "../../core/access/principals";
import { isoTime } from "../../core/ports";
import { runNotFound } from "../../core/runs/errors";
import { logRun } from "../../core/tracking/records/log-run";
import { withEdit, withLifecycle, withParams } from "../../core/tracking/records/transitions";
import { defineRoute, type Route } from "../http/route";
import * as operations from "../operations/runs";

const randomId = (): string => randomBytes(8).toString("hex");

/** Routes of logged runs. Each edit of a client is a read and a write under the run's revision. */
export const trackedRunRoutes: readonly Route[] = [
  defineRoute(operations.logRun, async ({ platform, body, caller, actor, idempotencyKey }) => {
    const { team } = platform;
    const run = await logRun(
      { ...platform, randomId },
      { ...body, team, actor, ...submittersOf(caller), idempotencyKey },
    );
    return { run };
  }),

  defineRoute(operations.getRun, ({ platform, params: { runId } }) => viewOf(platform, runId)),

  defineRoute(operations.changeRun, async ({ platform: { records, clock }, params: { runId }, body }) => {
    const run = await records.change(runId, (record) => withEdit(record, body, clock.now()));
    return { run };
  }),

  defineRoute(operations.logParams, async ({ platform: { records }, params: { runId }, body: { params } }) => ({
    run: await records.change(runId, (record) => withParams(record, params)),
  })),

  defineRoute(operations.deleteRun, async ({ platform: { records, clock }, params: { runId } }) => ({
    run: await records.change(runId, (record) => withLifecycle(record, "deleted", isoTime(clock))),
  })),

  defineRoute(operations.restoreRun, async ({ platform: { records, clock }, params: { runId } }) => ({
    run: await records.change(runId, (record) => withLifecycle(record, "active", isoTime(clock))),
  })),
];

export async function viewOf(platform: Platform, runId: string) {
  const run = await platform.records.find(runId);
  if (!run) throw runNotFound(runId);
  const [metrics, children, details] = await Promise.all([
    platform.metrics.summaries(runId),
    platform.records.children(runId),
    run.source === "training" ? platform.runs.findDetails(runId) : undefined,
  ]);
  return { run, metrics, children, ...(details ? { attempts: details.attempts } : {}) };
}
