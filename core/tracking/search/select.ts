import { compileFilter, type SearchContext } from "./evaluate";
import type { Expression, OrderTerm } from "./expression";
import { nativeLanguage } from "./native";
import { ambiguityCheck, fieldReader, orderComparator, pageTokenOf, type Ranked, ranker, readPageToken } from "./order";
import type { QueryLanguage, SearchQuery } from "./query";
import type { SearchRow } from "./row";

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

interface Selection {
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

/** Keeps the first `count` items of an order in a heap whose root is the last of them. */
export class TopK<T> {
  private readonly heap: T[] = [];
  constructor(
    private readonly count: number,
    private readonly compare: (a: T, b: T) => number,
  ) {}

  add(item: T): void {
    const { heap, compare } = this;
    if (heap.length < this.count) {
      heap.push(item);
      this.siftUp(heap.length - 1);
    } else if (heap.length > 0 && compare(item, heap[0]!) < 0) {
      heap[0] = item;
      this.siftDown();
    }
  }

  sorted(): readonly T[] {
    return [...this.heap].sort(this.compare);
  }

  private siftUp(from: number): void {
    const { heap, compare } = this;
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (compare(heap[at]!, heap[parent]!) <= 0) return;
      [heap[at], heap[parent]] = [heap[parent]!, heap[at]!];
      at = parent;
    }
  }

  private siftDown(): void {
    const { heap, compare } = this;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      if (left >= heap.length) return;
      const right = left + 1;
      const greater = right < heap.length && compare(heap[right]!, heap[left]!) > 0 ? right : left;
      if (compare(heap[greater]!, heap[at]!) <= 0) return;
      [heap[at], heap[greater]] = [heap[greater]!, heap[at]!];
      at = greater;
    }
  }
}
