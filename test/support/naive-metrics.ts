import type { MetricPoint, MetricSeries, MetricSummary } from "../../core/tracking/metric-store";

/** Computes the expected results of a metric store from everything that was written, in the simplest way. */

const ordinal = (value: number): number => (Number.isNaN(value) ? 0 : value);
const sign = (a: number, b: number): number => (a < b ? -1 : a > b ? 1 : 0);
const byValue = (a: MetricPoint, b: MetricPoint): number =>
  sign(ordinal(a.value), ordinal(b.value)) || Number(Number.isNaN(a.value)) - Number(Number.isNaN(b.value));

export const bySteps = (a: MetricPoint, b: MetricPoint): number =>
  sign(a.step, b.step) || sign(a.time, b.time) || byValue(a, b);
export const inTime = (a: MetricPoint, b: MetricPoint): number =>
  sign(a.time, b.time) || sign(a.step, b.step) || byValue(a, b);

function writtenPoints(written: readonly MetricSeries[], metric: string): MetricPoint[] {
  return written
    .filter((one) => one.metric === metric)
    .flatMap(({ steps, values, times }) => steps.map((step, i) => ({ step, value: values[i]!, time: times[i]! })))
    .sort(bySteps);
}

export function naivePoints(written: readonly MetricSeries[], metric: string, source: "training" | "logged") {
  const once = new Map<string, MetricPoint>();
  for (const point of writtenPoints(written, metric)) {
    once.set(source === "training" ? `${point.step}` : `${point.step} ${point.time} ${point.value}`, point);
  }
  return [...once.values()].sort(bySteps);
}

export function naiveSummaries(written: readonly MetricSeries[]): MetricSummary[] {
  return [...new Set(written.map(({ metric }) => metric))].sort().map((metric) => {
    const points = writtenPoints(written, metric);
    const numbers = points.map(({ value }) => value).filter((value) => !Number.isNaN(value));
    const latest = points.at(-1)!;
    return {
      metric,
      last: latest.value,
      lastStep: latest.step,
      lastTime: latest.time,
      min: numbers.length === 0 ? Number.NaN : Math.min(...numbers),
      max: numbers.length === 0 ? Number.NaN : Math.max(...numbers),
    };
  });
}
