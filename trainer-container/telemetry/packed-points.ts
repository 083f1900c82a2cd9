import type { MetricSeries } from "../../core/tracking/metric-store";
import type { UnsentMetrics } from "../../core/training/checkpoint/manifest";

/** Joins series of the same metric. */
export function packPoints(series: readonly MetricSeries[]): UnsentMetrics["series"] {
  const byMetric = new Map<string, MetricSeries[]>();
  for (const one of series) {
    const parts = byMetric.get(one.metric);
    if (parts) parts.push(one);
    else byMetric.set(one.metric, [one]);
  }
  return [...byMetric].map(([metric, parts]) => {
    const columns = [
      ...parts.flatMap(({ steps }) => steps),
      ...parts.flatMap(({ values }) => values),
      ...parts.flatMap(({ times }) => times),
    ];
    return { metric, points: Buffer.from(Float64Array.from(columns).buffer).toString("base64") };
  });
}

export function unpackPoints(packed: UnsentMetrics["series"]): readonly MetricSeries[] {
  return packed.map(({ metric, points }) => {
    const bytes = Uint8Array.from(Buffer.from(points, "base64"));
    const columns = new Float64Array(bytes.buffer, 0, Math.floor(bytes.length / 24) * 3);
    const count = columns.length / 3;
    const column = (index: number) => [...columns.subarray(index * count, (index + 1) * count)];
    return { metric, steps: column(0), values: column(1), times: column(2) };
  });
}
