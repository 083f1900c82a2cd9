import type { MetricPoint } from "./metric-repository";

/** JSON has no NaN and no infinities; on the wire and in the store they are strings. */
export type EncodedValue = number | "NaN" | "Infinity" | "-Infinity";

export function encodeValue(value: number): EncodedValue {
  return Number.isFinite(value) ? value : (String(value) as EncodedValue);
}

export function decodeValue(value: EncodedValue): number {
  return Number(value);
}

/** Points of overlapping batches, once each and in the order of steps. Of two with one step the later written wins. */
export function mergePoints(points: Iterable<MetricPoint>): MetricPoint[] {
  const byStep = new Map<number, MetricPoint>();
  for (const point of points) {
    const known = byStep.get(point.step);
    if (!known || known.time <= point.time) byStep.set(point.step, point);
  }
  return [...byStep.values()].sort((a, b) => a.step - b.step);
}
