import { badRequest } from "../errors";
import type { NumberExpression, TextExpression } from "./expression";

/** A measurement of a step on the training rows. Infinite numbers and those above 1e100 are omitted, like missing ones. */
export type Statistic =
  | { readonly kind: "summary"; readonly value: NumberExpression }
  | { readonly kind: "quantiles"; readonly value: NumberExpression }
  | { readonly kind: "categories"; readonly step: string; readonly value: TextExpression }
  | {
      readonly kind: "targets";
      readonly step: string;
      readonly value: TextExpression;
      readonly target: NumberExpression;
      readonly fold: NumberExpression;
    };

export const maxMagnitude = 1e100;
/** Above this number of distinct values, quantiles are those of values with `coarseBits` significant bits. */
const maxDistinct = 2 ** 18;
const coarseBits = 12;
/** Maximum number of distinct texts that are counted, which bounds the memory: about 100 bytes each. */
export const maxCounted = 1_000_000;

export interface Summary {
  readonly kind: "summary";
  readonly count: number;
  readonly mean: number;
  /** Sum of squared differences from the mean. */
  readonly squares: number;
  readonly minimum: number;
  readonly maximum: number;
}

/** The number of rows by value. */
export interface Quantiles {
  readonly kind: "quantiles";
  readonly coarse: boolean;
  readonly counts: ReadonlyMap<number, number>;
}

export interface Categories {
  readonly kind: "categories";
  readonly counts: ReadonlyMap<string, number>;
}

/** Number of rows and sum of the target. */
export interface TargetCell {
  readonly count: number;
  readonly sum: number;
}

/** Cells by category and fold. The category `null` has the rows without one: they count in the mean of all rows. */
export interface Targets {
  readonly kind: "targets";
  readonly cells: ReadonlyMap<string | null, ReadonlyMap<number, TargetCell>>;
}

export function addToCell(
  cells: Map<string | null, Map<number, TargetCell>>,
  category: string | null,
  fold: number,
  { count, sum }: TargetCell,
): void {
  const folds = cells.get(category) ?? new Map<number, TargetCell>();
  if (folds.size === 0) cells.set(category, folds);
  const cell = folds.get(fold);
  folds.set(fold, cell === undefined ? { count, sum } : { count: cell.count + count, sum: cell.sum + sum });
}

/**
 * Returns the category; `null` if a query cannot have its text (it has a U+0000). Such a category counts as unseen.
 */
export function countedCategory(value: string | null): string | null {
  return value?.includes(nul) ? null : value;
}
const nul = String.fromCharCode(0);

/** The result of a measurement on some of the rows. States of parts are merged, in any grouping. */
export type State = Summary | Quantiles | Categories | Targets;

export const emptySummary: Summary = {
  kind: "summary",
  count: 0,
  mean: 0,
  squares: 0,
  minimum: Number.POSITIVE_INFINITY,
  maximum: Number.NEGATIVE_INFINITY,
};

export function mergeStates(a: State, b: State): State {
  if (a.kind === "summary" && b.kind === "summary") return mergeSummaries(a, b);
  if (a.kind === "quantiles" && b.kind === "quantiles") return mergeQuantiles(a, b);
  if (a.kind === "categories" && b.kind === "categories") {
    return { kind: "categories", counts: sumOf([a.counts, b.counts]) };
  }
  if (a.kind === "targets" && b.kind === "targets") return mergeTargets(a, b);
  throw new Error(`a state of ${a.kind} cannot be merged with one of ${b.kind}`);
}

/** Merges by Chan, Golub and LeVeque's formula (see `RunningStats`). */
function mergeSummaries(a: Summary, b: Summary): Summary {
  const count = a.count + b.count;
  if (count === 0) return a;
  const difference = b.mean - a.mean;
  return {
    kind: "summary",
    count,
    mean: a.mean + difference * (b.count / count),
    squares: a.squares + b.squares + difference * difference * ((a.count / count) * b.count),
    minimum: Math.min(a.minimum, b.minimum),
    maximum: Math.max(a.maximum, b.maximum),
  };
}

function mergeQuantiles(a: Quantiles, b: Quantiles): Quantiles {
  const coarse = a.coarse || b.coarse;
  const counts = sumOf(coarse ? [coarsened(a.counts), coarsened(b.counts)] : [a.counts, b.counts]);
  return quantilesOf(counts, coarse);
}

