import { InvalidInputError } from "../../core/errors";
import { goalOf, mayHaveCurve } from "../../core/evaluation/metric-goal";
import { runNotFound } from "../../core/runs/errors";
import type { MetricStore } from "../../core/tracking/metric-store";
import type { RunRecords } from "../../core/tracking/run-records";
import type { RunSearch, SearchedRun } from "../../core/tracking/search/query";
import { metricNameSets } from "../../core/tracking/search/row";
import { type Axis, type Comparison, compareLimits, type Goal } from "./comparison";
import { curvesOf } from "./curves";
import { differencesOf, metricRows, metricsOf, paramRows } from "./pivot";

/** Maximum number of points of all curves together. If there are many curves, each has fewer points. */
const maxPoints = 80_000;

/** Default number of curves: what fits on a page. */
const usualCurves = 6;

export interface CompareRequest {
  readonly runs: readonly string[] | TopRuns;
  /** Run with which the others are compared. If it is not among them, it is added. */
  readonly baseline?: string;
  /** If empty: all metrics in the table, and those that most runs have as curves. */
  readonly metrics: readonly string[];
  readonly goals: Readonly<Record<string, Goal>>;
  readonly axis: Axis;
  /** Maximum number of points of a curve; 0 for no curves. */
  readonly points: number;
}

export interface TopRuns {
  readonly experimentIds: readonly string[];
  readonly filter: string;
  readonly metric: string;
  readonly goal?: Goal;
  readonly count: number;
}

export interface ComparePorts {
  readonly records: Pick<RunRecords, "findMany">;
  readonly metrics: Pick<MetricStore, "summariesOf" | "downsample">;
  readonly runSearch: RunSearch;
}

/** @throws RUN_NOT_FOUND, and the errors of a search */
export async function compareRuns(ports: ComparePorts, request: CompareRequest): Promise<Comparison> {
  const { runs, rankedBy } = await chosenRuns(ports, request);
  const all = metricsOf(runs);
  const ranked = rankedBy === undefined ? [] : [rankedBy.metric];
  const shown = request.metrics.length > 0 ? request.metrics : [...new Set([...ranked, ...all])];
  const drawn = request.metrics.length > 0 ? request.metrics : [...ranked, ...curveMetrics(runs, all)];
  const curves = [...new Set(drawn)].slice(0, request.metrics.length > 0 ? compareLimits.curves : usualCurves);
  const points = Math.min(request.points, Math.floor(maxPoints / Math.max(1, runs.length * curves.length)));
  const goals = rankedBy === undefined ? request.goals : { [rankedBy.metric]: rankedBy.goal, ...request.goals };
  const records = runs.map(({ record }) => record);
  return {
    runs: records.map(
      ({
        runId,
        name,
        experimentId,
        status,
        phase,
        source,
        primaryMetric,
        reusedFrom,
        createdBy,
        startedAt,
        endedAt,
      }) => ({
        ...{ runId, name, experimentId, status, source, createdBy, startedAt },
        phase,
        primaryMetric,
        reusedFrom,
        endedAt,
      }),
    ),
    baseline: request.baseline,
    rankedBy,
    params: paramRows(runs),
    metrics: metricRows(runs, shown.slice(0, compareLimits.metrics), request.baseline, goals),
    curves: points === 0 ? [] : await curvesOf(ports.metrics, runs, { axis: request.axis, metrics: curves, points }),
    differences: differencesOf(records),
  };
}

function curveMetrics(runs: readonly SearchedRun[], all: readonly string[]): readonly string[] {
  return all.filter(
    (metric) =>
      !metric.startsWith("system/") &&
      runs.some((run) => run.metrics.some((one) => one.metric === metric && mayHaveCurve(one))),
  );
}

async function chosenRuns(
  ports: ComparePorts,
  { runs, baseline }: CompareRequest,
): Promise<{
  readonly runs: readonly SearchedRun[];
  readonly rankedBy?: { readonly metric: string; readonly goal: Goal };
}> {
  if ("metric" in runs) {
    const { page, rankedBy } = await topRuns(ports.runSearch, runs);
    const isThere = baseline === undefined || page.some(({ record }) => record.runId === baseline);
    return { runs: isThere ? page : [...(await read(ports, [baseline])), ...page], rankedBy };
  }
  const ids = [...new Set([...(baseline === undefined ? [] : [baseline]), ...runs])];
  const order = baseline !== undefined && runs.includes(baseline) ? [...new Set(runs)] : ids;
  return { runs: await read(ports, order) };
}

async function topRuns(search: RunSearch, { metric, count, goal: said, experimentIds, filter }: TopRuns) {
  const goal = said ?? goalOf(metric);
  if (goal === undefined) {
    const rule = `has a name that does not tell whether lower or higher is better; set goal: "min" or "max"`;
    throw new InvalidInputError("the comparison", [{ path: "top.goal", value: metric, rule }]);
  }
  // Unquoted if possible, so that `val_loss` can abbreviate `validation/loss`.
  const field = /^[\w/.-]+$/.test(metric) ? `metrics.${metric}` : `metrics.\`${metric.replaceAll("`", "``")}\``;
  // Runs without the metric are excluded; NaN sorts last.
  const has = `${field} IS NOT NULL`;
  const { runs } = await search.search({
    experimentIds,
    filter: filter.trim() === "" ? has : `(${filter}) AND ${has}`,
    orderBy: [`${field} ${goal === "min" ? "ASC" : "DESC"}`],
    limit: count,
    view: "active",
  });
  if (runs.length === 0) {
    const rule = "is not a metric of any run in the search; `ringmaster runs search` shows their metrics";
    throw new InvalidInputError("the comparison", [{ path: "top.metric", value: metric, rule }]);
  }
  const { name = metric } = metricNameSets()
    .of(runs[0]!.metrics.map((one) => one.metric))
    .resolve(metric, false);
  return { page: runs, rankedBy: { metric: name, goal } };
}

async function read({ records, metrics }: ComparePorts, runIds: readonly string[]): Promise<readonly SearchedRun[]> {
  const [rows, summaries] = await Promise.all([records.findMany(runIds), metrics.summariesOf(runIds)]);
  const byId = new Map(rows.map((record) => [record.runId, record]));
  return runIds.map((runId) => {
    const record = byId.get(runId);
    if (!record) throw runNotFound(runId);
    return { record, metrics: summaries.get(runId) ?? [] };
  });
}
