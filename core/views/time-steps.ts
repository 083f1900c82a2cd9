import { type BoundStep, fixed, type Intermediate, numberResult } from "./bound-step";
import { cyclePeriods, datePart } from "./date-parts";
import type { Dialect } from "./dialects";
import { cos, multiply, number, sin, subtract, variable } from "./expression";
import { columnReference, numberOf, type Scope } from "./references";
import { durationMs, type FeatureView, type NamedStep, type PlanColumn, type StepOf } from "./shapes";

export function bindDate(step: NamedStep & StepOf<"date">, scope: Scope): BoundStep {
  return fixed(numberResult(step.name, datePart(numberOf(scope, step.column), step.part)));
}

/** Binds sine and cosine of a periodic number, so that the end of a period is close to its start. */
export function bindCycle(step: NamedStep & StepOf<"cycle">, scope: Scope): BoundStep {
  const value = numberOf(scope, step.column);
  const { first, period } = step.part === undefined ? { first: 0, period: step.period! } : cyclePeriods[step.part];
  const position = step.part === undefined ? value : datePart(value, step.part);
  const angle = multiply(subtract(position, number(first)), number((2 * Math.PI) / period));
  return fixed({
    outputs: [
      { kind: "number", name: `${step.name}_sin`, value: sin(angle) },
      { kind: "number", name: `${step.name}_cos`, value: cos(angle) },
    ],
  });
}

export function windowName(step: NamedStep): string {
  return `window:${step.name}`;
}

export function bindWindow(step: NamedStep & StepOf<"window">): BoundStep {
  return fixed(numberResult(step.name, variable<number>(windowName(step))));
}

const aggregates = { count: "count", sum: "sum", mean: "avg", minimum: "min", maximum: "max" } as const;

/**
 * Returns the windows of a view: an aggregate over the entity's rows whose event time is at most `over` before the
 * row's, and not after it; the row and those of the same time are among them. Only finite values count. A row without an
 * event time has none.
 *
 * A function of one row cannot compute a window: it reads the value from the row, where `addWindows` wrote it.
 */
export function windowsOf(view: FeatureView, columns: readonly PlanColumn[]): readonly Intermediate[] {
  const scope: Scope = new Map(columns.map((column) => [column.name, columnReference(column)]));
  return view.steps
    .filter((step) => step.kind === "window")
    .map((step) => {
      const value = numberOf(scope, step.column);
      const sql = (dialect: Dialect): string => {
        const x = value.sql(dialect);
        const time = dialect.name(view.eventTime!);
        const entities = view.entities.map((entity) => dialect.name(entity)).join(", ");
        const aggregate = `${aggregates[step.aggregate]}(CASE WHEN ${dialect.isFinite(x)} THEN ${x} END)`;
        const over = `OVER (PARTITION BY ${entities} ORDER BY ${time} RANGE BETWEEN ${dialect.number(durationMs(step.over))} PRECEDING AND CURRENT ROW)`;
        return `CASE WHEN ${time} IS NOT NULL THEN CAST(${aggregate} ${over} AS DOUBLE) END`;
      };
      return { name: windowName(step), value: { sql, valueOf: variable<number>(windowName(step)).valueOf } };
    });
}
