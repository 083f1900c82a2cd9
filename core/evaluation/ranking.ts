/**
 * Metrics of how well a score orders positive rows before negative ones, with the semantics of scikit-learn. Both
 * metrics need only sorted scores: positives and negatives are sorted separately as plain numbers, then merged. O(n log
 * n).
 */
export interface Ranking {
  /** `roc_auc_score`: the probability that a positive scores above a negative, ties counted half. */
  readonly rocAuc: number;
  /** `average_precision_score`: Σ (Rₙ - Rₙ₋₁) Pₙ over the distinct scores, descending; the area under the precision-recall steps. */
  readonly averagePrecision: number;
}

interface Sizes {
  readonly positives: number;
  readonly negatives: number;
}

/**
 * Visits the distinct scores in descending order, with the number of positive and negative rows that score at least as
 * high.
 *
 * @returns `undefined`, without a visit, if there are no positive or no negative rows
 */
function eachThreshold(
  rows: number,
  scoreOf: (row: number) => number,
  isPositive: (row: number) => boolean,
  visit: (truePositives: number, falsePositives: number, sizes: Sizes) => void,
): Sizes | undefined {
  let positiveCount = 0;
  for (let row = 0; row < rows; row += 1) if (isPositive(row)) positiveCount += 1;
  if (positiveCount === 0 || positiveCount === rows) return undefined;
  const sizes = { positives: positiveCount, negatives: rows - positiveCount };
  const positives = new Float64Array(sizes.positives);
  const negatives = new Float64Array(sizes.negatives);
  let p = 0;
  let n = 0;
  for (let row = 0; row < rows; row += 1) {
    if (isPositive(row)) positives[p++] = scoreOf(row);
    else negatives[n++] = scoreOf(row);
  }
  positives.sort();
  negatives.sort();

  // One group of equal scores at a time: p and n count the remaining rows.
  while (p > 0 || n > 0) {
    const score = Math.max(p > 0 ? positives[p - 1]! : -Infinity, n > 0 ? negatives[n - 1]! : -Infinity);
    while (p > 0 && positives[p - 1] === score) p -= 1;
    while (n > 0 && negatives[n - 1] === score) n -= 1;
    visit(sizes.positives - p, sizes.negatives - n, sizes);
  }
  return sizes;
}

/** Ranks rows; `undefined` if there are no positive or no negative rows. */
export function rank(
  rows: number,
  scoreOf: (row: number) => number,
  isPositive: (row: number) => boolean,
): Ranking | undefined {
  let pairsWon = 0;
  let averagePrecision = 0;
  let [positivesAbove, negativesAbove] = [0, 0];
  const sizes = eachThreshold(rows, scoreOf, isPositive, (truePositives, falsePositives, { positives, negatives }) => {
    const tiedPositives = truePositives - positivesAbove;
    const tiedNegatives = falsePositives - negativesAbove;
    pairsWon += tiedPositives * (negatives - falsePositives + tiedNegatives / 2);
    averagePrecision += (tiedPositives / positives) * (truePositives / (truePositives + falsePositives));
    [positivesAbove, negativesAbove] = [truePositives, falsePositives];
  });
  return sizes && { rocAuc: pairsWon / (sizes.positives * sizes.negatives), averagePrecision };
}

export type CurvePoint = readonly [x: number, y: number];

/** Curves of a ranking, from the highest threshold to the lowest. */
export interface RankingCurves {
  /** `roc_curve`: false positive rate and true positive rate, from (0, 0) to (1, 1). */
  readonly roc: readonly CurvePoint[];
  /** Recall and precision at the thresholds of `precision_recall_curve` where recall grows, up to recall 1. */
  readonly precisionRecall: readonly CurvePoint[];
  /** Share of positive rows: the precision of a random order. */
  readonly prevalence: number;
  readonly averagePrecision: number;
}

/** Points closer than this to the last kept point are omitted: less than a pixel of a plot. */
const resolution = 1 / 400;

export function rankingCurves(
  rows: number,
  scoreOf: (row: number) => number,
  isPositive: (row: number) => boolean,
): RankingCurves | undefined {
  const roc: CurvePoint[] = [[0, 0]];
  const precisionRecall: CurvePoint[] = [];
  let averagePrecision = 0;
  let positivesAbove = 0;
  const keep = (points: CurvePoint[], x: number, y: number, isLast: boolean): void => {
    const last = points.at(-1);
    if (isLast || !last || Math.abs(x - last[0]) >= resolution || Math.abs(y - last[1]) >= resolution) {
      points.push([x, y]);
    }
  };
  const sizes = eachThreshold(rows, scoreOf, isPositive, (truePositives, falsePositives, { positives, negatives }) => {
    const isLast = truePositives + falsePositives === rows;
    keep(roc, falsePositives / negatives, truePositives / positives, isLast);
    // Without a further positive row, recall stays and average precision does not change.
    if (truePositives === positivesAbove) return;
    const precision = truePositives / (truePositives + falsePositives);
    averagePrecision += ((truePositives - positivesAbove) / positives) * precision;
    positivesAbove = truePositives;
    keep(precisionRecall, truePositives / positives, precision, truePositives === positives);
  });
  return sizes && { roc, precisionRecall, prevalence: sizes.positives / rows, averagePrecision };
}

/**
 * Computes both metrics for weighted rows that are already sorted, best score first; NaN if positives or negatives have
 * no weight.
 *
 * @param order the place of each row's weight
 */
export function rocAucAndPrecision(
  order: Uint32Array,
  scores: Float64Array,
  positives: Uint8Array,
  weights: Uint32Array,
): Ranking {
  let positiveWeight = 0;
  let negativeWeight = 0;
  for (let at = 0; at < order.length; at += 1) {
    if (positives[at] === 1) positiveWeight += weights[order[at]!]!;
    else negativeWeight += weights[order[at]!]!;
  }
  if (positiveWeight === 0 || negativeWeight === 0) return { rocAuc: Number.NaN, averagePrecision: Number.NaN };
  let pairsWon = 0;
  let averagePrecision = 0;
  let positivesSoFar = 0;
  let negativesSoFar = 0;
  for (let at = 0; at < order.length; ) {
    const score = scores[at];
    let tiedPositives = 0;
    let tiedNegatives = 0;
    for (; at < order.length && scores[at] === score; at += 1) {
      if (positives[at] === 1) tiedPositives += weights[order[at]!]!;
      else tiedNegatives += weights[order[at]!]!;
    }
    positivesSoFar += tiedPositives;
    negativesSoFar += tiedNegatives;
    pairsWon += tiedPositives * (negativeWeight - negativesSoFar + tiedNegatives / 2);
    if (tiedPositives > 0) {
      averagePrecision += (tiedPositives / positiveWeight) * (positivesSoFar / (positivesSoFar + negativesSoFar));
    }
  }
  return { rocAuc: pairsWon / (positiveWeight * negativeWeight), averagePrecision };
}
