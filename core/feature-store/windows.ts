import { durationMs, type FeaturePlan, type StepOf } from "../feature-plans/shapes";
import { windowName } from "../feature-plans/time-steps";

/** An aggregate of an entity's rows whose event time is at most `overMs` before the time of a read, and not after it. */
export interface Window {
  /** Name by which the steps of the plan read it. */
  readonly name: string;
  /** Index of its column in `ViewWindows.columns`. */
  readonly column: number;
  readonly aggregate: StepOf<"window">["aggregate"];
  readonly overMs: number;
}

/** The windows of a view, as plain data. */
export interface ViewWindows {
  readonly all: readonly Window[];
  /** The columns that windows aggregate, in ascending order. */
  readonly columns: readonly string[];
  readonly maxOverMs: number;
}

/** Returns the windows of a view; `undefined` without any. */
export function windowsIn({ steps }: FeaturePlan): ViewWindows | undefined {
  const windows = steps.filter((step) => step.kind === "window");
  if (windows.length === 0) return undefined;
  const columns = [...new Set(windows.map(({ column }) => column))].sort();
  const all = windows.map((step): Window => {
    const { column, aggregate, over } = step;
    return { name: windowName(step), column: columns.indexOf(column), aggregate, overMs: durationMs(over) };
  });
  return { all, columns, maxOverMs: Math.max(...all.map(({ overMs }) => overMs)) };
}

/** A row of an entity that windows aggregate, as the online store has it. */
export interface WindowRow {
  readonly key: string;
  /** `orderOf` of the row. */
  readonly order: string;
  readonly eventTime: number;
  /** Numbers of `ViewWindows.columns`; null for one that is missing or infinite. */
  readonly values: readonly (number | null)[];
}

/**
 * Returns the windows of an entity at a time by name, null for a missing value. A number that is missing or infinite does
 * not count. Both stores give the latest row first, so sums have the same bits.
 */
export function aggregateRows(
  { all }: ViewWindows,
  rows: readonly Pick<WindowRow, "eventTime" | "values">[],
  at: number,
): Readonly<Record<string, number | null>> {
  return Object.fromEntries(
    all.map(({ name, column, aggregate, overMs }) => {
      const numbers: number[] = [];
      for (const { eventTime, values } of rows) {
        const value = values[column] ?? Number.NaN;
        if (eventTime >= at - overMs && Number.isFinite(value)) numbers.push(value);
      }
      const result = aggregateOf(numbers, aggregate);
      return [name, Number.isNaN(result) ? null : result];
    }),
  );
}

/** Returns NaN for a missing value: that of no numbers, except their count. */
function aggregateOf(numbers: readonly number[], aggregate: Window["aggregate"]): number {
  if (aggregate === "count") return numbers.length;
  if (numbers.length === 0) return Number.NaN;
  switch (aggregate) {
    case "minimum":
      return numbers.reduce((a, b) => Math.min(a, b));
    case "maximum":
      return numbers.reduce((a, b) => Math.max(a, b));
    case "sum":
      return sumOf(numbers);
    case "mean":
      return sumOf(numbers) / numbers.length;
  }
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((a, b) => a + b, 0);
}
