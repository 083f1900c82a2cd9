import type { Platform } from "../../../adapters/platform";
import type { MetricPoint, PointRange } from "../../../core/tracking/metric-store";
import { invalidParameter, invalidValue } from "../errors";
import { integer, list, required, text } from "../fields";
import { type MlflowOperation, operation } from "../operation";
import { metricView, unlessEmpty } from "./run-view";
import { runId } from "./runs";
import { sampled } from "./sampling";

/** Of the store, at a time. */
const pageSize = 10_000;
const mostBulkRuns = 100;
const mostBulkPoints = 25_000;
const mostPointsPerRun = 2_500;
/** Of one metric of one run, to choose from. */
const mostPointsRead = 50_000;

export const metricOperations: readonly MlflowOperation[] = [
  operation(
    "GET /mlflow/metrics/get-history",
    { run_id: runId, metric_key: required(text), page_token: text, max_results: integer },
    async ({ fields: { run_id, metric_key, page_token, max_results }, platform }) => {
      if (max_results !== undefined && max_results <= 0) {
        throw invalidValue("max_results", max_results, "must be a positive integer");
      }
      // Of a run that is nowhere MLflow's server has no points, and no complaint.
      if (!(await platform.records.identify(run_id))) return {};
      const view = (point: MetricPoint): object => metricView(metric_key, point);
      if (max_results === undefined && !page_token) {
        return unlessEmpty("metrics", (await wholeHistory(platform, run_id, metric_key)).map(view));
      }
      const limit = Math.min(max_results ?? pageSize, pageSize);
      const { points, nextToken } = await platform.metrics.history(run_id, metric_key, {
        limit,
        token: page_token || undefined,
      });
      return { ...unlessEmpty("metrics", points.map(view)), next_page_token: nextToken };
    },
  ),

  operation(
    "GET /mlflow/metrics/get-history-bulk",
    { run_id: list(text), metric_key: text, max_results: integer },
    async ({ fields: { run_id: runIds, metric_key, max_results = mostBulkPoints }, platform }) => {
      if (runIds.length === 0) throw invalidParameter("GetMetricHistoryBulk request must specify at least one run_id.");
      if (runIds.length > mostBulkRuns) {
        throw invalidParameter(
          `GetMetricHistoryBulk request cannot specify more than ${mostBulkRuns} run_ids. Received ${runIds.length} run_ids.`,
        );
      }
      if (metric_key === undefined) throw invalidParameter("GetMetricHistoryBulk request must specify a metric_key.");
      const most = Math.min(max_results, mostBulkPoints);
      const metrics: object[] = [];
      for (const id of [...new Set(runIds)].sort()) {
        if (metrics.length >= most) break;
        if (!(await platform.records.identify(id))) continue;
        const points = await wholeHistory(platform, id, metric_key, most - metrics.length);
        metrics.push(...points.map((point) => metricView(metric_key, point, { run_id: id })));
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
      const { run_ids: runIds, metric_key, start_step, end_step, max_results = mostPointsPerRun } = fields;
      if (runIds.length > mostBulkRuns) {
        throw invalidParameter(
          `GetMetricHistoryBulkInterval request must specify at most ${mostBulkRuns} run_ids. Received ${runIds.length} run_ids.`,
        );
      }
      if (max_results < 1 || max_results > mostPointsPerRun) {
        throw invalidValue("max_results", max_results, `max_results must be between 1 and ${mostPointsPerRun}`);
      }
      const range = stepRange(start_step, end_step);
      const metrics: object[] = [];
      for (const id of runIds) {
        if (!(await platform.records.identify(id))) continue;
        const points = await sampleOf(platform, id, metric_key, max_results, range);
        metrics.push(...points.map((point) => metricView(metric_key, point, { run_id: id })));
      }
      return unlessEmpty("metrics", metrics);
    },
  ),
];

/** By time, then step, then value. */
async function wholeHistory(
  platform: Platform,
  id: string,
  metric: string,
  most = Number.POSITIVE_INFINITY,
): Promise<readonly MetricPoint[]> {
  const all: MetricPoint[] = [];
  let token: string | undefined;
  do {
    const page = await platform.metrics.history(id, metric, {
      limit: Math.min(pageSize, most - all.length),
      token,
    });
    for (const point of page.points) all.push(point);
    token = page.nextToken;
  } while (token !== undefined && all.length < most);
  return all;
}

/** As MLflow samples; of a history too long to be read for one look, the store's view of it: first and last, least and greatest of each stretch. */
async function sampleOf(
  platform: Platform,
  id: string,
  metric: string,
  most: number,
  range: PointRange,
): Promise<readonly MetricPoint[]> {
  const view = await platform.metrics.downsample(id, metric, most, range);
  if (view.total > mostPointsRead) return view.points;
  const { points } = view.total <= most ? view : await platform.metrics.downsample(id, metric, view.total, range);
  return sampled(points, most);
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
