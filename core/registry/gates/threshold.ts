import { lessIsBetter } from "../../evaluation/metric-names";
import type { GateCheck } from "./verdict";
import { compared } from "./wording";

/** @param missing why the candidate lacks the metric, if it does */
export function threshold(
  metric: string,
  value: number | undefined,
  limit: number,
  missing: (metric: string) => string,
): GateCheck {
  const less = lessIsBetter(metric);
  // NaN satisfies no limit.
  const passed = value !== undefined && (less ? value <= limit : value >= limit);
  const kept = value === undefined || !Number.isFinite(value) ? null : value;
  return { gate: "threshold", metric, value: kept, limit, passed, evidence: evidenceOf() };

  function evidenceOf(): string {
    if (value === undefined) return `${metric} has no value: ${missing(metric)}`;
    if (Number.isNaN(value)) return `${metric} is NaN; the limit is ${limit}`;
    const relation = less ? (passed ? "≤" : ">") : passed ? "≥" : "<";
    return `${metric} ${compared(value, relation, limit)}`;
  }
}
