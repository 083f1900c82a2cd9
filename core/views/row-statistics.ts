import { columnOf, columnsOf, numbersOf, type RowColumns, valueIn } from "./columns";
import { TooManyCategoriesError } from "./errors";
import type { CanonicalRow } from "./expression";
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

/** Measures a statistic row by row, in the rows' order: equal rows give equal bits, in batches of any size. */
export interface Accumulator {
  add(rows: RowColumns): void;
  state(): State;
}

/** Measures statistics on rows in memory, as `measureTable` does in SQL. */
export function measureRows(statistics: readonly Statistic[], rows: readonly CanonicalRow[]): readonly State[] {
  const columns = columnsOf(rows);
  return statistics.map((statistic) => {
    const accumulator = createAccumulator(statistic);
    accumulator.add(columns);
    return accumulator.state();
  });
}

export function createAccumulator(statistic: Statistic): Accumulator {
  switch (statistic.kind) {
    case "summary":
      return summary(statistic);
    case "quantiles": {
      const counts = new Map<number, number>();
      return {
        add(rows) {
          const column = numbersOf(columnOf(statistic.value, rows), rows.count);
          for (let i = 0; i < rows.count; i += 1) {
            const value = measurable(column, i);
            if (value !== null) counts.set(value, (counts.get(value) ?? 0) + 1);
          }
        },
        state: () => quantilesOf(counts),
      };
    }
    case "categories": {
      const counts = new Map<string, number>();
      return {
        add(rows) {
          const column = columnOf(statistic.value, rows);
          for (let i = 0; i < rows.count; i += 1) {
            const value = valueIn(column, i) as string | null;
            if (value !== null) counts.set(value, (counts.get(value) ?? 0) + 1);
          }
          if (counts.size > maxCounted) throw new TooManyCategoriesError(statistic.step, counts.size, maxCounted);
        },
        state: () => ({
          kind: "categories",
          counts: new Map([...counts].filter(([value]) => countedCategory(value) !== null)),
        }),
      };
    }
    case "targets":
      return targets(statistic);
  }
}

/** Computes by Welford's recurrence. */
function summary({ value }: Extract<Statistic, { readonly kind: "summary" }>): Accumulator {
  let { count, mean, squares, minimum, maximum }: Summary = emptySummary;
  return {
    add(rows) {
      const column = numbersOf(columnOf(value, rows), rows.count);
      for (let i = 0; i < rows.count; i += 1) {
        const x = measurable(column, i);
        if (x === null) continue;
        count += 1;
        const difference = x - mean;
        mean += difference / count;
        squares += difference * (x - mean);
        minimum = Math.min(minimum, x);
        maximum = Math.max(maximum, x);
      }
    },
    state: () => ({ kind: "summary", count, mean, squares, minimum, maximum }),
  };
}

function targets({ step, value, target, fold }: Extract<Statistic, { readonly kind: "targets" }>): Accumulator {
  /** Number and sum, by category and fold, in places that `cells` adds up at the end. */
  const found = new Map<string | null, ({ count: number; sum: number } | undefined)[]>();
  return {
    add(rows) {
      const categories = columnOf(value, rows);
      const [sums, folds] = [target, fold].map((each) => numbersOf(columnOf(each, rows), rows.count)) as [
        Float64Array,
        Float64Array,
      ];
      for (let i = 0; i < rows.count; i += 1) {
        const sum = measurable(sums, i);
        if (sum === null) continue;
        const category = valueIn(categories, i) as string | null;
        let cells = found.get(category);
        if (cells === undefined) {
          cells = [];
          found.set(category, cells);
        }
        const own = folds[i]!;
        const cell = cells[own];
        if (cell === undefined) cells[own] = { count: 1, sum };
        else {
          cell.count += 1;
          cell.sum += sum;
        }
      }
      if (found.size > maxCounted) throw new TooManyCategoriesError(step, found.size, maxCounted);
    },
    state() {
      const cells = new Map<string | null, Map<number, TargetCell>>();
      for (const [category, folds] of found) {
        for (const [own, cell] of folds.entries()) {
          // A fold without rows of the category is a hole of the array.
          if (cell !== undefined) addToCell(cells, countedCategory(category), own, cell);
        }
      }
      return { kind: "targets", cells };
    },
  };
}

/** Returns the value; `null` if it is missing or not measured. */
function measurable(numbers: Float64Array, row: number): number | null {
  const value = numbers[row]!;
  // NaN is not below either.
  return Math.abs(value) <= maxMagnitude ? value : null;
}
