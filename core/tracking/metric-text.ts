import { formatBytes } from "../quantities";

/** Matches metrics that count bytes: memory of workers and their GPUs, and names of clients that end in `bytes`. */
const bytesName = /^system\/.+\/(?:rss|gpu-memory)$|(?:^|[/._-])bytes$/i;

/** Formats a metric's value: `287 MB` if it counts bytes, else as `format` does. */
export function formatMetric(metric: string, value: number, format: (value: number) => string): string {
  return bytesName.test(metric) && Number.isFinite(value) && value >= 0 ? formatBytes(value) : format(value);
}
