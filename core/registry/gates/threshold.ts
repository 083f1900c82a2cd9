import { lessIsBetter } from "../../evaluation/metric-direction";
import type { GateCheck } from "./verdict";
import { round } from "./wording";

/** @param source where metrics of this candidate come from, for the sentence that says that one is not there */
export function threshold(metric: string, value: number | undefined, limit: number, source: string): GateCheck {
  const less = lessIsBetter(metric);
  const word = less ? "at most" : "at least";
  // NaN is never good enough.
  const passed = value !== undefined && (less ? value <= limit : value >= limit);
  const evidence =
    value === undefined
      ? `${metric} was not measured: ${source}`
      : `${metric} is ${round(value)}, ${passed ? "as it must be:" : "but must be"} ${word} ${limit}`;
  const kept = value === undefined || !Number.isFinite(value) ? null : value;
  return { gate: "threshold", metric, value: kept, limit, passed, evidence };
}
