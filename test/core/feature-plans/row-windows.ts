import { canonicalRow } from "../../../core/feature-plans/compile";
import { columnReference, numberOf, type Scope } from "../../../core/feature-plans/references";
import { durationMs, type FeaturePlan, type PlanColumn, type StepOf } from "../../../core/feature-plans/shapes";
import { windowName } from "../../../core/feature-plans/time-steps";
import type { RawRow } from "../../../core/row-values";

/** Returns the rows with the values of the plan's windows; see `windowsOf`. The rows may be in any order. */
export function addWindows(
  plan: FeaturePlan,
  columns: readonly PlanColumn[],
  rows: readonly RawRow[],
): readonly RawRow[] {
  const windows = plan.steps.filter((step) => step.kind === "window");
  if (windows.length === 0) return rows;
  const scope: Scope = new Map(columns.map((column) => [column.name, columnReference(column)]));
  const all = rows.map((row) => {
    const canonical = canonicalRow(row, columns);
    const time = canonical[plan.eventTime!] as number | null;
    const entity = JSON.stringify(plan.entities.map((name) => canonical[name] ?? null));
    return { row, canonical, time, entity };
  });
  const byEntity = new Map<string, typeof all>();
  for (const each of all) {
    const known = byEntity.get(each.entity);
    if (known) known.push(each);
    else byEntity.set(each.entity, [each]);
  }
  return all.map(({ row, time, entity }) => {
    const added: Record<string, unknown> = { ...row };
    for (const step of windows) {
      const value = numberOf(scope, step.column);
      const from = time === null ? 0 : time - durationMs(step.over);
      const inside = byEntity
        .get(entity)!
        .filter((other) => time !== null && other.time !== null && other.time >= from && other.time <= time)
        .flatMap((other) => value.valueOf(other.canonical) ?? [])
        .filter(Number.isFinite);
      added[windowName(step)] = time === null ? null : aggregate(inside, step.aggregate);
    }
    return added;
  });
}

function aggregate(values: readonly number[], kind: StepOf<"window">["aggregate"]): number | null {
  if (kind === "count") return values.length;
  if (values.length === 0) return null;
  switch (kind) {
    case "sum":
      return values.reduce((sum, value) => sum + value, 0);
    case "mean":
      return values.reduce((sum, value) => sum + value, 0) / values.length;
    case "minimum":
      return values.reduce((a, b) => Math.min(a, b));
    case "maximum":
      return values.reduce((a, b) => Math.max(a, b));
  }
}
