import type { MetricSeries } from "./metric-batch";
import type { MetricPoint, MetricSummary } from "./metric-store";

/** JSON has no NaN and no infinities: requests and answers have them as strings. All else has numbers. */
export type EncodedValue = number | "NaN" | "Infinity" | "-Infinity";

export function encodeValue(value: number): EncodedValue {
  return Number.isFinite(value) ? value : (String(value) as EncodedValue);
}

export function decodeValue(value: EncodedValue): number {
  return Number(value);
}

/** Points of a metric as JSON has them. */
export interface EncodedSeries extends Omit<MetricSeries, "values"> {
  readonly values: readonly EncodedValue[];
}

export function encodedSeries<Series extends MetricSeries>({ values, ...rest }: Series) {
  return { ...rest, values: values.map(encodeValue) };
}

/** For the wire. */
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
