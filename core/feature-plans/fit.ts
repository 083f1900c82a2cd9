import { bindStep } from "./bind";
import type { BoundStep } from "./bound-step";
import { asDictionary, columnOf, numbersOf, type RowColumns } from "./columns";
import { checkTypes, columnsRead, createScopes } from "./references";
import type { FeaturePlan, FittedPlan, FittedValues, NamedStep, PlanColumn } from "./shapes";
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
  tooManyCategories,
} from "./statistics";

/** Measures statistics on the training rows; returns a state for each. */
export type Measure = (statistics: readonly Statistic[]) => Promise<readonly State[]>;

/**
 * Fits a plan on the training rows. Steps that read only columns are measured together; steps that read the result of a
 * fitted step are measured in the next round.
 *
 * @param rows number of the training rows
 * @throws InvalidInputError if the plan does not fit the columns; TOO_MANY_VALUES
 */
export async function fitPlan(
  plan: FeaturePlan,
  available: readonly PlanColumn[],
  rows: number,
  measure: Measure,
): Promise<FittedPlan> {
  checkTypes(plan, available);
  const columns = columnsRead(plan, available);
  const scopes = createScopes(plan, columns);
  const fitted: Record<string, FittedValues> = {};
  const finish = (named: NamedStep, step: BoundStep, states: readonly State[]): void => {
    const values = step.finish(states);
    if (Object.keys(values).length > 0) fitted[named.name] = values;
    scopes.set(named, step.compile(values, true).result);
  };
  let open: readonly NamedStep[] = plan.steps;
  while (open.length > 0) {
    const bound: { readonly named: NamedStep; readonly step: BoundStep }[] = [];
    const later: NamedStep[] = [];
    for (const named of open) {
      const scope = scopes.of(named);
      if (scope === undefined) later.push(named);
      else {
        const step = bindStep(named, scope);
        if (step.statistics.length === 0) finish(named, step, []);
        else bound.push({ named, step });
      }
    }
    const states = bound.length === 0 ? [] : await measure(bound.flatMap(({ step }) => step.statistics));
    let next = 0;
    for (const { named, step } of bound) {
      finish(named, step, states.slice(next, next + step.statistics.length));
      next += step.statistics.length;
    }
    open = later;
  }
  return { format: 1, view: plan, columns, rows, fitted };
}

/** Measures a statistic row by row, in the rows' order: equal rows give equal bits, in batches of any size. */
export interface Accumulator {
  add(rows: RowColumns): void;
  state(): State;
}

/** Creates the accumulator that measures a statistic on rows in memory, batch by batch. */
export function createAccumulator(statistic: Statistic): Accumulator {
  switch (statistic.kind) {
    case "summary":
      return summary(statistic);
    case "quantiles": {
      const counts = new Map<number, number>();
      /** Counts of small whole numbers, which many columns have. */
      const small = new Float64Array(smallNumbers);
      return {
        add(rows) {
          const column = numbersOf(columnOf(statistic.value, rows), rows.count);
          for (let i = 0; i < rows.count; i += 1) {
            const value = column[i]!;
            const whole = value | 0;
            if (whole === value && whole >= 0 && whole < smallNumbers) small[whole]! += 1;
            else if (isMeasured(value)) counts.set(value, (counts.get(value) ?? 0) + 1);
          }
        },
        state() {
          const all = new Map(counts);
          for (const [value, count] of small.entries()) if (count > 0) all.set(value, count);
          return quantilesOf(all);
        },
      };
    }
    case "categories": {
      const counts = new Map<string, number>();
      return {
        add(rows) {
          const { codes, values } = asDictionary(columnOf(statistic.value, rows));
          const codeCounts = new Uint32Array(values.length);
          for (let i = 0; i < rows.count; i += 1) codeCounts[codes[i]!]! += 1;
          for (const [code, count] of codeCounts.entries()) {
            const value = values[code] as string | null;
            if (count > 0 && value !== null) counts.set(value, (counts.get(value) ?? 0) + count);
          }
          if (counts.size > maxCounted) throw tooManyCategories(statistic.step, counts.size, maxCounted, false);
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
        const x = column[i]!;
        if (!isMeasured(x)) continue;
        count += 1;
        const difference = x - mean;
        mean += difference / count;
        squares += difference * (x - mean);
        if (x < minimum) minimum = x;
        if (x > maximum) maximum = x;
      }
    },
    state: () => ({ kind: "summary", count, mean, squares, minimum, maximum }),
  };
}

function targets({ step, value, target, fold }: Extract<Statistic, { readonly kind: "targets" }>): Accumulator {
  /** Number and sum, by category and fold, in places that `cells` adds up at the end. */
  const byCategory = new Map<string | null, Cell[]>();
  const cellsOf = (category: string | null): Cell[] => {
    const cells = byCategory.get(category) ?? [];
    byCategory.set(category, cells);
    return cells;
  };
  return {
    add(rows) {
      const { codes, values } = asDictionary(columnOf(value, rows));
      const ofCode: (Cell[] | undefined)[] = new Array(values.length).fill(undefined);
      const [sums, folds] = [target, fold].map((each) => numbersOf(columnOf(each, rows), rows.count)) as [
        Float64Array,
        Float64Array,
      ];
      for (let i = 0; i < rows.count; i += 1) {
        const sum = sums[i]!;
        if (!isMeasured(sum)) continue;
        const code = codes[i]!;
        ofCode[code] ??= cellsOf(values[code] as string | null);
        const cells = ofCode[code];
        const rowFold = folds[i]!;
        const cell = cells[rowFold];
        if (cell === undefined) cells[rowFold] = { count: 1, sum };
        else {
          cell.count += 1;
          cell.sum += sum;
        }
      }
      if (byCategory.size > maxCounted) throw tooManyCategories(step, byCategory.size, maxCounted, false);
    },
    state() {
      const cells = new Map<string | null, Map<number, TargetCell>>();
      for (const [category, folds] of byCategory) {
        for (const [part, cell] of folds.entries()) {
          // A fold without rows of the category is a hole of the array.
          if (cell !== undefined) addToCell(cells, countedCategory(category), part, cell);
        }
      }
      return { kind: "targets", cells };
    },
  };
}

/** Number of rows and sum of a category and fold; absent before its first row. */
type Cell = { count: number; sum: number } | undefined;

const smallNumbers = 1 << 14;

/** Returns whether a value is measured. NaN, a missing value, is not below any number. */
function isMeasured(value: number): boolean {
  return Math.abs(value) <= maxMagnitude;
}
