import { drawsFor } from "./draws";
import { lossesOf, type Objective, type ObservedTrial } from "./history";
import { growTree, type Leaf } from "./regression-tree";
import { indexOfChoice, internalBounds, type Json, type Parameter, type Space, toInternal } from "./space";

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
  seed = 0,
): Readonly<Record<string, number>> | undefined {
  const compared = comparable(trials, objectives);
  if (compared.length < minTrials) return undefined;
  const names = Object.keys(space);
  const columns = names.map((name, at) => {
    const draws = drawsFor(seed, at);
    return Float64Array.from(compared, ({ trial }) =>
      unitOf(space[name] as Parameter, trial.params[name], draws.uniform()),
    );
  });
  const losses = Float64Array.from(compared, ({ loss }) => loss);
  const shares = names.map(() => 0);
  let counted = 0;
  for (let tree = 0; tree < trees; tree++) {
    const leaves = growTree({ columns, losses }, drawsFor(seed, names.length, tree));
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
