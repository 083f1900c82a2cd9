import { alikeTexts } from "../datasets/alike-values";
import { type Category, type ColumnProfile, profiledQuantiles } from "../datasets/profile";
import type { ColumnSchema } from "../datasets/shapes";
import { quantiles } from "../feature-plans/statistics";
import { RunningStats, type StatsState } from "./running-stats";

/*
 * Statistics of a column in a version whose rows are read by several processes: each measures its rows, and the states are
 * merged. Columns with few values are counted, so that all statistics are exact. Of the others, distinct values are
 * estimated and quantiles are those of rounded numbers.
 */

/** A column with more values in a group has no complete counts. */
export const maxCountedValues = 10_000;
/** The most frequent values of such a column that a state has. */
export const frequentValues = 1_000;
/** Significant bits of a number in quantiles: a relative error of at most 2^-10. */
export const quantileBits = 10;
/** Places of the estimate of distinct values. Its standard error is 1 / √places: 2.2 %. */
export const distinctPlaces = 2_048;
const hashRange = 2 ** 53;

export interface ColumnState {
  readonly count: number;
  readonly nulls: number;
  /** The least value: of strings the length, of timestamps ISO 8601. */
  readonly min?: number | string;
  readonly max?: number | string;
  /** The mean and deviation of numbers, of bools (0, 1), and of the numbers of a tensor. */
  readonly stats?: StatsState;
  /** Rows of each number, rounded to `quantileBits`. */
  readonly rounded?: readonly (readonly [number, number])[];
  /** Rows of each value; of the most frequent ones, unless all are counted. */
  readonly values?: readonly (readonly [Category, number])[];
  readonly allCounted?: boolean;
  /** Least 53-bit hash of the values at each place. A place without a value has 2⁵³. */
  readonly minHashes?: readonly number[];
}

/** Merges the states of a column's groups, in their order. */
export class ColumnMerger {
  readonly stats = new RunningStats();
  private count = 0;
  private nulls = 0;
  private min: number | string | undefined;
  private max: number | string | undefined;
  private readonly rounded = new Map<number, number>();
  private readonly values = new Map<Category, number>();
  private allCounted = true;
  private readonly minHashes = new Float64Array(distinctPlaces).fill(hashRange);

  constructor(private readonly column: Pick<ColumnSchema, "name" | "type">) {}

  add(state: ColumnState): void {
    this.count += state.count;
    this.nulls += state.nulls;
    if (state.min !== undefined && (this.min === undefined || state.min < this.min)) this.min = state.min;
    if (state.max !== undefined && (this.max === undefined || state.max > this.max)) this.max = state.max;
    if (state.stats) this.stats.merge(state.stats);
    addAll(this.rounded, state.rounded);
    addAll(this.values, state.values);
    this.allCounted &&= state.allCounted === true;
    for (const [place, hash] of state.minHashes?.entries() ?? []) {
      if (hash < this.minHashes[place]!) this.minHashes[place] = hash;
    }
  }

  profile(): ColumnProfile {
    const { name, type } = this.column;
    const { count, nulls, min, max, stats } = this;
    const base = { name, type, count, nulls };
    const bounds = { min, max };
    const mean = stats.count > 0 ? { mean: stats.mean } : {};
    const std = stats.count > 0 ? { std: Math.sqrt(stats.state().squares / stats.count) } : {};
    if (type === "tensor") return { ...base, ...bounds, ...mean, ...std };
    const distinct = this.allCounted ? this.values.size : this.distinct();
    if (type === "bool") return { ...base, distinct, ...mean, top: this.top() };
    if (type === "string") return { ...base, distinct, ...bounds, top: this.top(), ...this.alike() };
    if (type === "timestamp") return { ...base, distinct, ...bounds };
    const quantiles = this.quantiles(profiledQuantiles);
    const spread = quantiles ? { quantiles } : {};
    return { ...base, distinct, ...bounds, ...mean, ...std, ...spread, ...(type === "int" ? { top: this.top() } : {}) };
  }

  quantiles(probabilities: readonly number[]): readonly number[] | undefined {
    const counts = this.allCounted && this.values.size > 0 ? (this.values as Map<number, number>) : this.rounded;
    return quantiles({ kind: "quantiles", coarse: !this.allCounted, counts }, probabilities);
  }

  private alike(): Pick<ColumnProfile, "alike"> {
    if (!this.allCounted) return {};
    const alike = alikeTexts([...this.values].map(([value, count]) => ({ value: String(value), count })));
    return alike.length > 0 ? { alike } : {};
  }

  private top(): NonNullable<ColumnProfile["top"]> {
    return [...this.values]
      .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
      .slice(0, 10)
      .map(([value, count]) => ({ value, count }));
  }

  /**
   * Estimates the number of values: by the number of empty places while there are some (Whang, Vander-Zanden and Taylor,
   * 1990), else by the mean of the least hashes, which are exponential with the rate of values a place.
   */
  private distinct(): number {
    const empty = this.minHashes.filter((hash) => hash === hashRange).length;
    if (empty > 0) return Math.round(distinctPlaces * Math.log(distinctPlaces / empty));
    const sum = this.minHashes.reduce((total, hash) => total + hash / hashRange, 0);
    return Math.min(this.count, Math.round((distinctPlaces * (distinctPlaces - 1)) / sum));
  }
}

function addAll<Key>(into: Map<Key, number>, from: readonly (readonly [Key, number])[] | undefined): void {
  for (const [key, rows] of from ?? []) into.set(key, (into.get(key) ?? 0) + rows);
}
