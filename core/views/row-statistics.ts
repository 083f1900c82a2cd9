import type { CanonicalRow } from "./expression";
import { emptyMoments, maxMagnitude, type Moments, quantilesOf, type State, type Statistic } from "./statistics";

/** Measures statistics on rows in memory, as `statisticQuery` does in SQL. */
export function measureRows(statistics: readonly Statistic[], rows: readonly CanonicalRow[]): readonly State[] {
  return statistics.map((statistic) => measure(statistic, rows));
}

function measure(statistic: Statistic, rows: readonly CanonicalRow[]): State {
  switch (statistic.kind) {
    case "moments":
      return momentsOf(rows.flatMap((row) => measurable(statistic.value.valueOf(row))));
    case "quantiles":
      return quantilesOf(countsOf(rows.flatMap((row) => measurable(statistic.value.valueOf(row)))));
    case "categories":
      return { kind: "categories", counts: countsOf(rows.flatMap((row) => statistic.value.valueOf(row) ?? [])) };
    case "targets": {
      const cells = new Map<string, Map<number, { count: number; sum: number }>>();
      for (const row of rows) {
        const category = statistic.value.valueOf(row);
        const [target] = measurable(statistic.target.valueOf(row));
        if (category === null || target === undefined) continue;
        const folds = cells.get(category) ?? new Map<number, { count: number; sum: number }>();
        cells.set(category, folds);
        const fold = statistic.fold.valueOf(row)!;
        const { count = 0, sum = 0 } = folds.get(fold) ?? {};
        folds.set(fold, { count: count + 1, sum: sum + target });
      }
      return { kind: "targets", cells };
    }
  }
}

function measurable(value: number | null): readonly number[] {
  return value === null || Math.abs(value) > maxMagnitude ? [] : [value];
}

function countsOf<Value>(values: readonly Value[]): ReadonlyMap<Value, number> {
  const counts = new Map<Value, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

/** Computes by Welford's recurrence. */
function momentsOf(values: readonly number[]): Moments {
  let { count, mean, squares, minimum, maximum } = emptyMoments;
  for (const value of values) {
    count += 1;
    const difference = value - mean;
    mean += difference / count;
    squares += difference * (value - mean);
    minimum = Math.min(minimum, value);
    maximum = Math.max(maximum, value);
  }
  return { kind: "moments", count, mean, squares, minimum, maximum };
}
