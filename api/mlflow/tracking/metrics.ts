import type { Platform } from "../../../adapters/platform";
import type { MetricPoint, PointRange } from "../../../core/tracking/metric-store";
import { invalidParameter, invalidValue } from "../errors";
import { integer, list, required, text } from "../fields";
import { type MlflowOperation, operation } from "../operation";
import { metricMessage, undefinedIfEmpty } from "./messages";
import { runId } from "./runs";

const pageSize = 10_000;
const maxBulkRuns = 100;
const maxBulkPoints = 25_000;
const maxPointsPerRun = 2_500;
/** Maximum number of points of one metric of a run for sampling. */
const maxPointsRead = 50_000;

export const metricOperations: readonly MlflowOperation[] = [
  operation(
    "GET /mlflow/metrics/get-history",
    { run_id: runId, metric_key: required(text), page_token: text, max_results: integer },
    async ({ fields: { run_id, metric_key, page_token, max_results }, platform }) => {
      if (max_results !== undefined && max_results <= 0) {
        throw invalidValue("max_results", max_results, "must be a positive integer");
      }
      // For an unknown run MLflow's server returns no points.
      if (!(await platform.records.identify(run_id))) return {};
      const view = (point: MetricPoint): object => metricMessage(metric_key, point);
      if (max_results === undefined && !page_token) {
        return { metrics: undefinedIfEmpty((await wholeHistory(platform, run_id, metric_key)).map(view)) };
      }
      const limit = Math.min(max_results ?? pageSize, pageSize);
      const { points, nextToken } = await platform.metrics.history(run_id, metric_key, {
        limit,
        token: page_token || undefined,
      });
      return { metrics: undefinedIfEmpty(points.map(view)), next_page_token: nextToken };
    },
  ),

  operation(
    "GET /mlflow/metrics/get-history-bulk",
    { run_id: list(text), metric_key: text, max_results: integer },
    async ({ fields: { run_id: runIds, metric_key, max_results = maxBulkPoints }, platform }) => {
      if (runIds.length === 0) throw invalidParameter("GetMetricHistoryBulk request must specify at least one run_id.");
      if (runIds.length > maxBulkRuns) {
        throw invalidParameter(
          `GetMetricHistoryBulk request cannot specify more than ${maxBulkRuns} run_ids. Received ${runIds.length} run_ids.`,
        );
      }
      if (metric_key === undefined) throw invalidParameter("GetMetricHistoryBulk request must specify a metric_key.");
      const max = Math.min(max_results, maxBulkPoints);
      const metrics: object[] = [];
      for (const id of [...new Set(runIds)].sort()) {
        if (metrics.length >= max) break;
        if (!(await platform.records.identify(id))) continue;
        const points = await wholeHistory(platform, id, metric_key, max - metrics.length);
        metrics.push(...points.map((point) => metricMessage(metric_key, point, { run_id: id })));
      }
      return { metrics };
    },
  ),

  operation(
    "GET /mlflow/metrics/get-history-bulk-interval",
    {
      run_ids: required(list(text)),
      metric_key: required(text),
      start_step: integer,
      end_step: integer,
      max_results: integer,
    },
    async ({ fields, platform }) => {
      const { run_ids: runIds, metric_key, start_step, end_step, max_results = maxPointsPerRun } = fields;
      if (runIds.length > maxBulkRuns) {
        throw invalidParameter(
          `GetMetricHistoryBulkInterval request must specify at most ${maxBulkRuns} run_ids. Received ${runIds.length} run_ids.`,
        );
      }
      if (max_results < 1 || max_results > maxPointsPerRun) {
        throw invalidValue("max_results", max_results, `max_results must be between 1 and ${maxPointsPerRun}`);
      }
      const range = stepRange(start_step, end_step);
      const metrics: object[] = [];
      for (const id of runIds) {
        if (!(await platform.records.identify(id))) continue;
        const points = await sampleOf(platform, id, metric_key, max_results, range);
        metrics.push(...points.map((point) => metricMessage(metric_key, point, { run_id: id })));
      }
      return { metrics: undefinedIfEmpty(metrics) };
    },
  ),
];

/** Reads a whole history, by time, then step, then value. */
async function wholeHistory(
  platform: Platform,
  id: string,
  metric: string,
  max = Number.POSITIVE_INFINITY,
): Promise<readonly MetricPoint[]> {
  const all: MetricPoint[] = [];
  let token: string | undefined;
  do {
    const page = await platform.metrics.history(id, metric, {
      limit: Math.min(pageSize, max - all.length),
      token,
    });
    for (const point of page.points) all.push(point);
    token = page.nextToken;
  } while (token !== undefined && all.length < max);
  return all;
}

/** Samples as MLflow does; the store downsamples a very long history. */
async function sampleOf(
  platform: Platform,
  id: string,
  metric: string,
  max: number,
  range: PointRange,
): Promise<readonly MetricPoint[]> {
  const view = await platform.metrics.downsample(id, metric, max, range);
  if (view.total > maxPointsRead) return view.points;
  const { points } = view.total <= max ? view : await platform.metrics.downsample(id, metric, view.total, range);
  return sampled(points, max);
}

function stepRange(from: number | undefined, to: number | undefined): PointRange {
  if (from === undefined && to === undefined) return {};
  if (from === undefined || to === undefined) {
    throw invalidParameter("If either start step or end step are specified, both must be specified.");
  }
  if (from > to) {
    throw invalidParameter(`end_step must be greater than start_step. Found start_step=${from} and end_step=${to}.`);
  }
  return { fromStep: from, toStep: to };
}

/**
 * Samples at most `max` points as MLflow's server does: the first of each of `max` equal buckets (SQL's NTILE), and the
 * last point.
 */
export function sampled(points: readonly MetricPoint[], max: number): readonly MetricPoint[] {
  const sorted = [...points].sort((a, b) => a.step - b.step || a.time - b.time || ordinal(a.value) - ordinal(b.value));
  if (sorted.length <= max) return sorted;
  const small = Math.floor(sorted.length / max);
  const larger = sorted.length % max;
  const starts = Array.from({ length: max }, (_, bucket) => bucket * small + Math.min(bucket, larger));
  starts[max - 1] = sorted.length - 1;
  return starts.map((at) => sorted[at]!);
}

/** MLflow's tables store NaN as 0. */
function ordinal(value: number): number {
  return Number.isNaN(value) ? 0 : value;
}
