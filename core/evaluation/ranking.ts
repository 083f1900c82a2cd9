/**
 * Metrics of how a score orders positive rows before negative ones, with the semantics of scikit-learn. Both need the scores sorted, and
 * nothing else: positives and negatives are sorted apart as plain numbers, then merged. O(n log n).
 */
export interface Ranking {
  /** `roc_auc_score`: the probability that a positive scores above a negative, ties counted half. */
  readonly rocAuc: number;
  /** `average_precision_score`: Σ (Rₙ - Rₙ₋₁) Pₙ over the distinct scores, descending; the area under the precision-recall steps. */
  readonly averagePrecision: number;
}

/** `undefined` where one of the two kinds has no rows: there is no order to judge. */
export function rank(
  rows: number,
  scoreOf: (row: number) => number,
  isPositive: (row: number) => boolean,
): Ranking | undefined {
  let positiveCount = 0;
  for (let row = 0; row < rows; row += 1) if (isPositive(row)) positiveCount += 1;
  if (positiveCount === 0 || positiveCount === rows) return undefined;
  const positives = new Float64Array(positiveCount);
  const negatives = new Float64Array(rows - positiveCount);
  let p = 0;
  let n = 0;
  for (let row = 0; row < rows; row += 1) {
    if (isPositive(row)) positives[p++] = scoreOf(row);
    else negatives[n++] = scoreOf(row);
  }
  positives.sort();
  negatives.sort();

  // From the highest score down, a group of equal scores at a time: p and n count the rows that are left below.
  let pairsWon = 0;
  let averagePrecision = 0;
  while (p > 0 || n > 0) {
    const score = Math.max(p > 0 ? positives[p - 1]! : -Infinity, n > 0 ? negatives[n - 1]! : -Infinity);
    const [positivesBefore, negativesBefore] = [p, n];
    while (p > 0 && positives[p - 1] === score) p -= 1;
    while (n > 0 && negatives[n - 1] === score) n -= 1;
    const tiedPositives = positivesBefore - p;
    const tiedNegatives = negativesBefore - n;
    pairsWon += tiedPositives * (n + tiedNegatives / 2);
    const positivesSoFar = positiveCount - p;
    const precision = positivesSoFar / (positivesSoFar + negatives.length - n);
    averagePrecision += (tiedPositives / positiveCount) * precision;
  }
  return { rocAuc: pairsWon / (positiveCount * negatives.length), averagePrecision };
}

/**
 * The same of weighted rows that are in order already, best score first; NaN where one of the two kinds has no weight.
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