/** Returns a state, and rounds its values if there are too many. */
export function quantilesOf(counts: ReadonlyMap<number, number>, coarse = false): Quantiles {
  if (coarse || counts.size <= maxDistinct) return { kind: "quantiles", coarse, counts };
  return { kind: "quantiles", coarse: true, counts: coarsened(counts) };
}

function coarsened(counts: ReadonlyMap<number, number>): ReadonlyMap<number, number> {
  const result = new Map<number, number>();
  for (const [value, count] of counts) {
    const rounded = coarse(value);
    result.set(rounded, (result.get(rounded) ?? 0) + count);
  }
  return result;
}

/** Rounds to `coarseBits` significant bits: a relative error of at most 2^-12. */
function coarse(value: number): number {
  if (value === 0) return 0;
  const unit = 2 ** (Math.floor(Math.log2(Math.abs(value))) - coarseBits + 1);
  return Math.floor(value / unit + 0.5) * unit;
}

function mergeTargets(a: Targets, b: Targets): Targets {
  const cells = new Map([...a.cells].map(([category, folds]) => [category, new Map(folds)]));
  for (const [category, folds] of b.cells) {
    for (const [fold, cell] of folds) addToCell(cells, category, fold, cell);
  }
  return { kind: "targets", cells };
}

function sumOf<Key>(parts: readonly ReadonlyMap<Key, number>[]): ReadonlyMap<Key, number> {
  const sum = new Map<Key, number>();
  for (const part of parts) for (const [key, count] of part) sum.set(key, (sum.get(key) ?? 0) + count);
  return sum;
}

/** Returns the quantiles by linear interpolation (NumPy's default); none if there are no values. */
export function quantiles({ counts }: Quantiles, probabilities: readonly number[]): readonly number[] | undefined {
  const sorted = [...counts].sort(([a], [b]) => a - b);
  const rows = sorted.reduce((sum, [, count]) => sum + count, 0);
  if (rows === 0) return undefined;
  const ends: number[] = [];
  for (const [, count] of sorted) ends.push((ends.at(-1) ?? 0) + count);
  const at = (rank: number): number => {
    let [low, high] = [0, ends.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ends[middle]! > rank) high = middle;
      else low = middle + 1;
    }
    return sorted[low]![0];
  };
  return probabilities.map((probability) => {
    const rank = (rows - 1) * probability;
    const below = at(Math.floor(rank));
    return below + (at(Math.ceil(rank)) - below) * (rank - Math.floor(rank));
  });
}

export type StoredState =
  | { readonly kind: "summary"; readonly values: readonly number[] }
  | { readonly kind: "quantiles"; readonly coarse: boolean; readonly counts: readonly (readonly [number, number])[] }
  | { readonly kind: "categories"; readonly counts: readonly (readonly [string, number])[] }
  | {
      readonly kind: "targets";
      readonly cells: readonly (readonly [string | null, readonly (readonly [number, TargetCell])[]])[];
    };

export function storedState(state: State): StoredState {
  switch (state.kind) {
    case "summary": {
      const { kind, count, mean, squares, minimum, maximum } = state;
      return { kind, values: count === 0 ? [] : [count, mean, squares, minimum, maximum] };
    }
    case "quantiles":
      return { ...state, counts: [...state.counts] };
    case "categories":
      return { ...state, counts: [...state.counts] };
    case "targets":
      return { kind: state.kind, cells: [...state.cells].map(([category, folds]) => [category, [...folds]] as const) };
  }
}

export function stateOf(stored: StoredState): State {
  switch (stored.kind) {
    case "summary": {
      const [count, mean, squares, minimum, maximum] = stored.values as [number, number, number, number, number];
      return stored.values.length === 0 ? emptySummary : { kind: stored.kind, count, mean, squares, minimum, maximum };
    }
    case "quantiles":
      return { ...stored, counts: new Map(stored.counts) };
    case "categories":
      return { ...stored, counts: new Map(stored.counts) };
    case "targets":
      return { kind: stored.kind, cells: new Map(stored.cells.map(([category, folds]) => [category, new Map(folds)])) };
  }
}

/**
 * Thrown when a column has more categories than an encoding takes.
 *
 * @param takesMinCount whether the step can omit rare categories
 */
export function tooManyCategories(step: string, count: number, limit: number, takesMinCount: boolean) {
  const remedy = takesMinCount ? "set minCount to omit rare ones, or use hash" : "use hash";
  return badRequest(
    "TOO_MANY_VALUES",
    `step ${step} has ${count} categories in the training rows, and its maximum is ${limit}; ${remedy}, which needs no vocabulary`,
    { step, found: count, limit },
  );
}
