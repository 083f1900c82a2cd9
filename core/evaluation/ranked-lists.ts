import { requireRows } from "./errors";

/**
 * Metrics of ranked lists: what a model that scores documents makes of each query. A document is relevant where its relevance is above 0.
 * Equal scores have no order among them, so no metric rewards the order in which documents happen to come.
 */
export interface RankedList {
  /** `[documents]`, at least 0: a grade, or 0 and 1. */
  readonly relevance: ArrayLike<number>;
  /** `[documents]`, the higher the better. */
  readonly scores: ArrayLike<number>;
}

/** Means over the lists, each list counting once; a list without a relevant document counts 0. */
export interface ListMetrics {
  /** `ndcg_score(k=k)` */
  readonly ndcg: number;
  readonly mrr: number;
  readonly precisionAtK: number;
}

/** @throws NoRowsError where there are no lists, or one of them is empty @throws RangeError for a k or a relevance that is none */
export function listMetrics(lists: readonly RankedList[], k = Number.POSITIVE_INFINITY): ListMetrics {
  requireRows(lists.length);
  const mean = (metric: (list: RankedList) => number): number =>
    lists.reduce((sum, list) => sum + metric(list), 0) / lists.length;
  return {
    ndcg: mean((list) => ndcg(list, k)),
    mrr: mean(reciprocalRank),
    precisionAtK: mean((list) => precisionAt(list, k)),
  };
}

/**
 * `ndcg_score`: the discounted gain of the first k as a share of the best order's, gain being the relevance itself, discount
 * 1 / log₂(rank + 1). Documents of one score share the discounts of the ranks that they hold (McSherry and Najork, 2008). 0 where nothing is relevant.
 */
export function ndcg(list: RankedList, k = Number.POSITIVE_INFINITY): number {
  const groups = groupsOf(list, k);
  const best = Array.from(list.relevance).sort((a, b) => b - a);
  let ideal = 0;
  for (let rank = 0; rank < Math.min(best.length, k); rank += 1) ideal += best[rank]! / Math.log2(rank + 2);
  if (ideal === 0) return 0;
  let gain = 0;
  for (const { first, relevance } of groups) {
    const mean = relevance.reduce((sum, each) => sum + each, 0) / relevance.length;
    for (let rank = first; rank < Math.min(first + relevance.length, k); rank += 1) gain += mean / Math.log2(rank + 2);
  }
  return gain / ideal;
}

/**
 * 1 / rank of the first relevant document, 0 where there is none. Among equal scores it comes last: the rank is the number of documents that
 * score no lower, as in `label_ranking_average_precision_score`, which this is where one document is relevant.
 */
export function reciprocalRank(list: RankedList): number {
  const found = groupsOf(list).find(({ relevance }) => relevance.some((each) => each > 0));
  return found ? 1 / (found.first + found.relevance.length) : 0;
}

/** The relevant share of the first k, or of all where they are fewer. Of a group of equal scores that k cuts, the expected share. */
export function precisionAt(list: RankedList, k = Number.POSITIVE_INFINITY): number {
  const taken = Math.min(k, list.scores.length);
  let relevant = 0;
  for (const { first, relevance } of groupsOf(list, k)) {
    const share = Math.min(relevance.length, Math.max(0, taken - first)) / relevance.length;
    relevant += share * relevance.filter((each) => each > 0).length;
  }
  return relevant / taken;
}

interface Group {
  /** The rank of its first document, from 0. */
  readonly first: number;
  readonly relevance: readonly number[];
}

/** The list in groups of equal scores, the highest first. */
function groupsOf({ relevance, scores }: RankedList, k = 1): readonly Group[] {
  requireRows(relevance.length, scores.length);
  if (!(k >= 1) || (Number.isFinite(k) && !Number.isInteger(k))) {
    throw new RangeError(`k is ${k}, but the first k documents must be a whole number, at least 1`);
  }
  const order = Array.from(scores, (_, at) => at).sort((a, b) => scores[b]! - scores[a]!);
  const groups: { first: number; relevance: number[] }[] = [];
  order.forEach((document, rank) => {
    const grade = relevance[document]!;
    const score = scores[document]!;
    if (!(grade >= 0))
      throw new RangeError(`the relevance of document ${document} is ${grade}, but must be at least 0`);
    if (Number.isNaN(score)) throw new RangeError(`the score of document ${document} is NaN, but must be a number`);
    if (rank > 0 && scores[order[rank - 1]!] === score) groups.at(-1)!.relevance.push(grade);
    else groups.push({ first: rank, relevance: [grade] });
  });
  return groups;
}
