import { type Category, valueLimit } from "../datasets/profile";
import { compareCategories } from "../row-values";
import { tooManyValues } from "./errors";
import type { FeatureColumn } from "./feature-columns";
import type { FeatureOutput } from "./shapes";

/** Maximum number of distinct values that are counted, which bounds the memory: about 100 bytes each. */
const countedLimit = 1_000_000;

export type OneHotColumn = Extract<FeatureColumn, { readonly kind: "one-hot" }>;
export type OneHotCodes = Pick<
  Extract<FeatureOutput, { readonly kind: "one-hot" }>,
  "vocabulary" | "other" | "buckets"
>;

/** Counts a column's values in the training split, and chooses the vocabulary of its one-hot. */
export class VocabularyCounter {
  private readonly column: string;
  /** The number of values that are kept, if there is a position for others. */
  private readonly kept: number | undefined;
  /** Whether there is such a position even if all values are kept. */
  private readonly always: boolean;
  private readonly counts = new Map<Category, number>();

  constructor({ column, encoding }: OneHotColumn) {
    this.column = column.name;
    this.always = encoding?.encode === "top-k";
    const byDefault = encoding === undefined && column.type === "string" ? valueLimit : undefined;
    this.kept = encoding?.encode === "top-k" ? encoding.k : byDefault;
  }

  /** @throws TOO_MANY_VALUES */
  add(value: Category, rows = 1): void {
    const count = this.counts.get(value) ?? 0;
    const limit = this.kept === undefined ? valueLimit : countedLimit;
    if (count === 0 && this.counts.size === limit) throw tooManyValues(this.column, "feature", limit);
    this.counts.set(value, count + rows);
  }

  /** Returns the number of rows of each value. */
  state(): readonly (readonly [Category, number])[] {
    return [...this.counts];
  }

  /** Returns the vocabulary in ascending order. Of values that are equally frequent, the lesser are kept. */
  finish(): OneHotCodes {
    const { kept } = this;
    const all = [...this.counts];
    if (kept === undefined || (!this.always && all.length <= kept)) {
      return { vocabulary: all.map(([value]) => value).sort(compareCategories) };
    }
    const frequent = all.sort(([a, m], [b, n]) => n - m || compareCategories(a, b)).slice(0, kept);
    return { vocabulary: frequent.map(([value]) => value).sort(compareCategories), other: true };
  }
}
