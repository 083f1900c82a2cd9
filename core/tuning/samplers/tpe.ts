import { bestFirst, type ObservedTrial, scored } from "../history";
import { isActive, type Json } from "../space";
import { coordinateOf, type Dimension, dimensionsOf, valueAt } from "./coordinates";
import { type Draws, drawsFor, normalCdf, pointOf, type Sampler, type SamplerContext } from "./sampler";

export interface TpeOptions {
  /** Trials with a value that are drawn at random before the model is used. */
  readonly startupTrials: number;
  /** Points that are drawn for a suggestion. */
  readonly candidates: number;
}

/** Fewer than the 25 of Bergstra et al.: later trials then stay with the best region. */
const maxGood = 15;
/** Weight of the uniform kernel, where that of a good trial is 1. The same share in l and g: their ratio is 1 far away. */
const uniformWeight = 0.3;
interface Smoothing {
  /** Bandwidths of l, in turn by trial number: the narrow one refines what the wide one finds. */
  readonly good: readonly number[];
  /** Bandwidth of g. A wider one lets bad trials repel from good ones nearby. */
  readonly bad: number;
  /** Weight of a trial's choice, where that of each choice without trials is 1. */
  readonly choice: number;
}

const smoothing: Smoothing = { good: [0.6, 0.3], bad: 0.7, choice: 1 };
/** Stopped trials are many and bad. What they say of a half of the range must not reach into the other half. */
const stoppedSmoothing: Smoothing = { good: [0.45, 0.3], bad: 0.6, choice: 4 };

/**
 * Tree-structured Parzen estimator (Bergstra et al., 2011), multivariate (Falkner et al., 2018). It models the best
 * trials and the others by densities l and g, draws candidates from l and takes the one with the largest l / g.
 * Running trials belong to g, so that parallel trials spread (constant liar, Ginsbourger et al., 2010), and so do failed
 * ones: where all trials fail, g would have none, and l / g would be largest. Parameters that
 * are active together are modelled together, by the trials in which they are: a choice is judged without the parameters
 * that depend on it, whose gaps in g would speak for a branch that has no good trial.
 */
export function tpeSampler({ space, objectives, seed }: SamplerContext, options: TpeOptions): Sampler {
  const dimensions = dimensionsOf(space);
  const conditions = [...new Set(dimensions.map(conditionOf))];
  const groups = conditions.map((condition) => dimensions.filter((one) => conditionOf(one) === condition));
  return {
    usesHistory: true,
    suggest(history, number) {
      const draws = drawsFor(seed, number);
      const scores = scored(history, objectives);
      if (scores.length < options.startupTrials) return pointOf(space, () => draws.uniform());
      const ordered = bestFirst(scores, goodCount(scores.length)).map(({ trial }) => trial);
      const valued = new Set(ordered);
      const widths = ordered.some(({ reached }) => reached !== undefined) ? stoppedSmoothing : smoothing;
      const withoutValue = history.filter((trial) => !valued.has(trial));
      const point: Record<string, Json> = {};
      for (const group of groups) {
        if (!isActive(group[0]!.parameter, point)) continue;
        const has = ({ params }: ObservedTrial) => group.some(({ name }) => Object.hasOwn(params, name));
        const best = suggestGroup(group, ordered.filter(has), withoutValue.filter(has), widths, number, draws);
        for (const [at, dimension] of group.entries()) point[dimension.name] = valueAt(dimension, best[at]!);
      }
      return point;
    },
  };

  /** Returns the coordinates of a group's parameters. @param ordered the trials with a value, best first */
  function suggestGroup(
    group: readonly Dimension[],
    ordered: readonly ObservedTrial[],
    withoutValue: readonly ObservedTrial[],
    { good: factors, bad: badFactor, choice }: Smoothing,
    number: number,
    draws: Draws,
  ): readonly number[] {
    const count = goodCount(ordered.length);
    const share = uniformWeight / (count + uniformWeight);
    const factor = factors[number % factors.length]!;
    const good = createParzen(group, columns(group, ordered.slice(0, count)), share, factor, choice);
    const bad = createParzen(
      group,
      columns(group, [...ordered.slice(count), ...withoutValue]),
      share,
      badFactor,
      choice,
    );
    let best: readonly number[] = [];
    let bestRatio = -Infinity;
    for (let i = 0; i < options.candidates; i += 1) {
      const component = good.component(draws);
      const candidate = group.map((dimension, at) => {
        const value = valueAt(dimension, component(at, draws));
        return coordinateOf(dimension, { [dimension.name]: value });
      });
      const ratio = good.logDensity(candidate) - bad.logDensity(candidate);
      if (ratio > bestRatio || i === 0) [best, bestRatio] = [candidate, ratio];
    }
    return best;
  }
}

const conditionOf = ({ parameter: { when } }: Dimension): string => JSON.stringify(when ?? null);
const goodCount = (trials: number): number => Math.min(maxGood, Math.ceil(0.1 * trials));

