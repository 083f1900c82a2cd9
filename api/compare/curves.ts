import { eachLimited } from "../../core/each-limited";
import type { MetricPoint, MetricStore } from "../../core/tracking/metric-store";
import type { SearchedRun } from "../../core/tracking/search/query";
import type { Axis, Curve, CurveSeries } from "./comparison";

const readsAtOnce = 8;

/** Returns the metrics' curves of all runs that have them, on one axis, downsampled by the store. */
export async function curvesOf(
  store: Pick<MetricStore, "downsample">,
  runs: readonly SearchedRun[],
  requested: { readonly metrics: readonly string[]; readonly axis: Axis; readonly points: number },
): Promise<readonly Curve[]> {
  const wanted = requested.metrics.flatMap((metric) =>
    runs
      .filter((run) => run.metrics.some((one) => one.metric === metric))
      .map(({ record: { runId } }) => ({ metric, runId })),
  );
  const read = new Map<string, { readonly points: readonly MetricPoint[]; readonly total: number }>();
  const keyOf = (metric: string, runId: string): string => `${runId}/${metric}`;
  await eachLimited(wanted, readsAtOnce, async ({ metric, runId }) => {
    read.set(keyOf(metric, runId), await store.downsample(runId, metric, requested.points));
  });
  /** The time of each run's first point over all its curves, so that its curves have a common origin. */
  const beginnings = new Map(
    runs.map(({ record: { runId } }) => {
      const times = requested.metrics.flatMap(
        (metric) => read.get(keyOf(metric, runId))?.points.map(({ time }) => time) ?? [],
      );
      return [runId, times.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)];
    }),
  );
  return requested.metrics
    .map((metric) => ({
      metric,
      axis: requested.axis,
      series: runs.flatMap(({ record: { runId } }) => {
        const curve = read.get(keyOf(metric, runId));
        return curve && curve.points.length > 0 ? [seriesOf(runId, curve, requested.axis, beginnings.get(runId)!)] : [];
      }),
    }))
    .filter(({ series }) => series.length > 0);
}

function seriesOf(
  runId: string,
  { points, total }: { readonly points: readonly MetricPoint[]; readonly total: number },
  axis: Axis,
  beginning: number,
): CurveSeries {
  const xOf = ({ step, time }: MetricPoint): number =>
    axis === "step" ? step : axis === "time" ? time : (time - beginning) / 1_000;
  // Steps ascend. Times may not, because a run can return to a checkpoint.
  const ordered = axis === "step" ? points : [...points].sort((a, b) => a.time - b.time);
  return { runId, x: ordered.map(xOf), y: ordered.map(({ value }) => value), total };
}
