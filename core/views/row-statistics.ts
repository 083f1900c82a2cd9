import { TooManyCategoriesError } from "./errors";
import type { CanonicalRow, NumberExpression } from "./expression";
import {
  addToCell,
  countedCategory,
  emptySummary,
  maxCounted,
  maxMagnitude,
  quantilesOf,
  type State,
  type Statistic,
  type Summary,
  type TargetCell,
} from "./statistics";

/** Measures a statistic row by row, in the rows' order: equal rows give equal bits. */
export interface Accumulator {
  add(row: CanonicalRow): void;
  state(): State;
}

/** Measures statistics on rows in memory, as `measureTable` does in SQL. */
export function measureRows(statistics: readonly Statistic[], rows: Iterable<CanonicalRow>): readonly State[] {
  const accumulators = statistics.map(createAccumulator);
  for (const row of rows) for (const accumulator of accumulators) accumulator.add(row);
  return accumulators.map((accumulator) => accumulator.state());
}

export function createAccumulator(statistic: Statistic): Accumulator {
  switch (statistic.kind) {
    case "summary":
      return summary(statistic.value);
    case "quantiles": {
      const counts = new Map<number, number>();
      return {
        add(row) {
          const value = measurable(statistic.value, row);
          if (value !== null) count(counts, value);
        },
        state: () => quantilesOf(counts),
      };
    }
    case "categories": {
      const counts = new Map<string, number>();
      return {
        add(row) {
          const value = countedCategory(statistic.value.valueOf(row));
          if (value === null) return;
          count(counts, value);
          if (counts.size > maxCounted) throw new TooManyCategoriesError(statistic.step, counts.size, maxCounted);
        },
        state: () => ({ kind: "categories", counts }),
      };
    }
    case "targets":
      return targets(statistic);
  }
}

/** Computes by Welford's recurrence. */
function summary(value: NumberExpression): Accumulator {
  const { kind, ...empty } = emptySummary;
  const state: { -readonly [Key in keyof Omit<Summary, "kind">]: number } = empty;
  return {
    add(row) {
      const x = measurable(value, row);
      if (x === null) return;
      state.count += 1;
      const difference = x - state.mean;
      state.mean += difference / state.count;
      state.squares += difference * (x - state.mean);
      state.minimum = Math.min(state.minimum, x);
      state.maximum = Math.max(state.maximum, x);
    },
    state: () => ({ kind, ...state }),
  };
}

function targets({ step, value, target, fold }: Extract<Statistic, { readonly kind: "targets" }>): Accumulator {
  const cells = new Map<string | null, Map<number, TargetCell>>();
  return {
    add(row) {
      const sum = measurable(target, row);
      if (sum === null) return;
      addToCell(cells, countedCategory(value.valueOf(row)), fold.valueOf(row) ?? 0, { count: 1, sum });
      if (cells.size > maxCounted) throw new TooManyCategoriesError(step, cells.size, maxCounted);
    },
    state: () => ({ kind: "targets", cells }),
  };
}

function measurable(value: NumberExpression, row: CanonicalRow): number | null {
  const found = value.valueOf(row);
  return found === null || Math.abs(found) > maxMagnitude ? null : found;
}

function count<Value>(counts: Map<Value, number>, value: Value): void {
  counts.set(value, (counts.get(value) ?? 0) + 1);
}
