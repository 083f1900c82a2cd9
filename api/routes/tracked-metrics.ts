import type { Context } from "hono";
import type { Platform } from "../../adapters/platform";
import { parseJson } from "../../core/json-text";
import { runNotFound } from "../../core/runs/errors";
import { runDeleted } from "../../core/tracking/records/errors";
import { checkNotMeasured } from "../../core/tracking/test-metrics";
import * as contracts from "../contracts/run-metrics";
import type { ApiEnvironment } from "../http/context";
import { isJson, readBody, readParams, readQuery } from "../http/input";
import { defineRoute, type Route } from "../http/route";
import { logMetricsBody } from "../schemas/metrics";
import { type LoggedMetrics, receiptOf, seriesOf, surelyLoggedMetrics } from "../services/logged-series";

const defaultView = 1_000;

export const trackedMetricsRoutes: readonly Route[] = [
  {
    contract: contracts.logMetrics,
    async answer(context) {
      const { runId } = readParams(context, contracts.logMetrics.params);
      readQuery(context, contracts.logMetrics.query);
      const body = await readMetrics(context);
      const platform = context.get("platform");
      await requireLive(platform, runId);
      const run = await platform.records.identify(runId);
      if (run)
        checkNotMeasured(
          run,
          body.series.map(({ metric }) => metric),
        );
      const { metrics, clock } = platform;
      const { duplicate } = await metrics.append(runId, seriesOf(body, clock.now()), receiptOf(body));
      return context.json({ duplicate });
    },
  },

  defineRoute(contracts.getRunMetrics, async ({ platform: { metrics, records }, params: { runId }, query }) => {
    const { metric, points = defaultView, ...range } = query;
    if (metric === undefined) {
      const [summaries, record] = await Promise.all([metrics.summaries(runId), records.find(runId)]);
      const reused = record?.reusedFrom === undefined ? {} : { reusedFrom: record.reusedFrom };
      return { metrics: summaries, ...reused };
    }
    return { metric, ...(await metrics.downsample(runId, metric, points, range)) };
  }),

  defineRoute(contracts.getRunMetricHistory, async ({ platform, params, query: { metric, limit, nextToken } }) => {
    const requested = nextToken === undefined ? { limit } : { limit, token: nextToken };
    return platform.metrics.history(params.runId, metric, requested);
  }),
];

/**
 * Reads the metrics of a request. A server receives hundreds of requests a second with hundreds of series each.
 * Requests that are certainly valid skip the schema, which would take ten times as long.
 */
async function readMetrics(context: Context<ApiEnvironment>): Promise<LoggedMetrics> {
  const text = await context.req.text();
  if (isJson(context.req.header("content-type") ?? "application/json")) {
    const body = parsed(text);
    if (surelyLoggedMetrics(body)) return body;
  }
  return readBody(context, logMetricsBody);
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** @throws RUN_NOT_FOUND, RUN_DELETED */
async function requireLive({ records, liveRuns }: Platform, runId: string): Promise<void> {
  if (liveRuns.isLive(runId)) return;
  const run = await records.find(runId);
  if (!run) throw runNotFound(runId);
  if (run.lifecycle === "deleted") throw runDeleted(runId);
}
