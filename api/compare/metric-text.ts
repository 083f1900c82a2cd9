import { formatBytes } from "../../core/quantities";
import type { MetricValue } from "../../core/shapes";

/** Matches metrics that count bytes: memory of workers and their GPUs, and names of clients that end in `bytes`. */
const bytesName = /^system\/.+\/(?:rss|gpu-memory)$|(?:^|[/._-])bytes$/i;

/** Formats a metric's value: `287 MB` if it counts bytes, else as `format` does. */
export function formatMetric(metric: string, value: number, format: (value: number) => string): string {
  return bytesName.test(metric) && Number.isFinite(value) && value >= 0 ? formatBytes(value) : format(value);
}

/** Formats five significant digits without trailing zeros; `NaN` and infinities by name. */
export function numberText(value: MetricValue): string {
  return String(Number(Number(value).toPrecision(5)))
    .replace("-", "−")
    .replace("Infinity", "∞");
}

/** Formats a metric's value; bytes with their unit. */
export function metricText(metric: string, value: MetricValue): string {
  return formatMetric(metric, Number(value), numberText);
}

/** Formats a difference: `+0.012 (+3.4 %)`, `−1.5 MB (−3.4 %)`. */
export function deltaText(metric: string, delta: number, relativeDelta: number | undefined): string {
  const sign = delta > 0 ? "+" : delta < 0 ? "−" : "";
  const size = metricText(metric, Math.abs(delta));
  if (relativeDelta === undefined) return `${sign}${size}`;
  return `${sign}${size} (${sign}${Number(Math.abs(relativeDelta * 100).toPrecision(3))} %)`;
}

/** Formats a time in UTC: `2026-03-01 12:00:05`. */
export function timeText(time: number | string): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? String(time) : date.toISOString().slice(0, 19).replace("T", " ");
}
