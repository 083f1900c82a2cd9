import type { MetricSummary } from "../metric-store";
import type { RunRecord } from "../run-record";
import type { Expression, OrderTerm } from "./expression";

/** Reads the texts of a query. Every language yields the same expressions. */
export interface QueryLanguage {
  readonly name: "ringmaster" | "mlflow";
  /** Params and tags that are numbers are ordered as numbers, before other texts. */
  readonly ordersNumbersInText: boolean;
  /** @param now milliseconds since the epoch @returns `undefined` where the filter is empty */
  parseFilter(filter: string, now: number): Expression | undefined;
  parseOrder(orderBy: readonly string[]): readonly OrderTerm[];
}

export interface SearchQuery {
  /** Empty: all of the team's. */
  readonly experimentIds: readonly string[];
  /** Empty: every run. See docs/search.md for the language. */
  readonly filter: string;
  /** Default: the native language. */
  readonly language?: QueryLanguage;
  /** `metrics.val_loss ASC`, `params.depth`, … Ties and the rest: newest start first, then by run id. */
  readonly orderBy: readonly string[];
  readonly limit: number;
  /** Of the page before. @throws InvalidInputError where it belongs to another query. */
  readonly pageToken?: string;
  readonly view: "active" | "deleted" | "all";
}

export interface SearchedRun {
  readonly record: RunRecord;
  /** By name. */
  readonly metrics: readonly MetricSummary[];
}

export interface SearchPage {
  readonly runs: readonly SearchedRun[];
  /** How many runs meet the query, on this page and all others. */
  readonly total: number;
  /** Opaque; absent on the last page. Runs that come or go meanwhile neither repeat nor hide another. */
  readonly nextToken?: string;
}

/** Sees every change that was acknowledged before the search began. */
export interface RunSearch {
  search(query: SearchQuery): Promise<SearchPage>;
}
