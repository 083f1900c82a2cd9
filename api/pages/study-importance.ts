import { type Draws, drawsFor } from "../../core/tuning/draws";
import { lossesOf, type Objective, type ObservedTrial } from "../../core/tuning/history";
import {
  indexOfChoice,
  internalBounds,
  type Json,
  type Parameter,
  type Space,
  toInternal,
} from "../../core/tuning/space";

const trees = 48;
const minTrials = 10;

/**
 * Returns the share of the first objective's variance over the space that each parameter explains alone (functional
 * ANOVA; Hutter, Hoos and Leyton-Brown, 2014). What is missing to 1 comes from interactions. Trials are compared after
 * the last epoch that a quarter of them have reached. A parameter that is not active in a trial has a random value
 * there. `undefined` with fewer than 10 comparable trials, or if all have the same value.
 */
export function importanceOf(
  trials: readonly ObservedTrial[],
  space: Space,
  objectives: readonly Objective[],
): Readonly<Record<string, number>> | undefined {
  const compared = comparable(trials, objectives);
  if (compared.length < minTrials) return undefined;
  const names = Object.keys(space);
  const columns = names.map((name, at) => {
    const draws = drawsFor(0, at);
    return Float64Array.from(compared, ({ trial }) =>
      unitOf(space[name] as Parameter, trial.params[name], draws.uniform()),
    );
  });
  const losses = Float64Array.from(compared, ({ loss }) => loss);
  const shares = names.map(() => 0);
  let counted = 0;
  for (let tree = 0; tree < trees; tree++) {
    const leaves = growTree({ columns, losses }, drawsFor(0, names.length, tree));
    const variances = decompose(leaves);
    if (variances === undefined) continue;
    counted++;
    for (const [at, { own, total }] of variances.entries()) shares[at]! += own / total;
  }
  if (counted === 0) return undefined;
  return Object.fromEntries(names.map((name, at) => [name, shares[at]! / counted]));
}

function comparable(trials: readonly ObservedTrial[], objectives: readonly Objective[]) {
  const known = trials.flatMap((trial) => {
    const loss = lossesOf(trial, objectives)?.[0];
    return loss === undefined ? [] : { trial, loss, epoch: trial.reports.at(-1)?.epoch ?? Infinity };
  });
  const enough = Math.max(minTrials, Math.ceil(known.length / 4));
  const reached = known.map(({ epoch }) => epoch).sort((a, b) => b - a)[enough - 1] ?? 0;
  return known.flatMap((one) => {
    if (one.epoch < reached) return [];
    const report = reached === Infinity ? undefined : one.trial.reports.findLast(({ epoch }) => epoch <= reached);
    const { values: _, ...rest } = one.trial;
    const loss = report ? lossesOf({ ...rest, reports: [report] }, objectives.slice(0, 1))?.[0] : one.loss;
    return loss === undefined ? [] : { trial: one.trial, loss };
  });
}

/** Maps a value to [0, 1] on the scale on which it is searched. @param missing for a parameter that is not active */
function unitOf(parameter: Parameter, value: Json | undefined, missing: number): number {
  if (value === undefined) return missing;
  if (parameter.type === "categorical") {
    return (indexOfChoice(parameter.choices, value) + 0.5) / parameter.choices.length;
  }
  const [low, high] = internalBounds(parameter);
  return high === low ? 0.5 : (toInternal(parameter, Number(value)) - low) / (high - low);
}

/** Returns the variance that each parameter explains alone, and the tree's whole variance; `undefined` if that is 0. */
function decompose(leaves: readonly Leaf[]): readonly { readonly own: number; readonly total: number }[] | undefined {
  const volumes = leaves.map(({ low, high }) => low.reduce((volume, bound, at) => volume * (high[at]! - bound), 1));
  const mean = leaves.reduce((sum, { value }, at) => sum + volumes[at]! * value, 0);
  const total = leaves.reduce((sum, { value }, at) => sum + volumes[at]! * (value - mean) ** 2, 0);
  if (!(total > 1e-12 * (mean * mean + Number.MIN_VALUE))) return undefined;
  return leaves[0]!.low.map((_, parameter) => ({ own: marginalVariance(leaves, volumes, parameter, mean), total }));
}

/**
 * The marginal of a parameter is constant between the bounds of the leaves. Each leaf adds to it, from its lower to its
 * upper bound, its value times its extent in all other parameters.
 */
function marginalVariance(
  leaves: readonly Leaf[],
  volumes: readonly number[],
  parameter: number,
  mean: number,
): number {
  const steps = leaves.flatMap(({ low, high, value }, at) => {
    const [from, to] = [low[parameter]!, high[parameter]!];
    const height = ((value - mean) * volumes[at]!) / (to - from);
    return [
      { at: from, rise: height },
      { at: to, rise: -height },
    ];
  });
  steps.sort((a, b) => a.at - b.at);
  let variance = 0;
  let height = 0;
  let last = 0;
  for (const { at, rise } of steps) {
    variance += (at - last) * height * height;
    height += rise;
    last = at;
  }
  return variance;
}

/** A box of the unit cube in which a tree predicts one value. */
interface Leaf {
  readonly low: readonly number[];
  readonly high: readonly number[];
  readonly value: number;
}

interface Samples {
  /** By parameter, by sample; in [0, 1]. */
  readonly columns: readonly Float64Array[];
  readonly losses: Float64Array;
}

const minLeaf = 3;

/**
 * Grows a regression tree on a bootstrap sample (Breiman, 2001), and returns its leaves, which fill the unit cube. Each
 * split reduces the squared error most.
 */
function growTree({ columns, losses }: Samples, draws: Draws): readonly Leaf[] {
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
