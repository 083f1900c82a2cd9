import { lossesOf, type Objective, type ObservedTrial } from "../../core/tuning/history";
import { type Draws, drawsFor } from "../../core/tuning/samplers/sampler";
import { cardinality, indexOfChoice, type Point, type Space } from "../../core/tuning/space";

/** Trees of many trials differ less from each other. */
const treesFor = (trials: number): number => Math.min(128, Math.max(24, Math.ceil(16_000 / trials)));
const minTrials = 10;
/** Share of the ended trials that have reached the epoch at which trials are compared. */
const comparedShare = 0.9;

/**
 * Returns the share of the first objective's variance that each parameter explains alone (functional ANOVA; Hutter,
 * Hoos and Leyton-Brown, 2014), after the last epoch that nearly all trials reached. Numbers are weighed plain, also
 * with `log`, as in Optuna. `undefined` with fewer than 10 comparable trials, or if all have the same value.
 */
export function importanceOf(
  trials: readonly ObservedTrial[],
  space: Space,
  objectives: readonly Objective[],
): Readonly<Record<string, number>> | undefined {
  const compared = comparable(trials, objectives.slice(0, 1));
  if (compared.length < minTrials) return undefined;
  const names = Object.keys(space);
  const points = compared.map(({ trial }) => trial.params);
  const columnsByName = names.map((name) => columnsOf(space, name, points));
  const columns = columnsByName.flat();
  const groups = columnsByName.map((group) => group.map((column) => columns.indexOf(column)));
  const losses = Float64Array.from(compared, ({ loss }) => loss);
  const shares = names.map(() => 0);
  const trees = treesFor(compared.length);
  let counted = 0;
  for (let tree = 0; tree < trees; tree++) {
    const leaves = growTree(columns, losses, drawsFor(0, names.length, tree));
    const variances = decompose(leaves, groups);
    if (variances === undefined) continue;
    counted++;
    for (const [at, { own, total }] of variances.entries()) shares[at]! += own / total;
  }
  if (counted === 0) return undefined;
  return Object.fromEntries(names.map((name, at) => [name, shares[at]! / counted]));
}

function comparable(trials: readonly ObservedTrial[], objectives: readonly Objective[]) {
  const scored = trials.flatMap((trial) => {
    const loss = lossesOf(trial, objectives)?.[0];
    const last = trial.reports.at(-1)?.epoch ?? 0;
    // The value of a completed trial counts for all later epochs: it may have stopped early by itself.
    return loss === undefined ? [] : { trial, loss, last, reached: trial.state === "completed" ? Infinity : last };
  });
  const ended = scored.filter(({ trial }) => trial.state !== "running").map(({ reached }) => reached);
  const enough = Math.max(minTrials, Math.ceil(comparedShare * ended.length));
  const epoch = ended.sort((a, b) => b - a)[enough - 1] ?? 0;
  return scored.flatMap(({ trial, loss, last, reached }) => {
    if (reached < epoch) return [];
    if (last <= epoch) return { trial, loss };
    const { values: _, ...rest } = trial;
    const reports = trial.reports.filter((report) => report.epoch <= epoch);
    const earlier = lossesOf({ ...rest, reports }, objectives)?.[0];
    return earlier === undefined ? [] : { trial, loss: earlier };
  });
}

/** Returns the probability with which a random point of the space has the parameter. */
function activeShare(space: Space, name: string): number {
  const { when } = space[name]!;
  if (when === undefined) return 1;
  const share = Math.min(1, when.in.length / cardinality(space[when.parameter]!));
  return Math.max(0.01, share) * activeShare(space, when.parameter);
}

/** A side of the unit cube, and the place of each sample on it. */
interface Column {
  readonly places: Float64Array;
  /** Width of what stands for an inactive parameter, from 0 on. */
  readonly gap: number;
  /** Number of parameters on which it depends. Of equal splits, those explain more that it depends on. */
  readonly depth: number;
}

/** Returns a column for a number, and one for each choice that occurs. */
function columnsOf(space: Space, name: string, points: readonly Point[]): readonly Column[] {
  const parameter = space[name]!;
  const depth = depthOf(space, name);
  const values = points.map((point) => (Object.hasOwn(point, name) ? point[name] : undefined));
  if (parameter.type === "categorical") {
    const choices = values.map((value) => (value === undefined ? -1 : indexOfChoice(parameter.choices, value)));
    return [...new Set(choices)].map((choice) => ({
      places: Float64Array.from(choices, (one) => (one === choice ? 1 : 0)),
      ...{ gap: 0, depth },
    }));
  }
  const { low, high } = parameter;
  const gap = 1 - activeShare(space, name);
  const placeOf = (value: number) => (high === low ? 0.5 : (value - low) / (high - low));
  const places = values.map((value) => (value === undefined ? gap / 2 : gap + (1 - gap) * placeOf(Number(value))));
  return [{ places: Float64Array.from(places), gap, depth }];
}

function depthOf(space: Space, name: string): number {
  const { when } = space[name]!;
  return when === undefined ? 0 : 1 + depthOf(space, when.parameter);
}

