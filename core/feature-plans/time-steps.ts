import { type BoundStep, fixed, type Intermediate, numberResult } from "./bound-step";
import type { CalendarPart, Dialect } from "./dialects";
import {
  add,
  booleanNumber,
  cos,
  divide,
  floor,
  less,
  modulo,
  multiply,
  type NumberExpression,
  number,
  sin,
  strict,
  subtract,
  variable,
} from "./expression";
import { columnReference, numberOf, type Scope } from "./references";
import { type DatePart, durationMs, type FeaturePlan, type NamedStep, type PlanColumn, type StepOf } from "./shapes";

export function bindDate(step: NamedStep & StepOf<"date">, scope: Scope): BoundStep {
  return fixed(numberResult(step.name, datePart(numberOf(scope, step.column), step.part)));
}

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
 * Returns the windows of a plan: an aggregate over the entity's rows whose event time is at most `over` before the
 * row's, and not after it; the row and those of the same time are among them. Only finite values count. A row without an
 * event time has none.
 *
 * A function of one row cannot compute a window: it reads the value from the row (`core/feature-store/windows.ts` computes it).
 */
export function windowsOf(plan: FeaturePlan, columns: readonly PlanColumn[]): readonly Intermediate[] {
  const scope: Scope = new Map(columns.map((column) => [column.name, columnReference(column)]));
  return plan.steps
    .filter((step) => step.kind === "window")
    .map((step) => {
      const value = numberOf(scope, step.column);
      const sql = (dialect: Dialect): string => {
        const x = value.sql(dialect);
        const time = dialect.name(plan.eventTime!);
        const entities = plan.entities.map((entity) => dialect.name(entity)).join(", ");
        const aggregate = `${aggregates[step.aggregate]}(CASE WHEN ${dialect.isFinite(x)} THEN ${x} END)`;
        const over = `OVER (PARTITION BY ${entities} ORDER BY ${time} RANGE BETWEEN ${dialect.number(durationMs(step.over))} PRECEDING AND CURRENT ROW)`;
        return `CASE WHEN ${time} IS NOT NULL THEN CAST(${aggregate} ${over} AS DOUBLE) END`;
      };
      return { name: windowName(step), value: { ...variable<number>(windowName(step)), sql } };
    });
}

/** First value and number of values of the periodic parts. */
export const cyclePeriods = {
  month: { first: 1, period: 12 },
  day: { first: 1, period: 31 },
  dayOfYear: { first: 1, period: 366 },
  dayOfWeek: { first: 0, period: 7 },
  hour: { first: 0, period: 24 },
  minute: { first: 0, period: 60 },
  minuteOfDay: { first: 0, period: 1_440 },
} as const;

/**
 * Returns a part of a time in milliseconds since the epoch, UTC: hour 0–23, day of the week 0–6 from Sunday, month
 * 1–12, weekend 0 or 1, whole days since 1970-01-01.
 */
export function datePart(time: NumberExpression, part: DatePart): NumberExpression {
  const whole = (unitMs: number) => floor(divide(time, number(unitMs)));
  const days = whole(86_400_000);
  switch (part) {
    case "days":
      return days;
    case "hour":
      return modulo(whole(3_600_000), 24);
    case "minute":
      return modulo(whole(60_000), 60);
    case "minuteOfDay":
      return modulo(whole(60_000), 1_440);
    case "dayOfWeek":
      return modulo(add(days, number(4)), 7); // 1970-01-01 was a Thursday
    case "weekend":
      return booleanNumber(less(modulo(add(days, number(5)), 7), number(2)));
    case "year":
    case "month":
    case "day":
    case "dayOfYear":
      return calendarPart(days, part);
  }
}

/** Missing if the date is more than 99,000,000 days from 1970: the years that JavaScript's dates have completely. */
function calendarPart(days: NumberExpression, part: CalendarPart): NumberExpression {
  return strict(
    { op: "calendarPart", part },
    [days],
    (dialect, x) => `CAST(${dialect.calendarPart(`CASE WHEN abs(${x}) <= 99E6 THEN ${x} END`, part)} AS DOUBLE)`,
    (x) => (Math.abs(x) <= 99e6 ? partOfDate(x, part) : null),
  );
}

const dayMs = 86_400_000;

function partOfDate(days: number, part: CalendarPart): number {
  const date = new Date(days * dayMs);
  const year = date.getUTCFullYear();
  switch (part) {
    case "year":
      return year;
    case "month":
      return date.getUTCMonth() + 1;
    case "day":
      return date.getUTCDate();
    case "dayOfYear":
      // `setUTCFullYear` because `Date.UTC` takes years below 100 as years of the 20th century.
      return days - new Date(0).setUTCFullYear(year, 0, 1) / dayMs + 1;
  }
}
