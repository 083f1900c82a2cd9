import { chiSquareTail } from "./distributions";

/** The probability that a random positive row has a higher score than a random negative one, and its standard error. */
export interface Auc {
  readonly auc: number;
  readonly error: number;
}

/**
 * Estimates the area under the ROC curve with the standard error of DeLong, DeLong and Clarke-Pearson (1988), from
 * midranks as in Sun and Xu (2014). A tie counts one half.
 *
 * @param isPositive 1 for positive rows; both kinds have at least two rows
 */
export function aucOf(scores: Float64Array, isPositive: Uint8Array): Auc {
  const order = Uint32Array.from(scores, (_score, row) => row).sort((a, b) => scores[a]! - scores[b]!);
  const positives = isPositive.reduce((sum, one) => sum + one, 0);
  const negatives = scores.length - positives;
  /** Sums of the placements of both kinds: the share of the other kind below a row. */
  const placements = [new Placements(), new Placements()] as const;
  let [positivesBelow, negativesBelow] = [0, 0];
  for (let from = 0; from < order.length; ) {
    let to = from;
    let [tiedPositives, tiedNegatives] = [0, 0];
    while (to < order.length && scores[order[to]!] === scores[order[from]!]) {
      if (isPositive[order[to]!] === 1) tiedPositives += 1;
      else tiedNegatives += 1;
      to += 1;
    }
    placements[1].add((negativesBelow + tiedNegatives / 2) / negatives, tiedPositives);
    placements[0].add(1 - (positivesBelow + tiedPositives / 2) / positives, tiedNegatives);
    positivesBelow += tiedPositives;
    negativesBelow += tiedNegatives;
    from = to;
  }
  const variance = placements[1].variance() / positives + placements[0].variance() / negatives;
  return { auc: placements[1].mean(), error: Math.sqrt(variance) };
}

/** Count, mean and variance of repeated values. */
class Placements {
  private count = 0;
  private sum = 0;
  private squares = 0;

  add(value: number, times: number): void {
    this.count += times;
    this.sum += times * value;
    this.squares += times * value ** 2;
  }

  mean(): number {
    return this.sum / this.count;
  }

  variance(): number {
    return Math.max(0, this.squares - this.sum ** 2 / this.count) / (this.count - 1);
  }
}

/** Returns the probability that a standard normal variable is above a value. */
export function normalTail(value: number): number {
  const outside = chiSquareTail(value ** 2, 1) / 2;
  return value >= 0 ? outside : 1 - outside;
}
