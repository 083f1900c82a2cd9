import { compileFilter } from "./evaluate";
import type { Expression, OrderTerm } from "./expression";
import { nativeLanguage } from "./native";
import { orderComparator, type Ranked, ranker } from "./order";
import { pageTokenOf, readPageToken } from "./page-token";
import type { QueryLanguage, SearchQuery } from "./query";
import type { SearchContext } from "./record-values";
import type { SearchRow } from "./row";
import { ambiguityCheck, fieldReader } from "./row-values";
import { TopK } from "./top-k";

/** A parsed query. */
export interface PlannedQuery {
  readonly query: SearchQuery;
  readonly language: QueryLanguage;
  readonly filter: Expression | undefined;
  readonly order: readonly OrderTerm[];
}

/**
 * Parses a query.
 *
 * @param now milliseconds since the epoch
 * @throws SearchSyntaxError
 */
export function planQuery(query: SearchQuery, now: number): PlannedQuery {
  const { language = nativeLanguage } = query;
  return {
    query,
    language,
    filter: language.parseFilter(query.filter, now),
    order: language.parseOrder(query.orderBy),
  };
}

export interface Selection {
  readonly rows: readonly SearchRow[];
  readonly total: number;
  readonly nextToken?: string;
}

/**
 * Selects the page of a query in one pass: the first `limit` rows, in order, that satisfy the filter and come after the
 * token.
 *
 * @throws AmbiguousNameError, PageTokenError
 */
export function selectPage(plan: PlannedQuery, rows: Iterable<SearchRow>, context: SearchContext): Selection {
  const { query, language, filter, order } = plan;
  const compare = orderComparator(order);
  const after = query.pageToken === undefined ? undefined : readPageToken(query, order.length, query.pageToken);
  const check = ambiguityCheck(filter, order);
  const meets = filter === undefined ? undefined : compileFilter(filter, (field) => fieldReader(field, context));
  const rank = ranker(order, context, language.ordersNumbersInText);
  // One more row than the page holds shows whether there is another page.
  let total = 0;
  const first = new TopK<Ranked>(query.limit + 1, compare);
  for (const row of rows) {
    if (query.view !== "all" && row.record.lifecycle !== query.view) continue;
    check?.(row);
    if (meets && !meets(row)) continue;
    total += 1;
    const ranked = rank(row);
    if (after && compare(ranked, after) <= 0) continue;
    first.add(ranked);
  }
  const found = first.sorted();
  const page = found.slice(0, query.limit);
  return {
    rows: page.map(({ row }) => row),
    total,
    ...(found.length > page.length ? { nextToken: pageTokenOf(query, page.at(-1)!) } : {}),
  };
}
