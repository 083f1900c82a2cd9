import { formatBytes } from "../quantities";

/** Metrics that count bytes: memory of workers and their GPUs, and what clients name so. */
const bytesName = /^system\/.+\/(?:rss|gpu-memory)$|(?:^|[/._-])bytes$/i;

/** Formats a metric's value for people: `287 MB` where it counts bytes, else as `format` does. */
export function formatMetric(metric: string, value: number, format: (value: number) => string): string {
  return bytesName.test(metric) && Number.isFinite(value) && value >= 0 ? formatBytes(value) : format(value);
}
