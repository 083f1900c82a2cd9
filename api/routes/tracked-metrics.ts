import type { Context } from "hono";
import type { Platform } from "../../adapters/platform";
import { isObject, parseJson } from "../../core/json-text";
import { runNotFound } from "../../core/runs/errors";
import type { Shape } from "../../core/shapes";
import type { BatchReceipt, MetricSeries } from "../../core/tracking/metric-store";
import { runDeleted } from "../../core/tracking/records/errors";
import { limits } from "../../core/tracking/shapes";
import { checkNotMeasured } from "../../core/tracking/test-metrics";
import type { ApiEnvironment } from "../http/context";
import { isJson, readBody, readParams, readQuery } from "../http/input";
import { defineRoute, type Route } from "../http/route";
import * as operations from "../operations/run-metrics";
import { logMetricsBody, metricLimits } from "../schemas/metrics";

export type LoggedMetrics = Shape<typeof logMetricsBody>;

const fields: ReadonlySet<string> = new Set(["writer", "sequence", "series"]);
const knownOfSeries: ReadonlySet<string> = new Set(["metric", "steps", "values", "times"]);
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
const control = /[\u0000-\u001f\u007f]/;

/** Tests in a tenth of the schema's time whether a body certainly satisfies its operation. `false` is inconclusive. */
export function surelyLoggedMetrics(body: unknown): body is LoggedMetrics {
  if (!isObject(body)) return false;
  for (const key in body) if (!fields.has(key)) return false;
  const { writer, sequence, series } = body;
  if ((writer === undefined) !== (sequence === undefined)) return false;
  if (writer !== undefined && !(isText(writer, 100) && Number.isSafeInteger(sequence) && (sequence as number) >= 0)) {
    return false;
  }
  if (!Array.isArray(series) || series.length === 0 || series.length > metricLimits.series) return false;
  let points = 0;
  for (const one of series as readonly unknown[]) {
    if (!isSeries(one)) return false;
    points += one.steps.length;
  }
  return points <= metricLimits.points;
}

function isSeries(one: unknown): one is LoggedMetrics["series"][number] {
  if (!isObject(one)) return false;
  for (const key in one) if (!knownOfSeries.has(key)) return false;
  const { metric, steps, values, times } = one;
  if (!isText(metric, limits.key) || control.test(metric)) return false;
  if (!Array.isArray(steps) || steps.length === 0 || !steps.every(Number.isSafeInteger)) return false;
  if (!Array.isArray(values) || values.length !== steps.length || !values.every(isValue)) return false;
  if (times === undefined) return true;
  return Array.isArray(times) && times.length === steps.length && times.every(Number.isSafeInteger);
}

function isValue(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  return value === "NaN" || value === "Infinity" || value === "-Infinity";
}

function isText(value: unknown, maxLength: number): value is string {
  return typeof value === "string" && value.length > 0 && value.length <= maxLength;
}

/** @param now time of points without one; milliseconds since the epoch */
export function seriesOf({ series }: LoggedMetrics, now: number): MetricSeries[] {
  return series.map(({ metric, steps, values, times }) => ({
    metric,
    steps,
    values: values.map(Number),
    times: times ?? steps.map(() => now),
  }));
}

export function receiptOf({ writer, sequence }: LoggedMetrics): BatchReceipt | undefined {
  return writer === undefined || sequence === undefined ? undefined : { writer, sequence };
}

const defaultView = 1_000;

export const trackedMetricsRoutes: readonly Route[] = [
  {
    operation: operations.logMetrics,
    async answer(context) {
      const { runId } = readParams(context, operations.logMetrics.params);
      readQuery(context, operations.logMetrics.query);
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

  defineRoute(operations.getRunMetrics, async ({ platform: { metrics, records }, params: { runId }, query }) => {
    const { metric, points = defaultView, ...range } = query;
    if (metric === undefined) {
      const [summaries, record] = await Promise.all([metrics.summaries(runId), records.find(runId)]);
      const reused = record?.reusedFrom === undefined ? {} : { reusedFrom: record.reusedFrom };
      return { metrics: summaries, ...reused };
    }
    return { metric, ...(await metrics.downsample(runId, metric, points, range)) };
  }),

  defineRoute(operations.getRunMetricHistory, async ({ platform, params, query: { metric, limit, nextToken } }) => {
    const requested = nextToken === undefined ? { limit } : { limit, token: nextToken };
    return platform.metrics.history(params.runId, metric, requested);
  }),
];

/** Certainly valid requests skip the schema, which would take ten times as long: there are hundreds a second. */
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

async function requireLive({ records, liveRuns }: Platform, runId: string): Promise<void> {
  if (liveRuns.isLive(runId)) return;
  const run = await records.find(runId);
  if (!run) throw runNotFound(runId);
  if (run.lifecycle === "deleted") throw runDeleted(runId);
}