/** Returns the variance that each group of columns explains alone, and the tree's whole one; `undefined` if that is 0. */
function decompose(
  leaves: readonly Leaf[],
  groups: readonly (readonly number[])[],
): readonly { readonly own: number; readonly total: number }[] | undefined {
  const volumes = leaves.map(({ low, high }) => low.reduce((volume, bound, at) => volume * (high[at]! - bound), 1));
  const mean = leaves.reduce((sum, { value }, at) => sum + volumes[at]! * value, 0);
  const total = leaves.reduce((sum, { value }, at) => sum + volumes[at]! * (value - mean) ** 2, 0);
  if (!(total > 1e-12 * (mean * mean + Number.MIN_VALUE))) return undefined;
  const masses = leaves.map(({ value }, at) => (value - mean) * volumes[at]!);
  return groups.map((group) => {
    const [column] = group;
    if (column === undefined) return { own: 0, total };
    return {
      own: group.length > 1 ? varianceOfChoices(leaves, masses, group) : varianceOf(leaves, masses, column),
      total,
    };
  });
}

/** Each leaf adds its mass over its extent to the marginal, from its lower to its upper bound. */
function varianceOf(leaves: readonly Leaf[], masses: readonly number[], column: number): number {
  const steps = leaves.flatMap(({ low, high }, at) => {
    const [from, to] = [low[column]!, high[column]!];
    const height = masses[at]! / (to - from);
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

/** The marginal of choices is a sum over boxes of their columns, so that its variance is one over pairs of boxes. */
function varianceOfChoices(leaves: readonly Leaf[], masses: readonly number[], group: readonly number[]): number {
  const boxes = new Map<string, { readonly low: readonly number[]; readonly high: readonly number[]; mass: number }>();
  for (const [at, leaf] of leaves.entries()) {
    const [low, high] = [group.map((column) => leaf.low[column]!), group.map((column) => leaf.high[column]!)];
    const key = [low, high].join();
    const box = boxes.get(key) ?? { low, high, mass: 0 };
    box.mass += masses[at]! / low.reduce((volume, bound, i) => volume * (high[i]! - bound), 1);
    boxes.set(key, box);
  }
  let variance = 0;
  for (const one of boxes.values()) {
    for (const other of boxes.values()) {
      let overlap = one.mass * other.mass;
      for (let i = 0; i < group.length; i++) {
        overlap *= Math.max(0, Math.min(one.high[i]!, other.high[i]!) - Math.max(one.low[i]!, other.low[i]!));
      }
      variance += overlap;
    }
  }
  return variance;
}

/** A box of the unit cube in which a tree predicts one value. */
interface Leaf {
  readonly low: readonly number[];
  readonly high: readonly number[];
  readonly value: number;
}

/** Grows a regression tree on a bootstrap sample (Breiman, 2001), and returns its leaves, which fill the unit cube. */
function growTree(columns: readonly Column[], losses: Float64Array, draws: Draws): readonly Leaf[] {
  const count = losses.length;
  const sampled = Int32Array.from({ length: count }, () => draws.index(count));
  // The order of each column is kept through the splits, so that samples are sorted once.
  const orders = columns.map(({ places }) => sampled.toSorted((a, b) => places[a]! - places[b]!));
  const leaves: Leaf[] = [];
  const grow = (sorted: readonly Int32Array[], low: readonly number[], high: readonly number[]): void => {
    const samples = sorted[0] as Int32Array;
    const split = samples.length < 2 ? undefined : bestSplit(sorted);
    if (split === undefined) {
      leaves.push({ low, high, value: samples.reduce((sum, sample) => sum + losses[sample]!, 0) / samples.length });
      return;
    }
    const { column, threshold } = split;
    const { places } = columns[column]!;
    const isLeft = (sample: number) => places[sample]! < threshold;
    const at = (bounds: readonly number[]) => bounds.map((bound, i) => (i === column ? threshold : bound));
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
    const [first] = sorted as readonly [Int32Array];
    const size = first.length;
    const total = first.reduce((sum, sample) => sum + losses[sample]!, 0);
    const before = (total * total) / size;
    const tolerance = 1e-9 * (first.reduce((sum, sample) => sum + losses[sample]! ** 2, 0) - before);
    let best: { readonly column: number; readonly threshold: number } | undefined;
    let most = 0;
    for (const column of drawnOrder()) {
      const { places, gap } = columns[column]!;
      const order = sorted[column]!;
      let left = 0;
      for (let at = 1; at < size; at++) {
        left += losses[order[at - 1]!]!;
        const below = places[order[at - 1]!]!;
        const above = places[order[at]!]!;
        if (below === above) continue;
        // The squared error falls by what the squares of the sums, each over its number of samples, rise.
        const gain = (left * left) / at + (total - left) ** 2 / (size - at) - before;
        if (gain > most + tolerance) {
          most = gain;
          best = { column, threshold: below < gap && above > gap ? gap : (below + above) / 2 };
        }
      }
    }
    return best;
  }

  /** Returns the columns in random order, those of the least depth first. */
  function drawnOrder(): readonly number[] {
    const keys = columns.map(({ depth }) => depth + draws.uniform());
    return [...keys.keys()].sort((a, b) => keys[a]! - keys[b]!);
  }
}