function columns(dimensions: readonly Dimension[], trials: readonly ObservedTrial[]): readonly Float64Array[] {
  return dimensions.map((dimension) => Float64Array.from(trials, ({ params }) => coordinateOf(dimension, params)));
}

/** A mixture of one kernel per trial, all with the same weight, and a uniform one. */
interface Parzen {
  /** Draws a kernel. The returned function draws a coordinate from it. */
  component(draws: Draws): (dimension: number, draws: Draws) => number;
  /**
   * Returns the logarithm of the density at a point, relative to the uniform distribution. A dimension whose coordinate
   * is NaN does not count. A kernel that lacks the coordinate is uniform in it.
   */
  logDensity(point: readonly number[]): number;
}

interface Kernels {
  readonly centres: Float64Array;
  /** Bandwidth; for choices the probability with which the choice is drawn uniformly. */
  readonly width: number;
  /** Logarithms of the normalising factors, by kernel; for choices unused. */
  readonly norms: Float64Array;
}

/**
 * Estimates a density from the coordinates of trials, by dimension.
 * @param uniformShare the weight of the uniform kernel; 1 without trials
 * @param factor the bandwidth as a multiple of a fifth of the range, reduced with more trials by Scott's rule (1992)
 * @param choiceWeight the weight of a trial's choice, where that of each choice without trials is 1
 */
export function createParzen(
  dimensions: readonly Dimension[],
  columns: readonly Float64Array[],
  uniformShare: number,
  factor: number,
  choiceWeight = 1,
): Parzen {
  const count = columns[0]?.length ?? 0;
  const kernels = dimensions.map((dimension, at) =>
    kernelsOf(dimension, columns[at]!, dimensions.length, factor, choiceWeight),
  );
  const sums = new Float64Array(count);
  return {
    component(draws) {
      const chosen = draws.uniform() < uniformShare ? count : draws.index(count); // the index of the uniform kernel is count
      return (at, source) => drawFrom(dimensions[at]!, kernels[at]!, chosen, source);
    },
    logDensity(point) {
      sums.fill(0);
      for (const [at, { choices }] of dimensions.entries()) {
        const x = point[at]!;
        if (Number.isNaN(x)) continue;
        if (choices > 0) addChoices(sums, kernels[at]!, x, choices);
        else addNormals(sums, kernels[at]!, x);
      }
      return logMixture(sums, uniformShare);
    },
  };
}

const minWidth = 0.005;

function kernelsOf(
  { choices, step }: Dimension,
  centres: Float64Array,
  dimensions: number,
  factor: number,
  choiceWeight: number,
): Kernels {
  const points = centres.filter((x) => !Number.isNaN(x));
  if (choices > 0) return { centres, width: choices / (choiceWeight * points.length + choices), norms: centres };
  const scott = 0.2 * Math.max(1, points.length) ** (-1 / (dimensions + 4));
  const width = Math.max(minWidth, step / 2, factor * scott);
  const norms = centres.map((x) =>
    Number.isNaN(x)
      ? 0
      : -Math.log(width * Math.sqrt(2 * Math.PI) * (normalCdf((1 - x) / width) - normalCdf(-x / width))),
  );
  return { centres, width, norms };
}

function drawFrom({ choices }: Dimension, { centres, width }: Kernels, chosen: number, draws: Draws): number {
  const centre = centres[chosen] ?? Number.NaN;
  if (choices > 0) return Number.isNaN(centre) || draws.uniform() < width ? draws.index(choices) : centre;
  if (Number.isNaN(centre)) return draws.uniform();
  for (;;) {
    // The centre is inside, so that at least almost half of the draws are for these widths.
    const x = centre + width * draws.normal();
    if (x >= 0 && x <= 1) return x;
  }
}

function addNormals(sums: Float64Array, { centres, width, norms }: Kernels, x: number): void {
  const scale = 1 / width;
  for (let k = 0; k < sums.length; k += 1) {
    const z = (x - centres[k]!) * scale;
    if (!Number.isNaN(z)) sums[k]! += norms[k]! - 0.5 * z * z;
  }
}

function addChoices(sums: Float64Array, { centres, width }: Kernels, x: number, choices: number): void {
  const same = Math.log(choices * (1 - width) + width);
  const other = Math.log(width);
  for (let k = 0; k < sums.length; k += 1) {
    const centre = centres[k]!;
    if (!Number.isNaN(centre)) sums[k]! += centre === x ? same : other;
  }
}

/** Returns the logarithm of the density of kernels with the same weight, and a uniform one. */
function logMixture(logs: Float64Array, uniformShare: number): number {
  let max = 0;
  for (const one of logs) if (one > max) max = one;
  let sum = 0;
  for (const one of logs) if (one - max > -40) sum += Math.exp(one - max);
  const mean = logs.length > 0 ? sum / logs.length : 0;
  return max + Math.log((1 - uniformShare) * mean + uniformShare * Math.exp(-max));
}
