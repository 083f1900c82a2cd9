import type { MetricSeries } from "./metric-batch";
import type { MetricPoint, MetricSummary } from "./metric-store";

/** A number in JSON. JSON has neither NaN nor infinities, so requests and responses have them as strings. */
export type EncodedValue = number | "NaN" | "Infinity" | "-Infinity";

export function encodeValue(value: number): EncodedValue {
  return Number.isFinite(value) ? value : (String(value) as EncodedValue);
}

export function decodeValue(value: EncodedValue): number {
  return Number(value);
}

/** Points of a metric in JSON. */
export interface EncodedSeries extends Omit<MetricSeries, "values"> {
  readonly values: readonly EncodedValue[];
}

export function encodedSeries<Series extends MetricSeries>({ values, ...rest }: Series) {
  return { ...rest, values: values.map(encodeValue) };
}

/** Encodes a point for JSON. */
export function encodedPoint({ step, value, time }: MetricPoint) {
  return { step, value: encodeValue(value), time };
}

export function encodedSummary({ last, min, max, ...rest }: MetricSummary) {
  return { ...rest, last: encodeValue(last), min: encodeValue(min), max: encodeValue(max) };
}

export function decodedSummary<Rest extends object>({
  last,
  min,
  max,
  ...rest
}: Rest & Readonly<Record<"last" | "min" | "max", EncodedValue>>) {
  return { ...rest, last: decodeValue(last), min: decodeValue(min), max: decodeValue(max) };
}
