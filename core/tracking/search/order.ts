import type { OrderTerm } from "./expression";
import { numberOfText, type SearchContext } from "./record-values";
import type { SearchRow } from "./row";
import { valueReader } from "./row-values";

/** The value of a term of the order; `null` if the run has none. */
export type OrderValue = number | string | null;

/** The position of a run in the order of a search. The run may have been deleted. */
export interface OrderKey {
  readonly values: readonly OrderValue[];
  readonly startedAt: number;
  readonly runId: string;
}

export interface Ranked extends OrderKey {
  readonly row: SearchRow;
}

/**
 * Returns a function that reads a row's order values.
 *
 * @param naturalTexts orders params and tags that are numbers as numbers, before other texts
 */
export function ranker(
  terms: readonly OrderTerm[],
  context: SearchContext,
  naturalTexts: boolean,
): (row: SearchRow) => Ranked {
  const readers = terms.map(({ field }) => {
    if (field.kind === "dataset") throw new Error("a run has several datasets: their fields order nothing");
    const read = valueReader(field, context);
    const natural = naturalTexts && (field.kind === "param" || field.kind === "tag");
    return (row: SearchRow): OrderValue => {
      const value = read(row);
      if (value === undefined) return null;
      if (typeof value === "boolean") return Number(value);
      return natural && typeof value === "string" ? (numberOfText(value) ?? value) : value;
    };
  });
  return (row) => ({
    row,
    values: readers.map((read) => read(row)),
    startedAt: row.record.startedAt,
    runId: row.record.runId,
  });
}

/**
 * Compares by the terms, then by start, newest first, then by run id. In both directions NaN comes after the numbers,
 * and missing values come last.
 */
export function orderComparator(terms: readonly OrderTerm[]): (a: OrderKey, b: OrderKey) => number {
  const signs = terms.map(({ ascending }) => (ascending ? 1 : -1));
  return (a, b) => {
    for (let i = 0; i < signs.length; i++) {
      const compared = compareValues(a.values[i]!, b.values[i]!, signs[i]!);
      if (compared !== 0) return compared;
    }
    if (a.startedAt !== b.startedAt) return b.startedAt - a.startedAt;
    return a.runId < b.runId ? -1 : a.runId > b.runId ? 1 : 0;
  };
}

/**
 * Compares two values. In both directions NaN comes after the numbers, and missing values come last.
 *
 * @param sign −1: descending
 */
export function compareValues(a: OrderValue, b: OrderValue, sign: number): number {
  const rank = rankOf(a) - rankOf(b);
  if (rank !== 0) return rank;
  if (a === b || a === null || b === null) return 0;
  if (typeof a !== typeof b) return (typeof a === "number" ? -1 : 1) * sign;
  return a < b ? -sign : a > b ? sign : 0;
}

function rankOf(value: OrderValue): number {
  if (value === null) return 2;
  return typeof value === "number" && Number.isNaN(value) ? 1 : 0;
}
