import type { MetricSummary } from "../metric-store";
import type { RunRecord } from "../shapes";
import type { Expression, OrderTerm } from "./expression";

/** Parses the texts of a query. Every language yields the same expressions. */
export interface QueryLanguage {
  readonly name: "ringmaster" | "mlflow";
  /** Params and tags that are numbers are ordered as numbers, before other texts. */
  readonly ordersNumbersInText: boolean;
  /** @param now milliseconds since the epoch @returns `undefined` if the filter is empty */
  parseFilter(filter: string, now: number): Expression | undefined;
  parseOrder(orderBy: readonly string[]): readonly OrderTerm[];
}

export interface SearchQuery {
  /** Empty: all experiments of the team. */
  readonly experimentIds: readonly string[];
  /** Empty: every run. See docs/search.md for the language. */
  readonly filter: string;
  /** Default: the native language. */
  readonly language?: QueryLanguage;
  /** `metrics.val_loss ASC`, `params.depth`, … Ties are ordered by start, newest first, then by run id. */
  readonly orderBy: readonly string[];
  readonly limit: number;
  /** The token of the previous page; it must belong to the same query. */
  readonly pageToken?: string;
  readonly view: "active" | "deleted" | "all";
}

export interface SearchedRun {
  readonly record: RunRecord;
  /** Sorted by name. */
  readonly metrics: readonly MetricSummary[];
}

export interface SearchPage {
  readonly runs: readonly SearchedRun[];
  /** Number of runs that satisfy the query, on all pages. */
  readonly total: number;
  /** Opaque; absent on the last page. Runs that are created or deleted between pages neither repeat nor hide others. */
  readonly nextToken?: string;
}

/** The port of searches. A search sees every change that was acknowledged before it started. */
export interface RunSearch {
  search(query: SearchQuery): Promise<SearchPage>;
}
