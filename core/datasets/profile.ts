import type { Category } from "../row-values";
import type { ColumnType, SplitName } from "./shapes";

export type { Category } from "../row-values";

/** Maximum number of distinct values of a one-hot, a label's classes or a slice. */
export const valueLimit = 1_000;
/** Probabilities of the quantiles in a profile. */
export const profiledQuantiles = [0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99] as const;
/** Above this many rows distinct counts (HyperLogLog) and quantiles (t-digest) are approximate. */
export const exactProfileRows = 1_000_000;

/** A text of a column with the number of rows that have it. */
export interface CountedText {
  readonly value: string;
  readonly count: number;
}

export interface ColumnProfile {
  readonly name: string;
  readonly type: ColumnType;
  /** Number of rows that have a value. */
  readonly count: number;
  readonly nulls: number;
  /** String: shortest and longest length. Timestamp: ISO 8601. Tensor: minimum and maximum over its numbers. */
  readonly min?: number | string;
  readonly max?: number | string;
  readonly mean?: number;
  /** Population standard deviation. */
  readonly std?: number;
  readonly distinct?: number;
  /** Values at `profiledQuantiles`. */
  readonly quantiles?: readonly number[];
  /** The most frequent values first, at most ten; for strings, ints and bools. */
  readonly top?: readonly { readonly value: Category; readonly count: number }[];
  /** Groups of texts that differ only by case, blanks or a mark at their end, if there are some. */
  readonly alike?: readonly (readonly CountedText[])[];
}

/** The statistics of a validated version; stored as JSON in the content store. */
export interface DatasetProfile {
  readonly dataset: { readonly name: string; readonly version: number; readonly digest: string };
  readonly rowCount: number;
  /** Whether distinct counts and quantiles are exact. */
  readonly exact: boolean;
  readonly columns: readonly ColumnProfile[];
  /** Rows of each class by split, for a label with classes. */
  readonly classes?: readonly { readonly value: Category; readonly rows: Readonly<Record<SplitName, number>> }[];
  /** Share of rows that equal an earlier one in every column. */
  readonly duplicateShare: number;
  /** Share of the test split's rows that equal a training row in every column. Such rows measure nothing. */
  readonly leakedShare: number;
}

/** Two words and the beginning of a third, or a text of a script that has no blanks between words. */
export const severalWords = "\\S\\s+\\S+\\s+\\S|[\\p{Han}\\p{Hiragana}\\p{Katakana}\\p{Thai}].{9}";
const sentence = new RegExp(severalWords.replaceAll(/\\p\{(\w+)\}/g, "\\p{Script=$1}"), "u");

/** Whether a column has another text in most of its rows, with several words: no category, but free text. */
export function hasTexts({ type, count, distinct = 0, top = [] }: ColumnProfile): boolean {
  if (type !== "string" || distinct <= 20 || 2 * distinct <= count || top.length === 0) return false;
  return 2 * top.filter(({ value }) => sentence.test(String(value))).length >= top.length;
}
