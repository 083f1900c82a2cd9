import type { Draws } from "./draws";

/** A box of the unit cube in which a tree predicts one value. */
export interface Leaf {
  readonly low: readonly number[];
  readonly high: readonly number[];
  readonly value: number;
}

export interface Samples {
  /** By parameter, by sample; in [0, 1]. */
  readonly columns: readonly Float64Array[];
  readonly losses: Float64Array;
}

const minLeaf = 3;

/**
 * Grows a regression tree on a bootstrap sample (Breiman, 2001), and returns its leaves, which fill the unit cube. Each
 * split reduces the squared error most.
 */
export function growTree({ columns, losses }: Samples, draws: Draws): readonly Leaf[] {
  const count = losses.length;
  const sampled = Int32Array.from({ length: count }, () => draws.index(count));
  // Each parameter's order is kept through the splits, so that samples are sorted once.
  const orders = columns.map((column) => sampled.toSorted((a, b) => column[a]! - column[b]!));
  const leaves: Leaf[] = [];
  const grow = (sorted: readonly Int32Array[], low: readonly number[], high: readonly number[]): void => {
    const samples = sorted[0] as Int32Array;
    const split = samples.length < 2 * minLeaf ? undefined : bestSplit(sorted);
    if (split === undefined) {
      leaves.push({ low, high, value: samples.reduce((sum, sample) => sum + losses[sample]!, 0) / samples.length });
      return;
    }
    const { parameter, threshold } = split;
    const column = columns[parameter] as Float64Array;
    const isLeft = (sample: number) => column[sample]! < threshold;
    const at = (bounds: readonly number[]) => bounds.map((bound, i) => (i === parameter ? threshold : bound));
    grow(
      sorted.map((order) => order.filter(isLeft)),
      low,
      at(high),
    );
    grow(
      sorted.map((order) => order.filter((sample) => !isLeft(sample))),
      at(low),
      high,
    );
  };
  grow(
    orders,
    columns.map(() => 0),
    columns.map(() => 1),
  );
  return leaves;

  function bestSplit(sorted: readonly Int32Array[]) {
    const total = sorted[0]!.reduce((sum, sample) => sum + losses[sample]!, 0);
    const size = sorted[0]!.length;
    let best: { readonly parameter: number; readonly threshold: number } | undefined;
    let most = (total * total) / size + 1e-12 * Math.abs(total);
    for (const [parameter, order] of sorted.entries()) {
      const column = columns[parameter] as Float64Array;
      let left = 0;
      for (let at = 1; at <= size - minLeaf; at++) {
        left += losses[order[at - 1]!]!;
        const below = column[order[at - 1]!]!;
        const above = column[order[at]!]!;
        if (at < minLeaf || below === above) continue;
        // The squared error falls by what the squares of the sums, each over its number of samples, rise.
        const gain = (left * left) / at + (total - left) ** 2 / (size - at);
        if (gain > most) {
          most = gain;
          best = { parameter, threshold: (below + above) / 2 };
        }
      }
    }
    return best;
  }
}
