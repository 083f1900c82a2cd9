import type { MetricValue } from "./shapes";

const byteUnits = ["B", "KB", "MB", "GB", "TB"];

/** Formats a number of bytes in decimal units: `512 B`, `2.1 MB`, `674 MB`. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (Number(value.toPrecision(3)) >= 1000 && unit < byteUnits.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value.toFixed(unit === 0 || value >= 99.95 ? 0 : 1)} ${byteUnits[unit]}`;
}

/** Formats a count with its noun: `1 shard`, `2 shards`. */
export function formatCount(count: number, noun: string, nouns = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : nouns}`;
}

/** Formats a duration by its two largest units: `40 ms`, `12.1 s`, `2m 20s`, `1h 05m`, `3d 04h`. */
export function formatDuration(milliseconds: number): string {
  const ms = Math.max(0, milliseconds);
  if (ms < 999.5) return ms === 0 ? "0 s" : `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const two = (n: number): string => String(n).padStart(2, "0");
  if (hours >= 24) return `${Math.floor(hours / 24)}d ${two(hours % 24)}h`;
  return hours > 0 ? `${hours}h ${two(minutes % 60)}m` : `${minutes}m ${two(seconds % 60)}s`;
}

const ageUnits: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Returns the milliseconds of `90m`, `36h`, `7d` or `2w`; `undefined` for another text. */
export function ageMs(text: string): number | undefined {
  const [, count, unit] = /^([1-9]\d{0,5})([mhdw])$/.exec(text) ?? [];
  return count === undefined || unit === undefined ? undefined : Number(count) * ageUnits[unit]!;
}

/** Formats a rate of training, e.g. `1319 samples/s`. */
export function formatRate(samplesPerSecond: number): string {
  return `${Math.round(samplesPerSecond)} samples/s`;
}

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
