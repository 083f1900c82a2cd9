import { type Draws, drawsFor, normalCdf } from "../draws";
import { bestFirst, type ObservedTrial, scored } from "../history";
import { coordinateOf, type Dimension, dimensionsOf, pointAt } from "./coordinates";
import { pointOf, type Sampler, type SamplerContext } from "./sampler";

interface TpeOptions {
  /** Trials with a value that are drawn at random before the model is used. */
  readonly startupTrials: number;
  /** Points that are drawn for a suggestion. */
  readonly candidates: number;
}

/** Fewer than the 25 of Bergstra et al.: later trials then stay with the best region. */
const maxGood = 15;
/** Weight of the uniform kernel, where that of a good trial is 1. The same share in l and g: their ratio is 1 far away. */
const uniformWeight = 0.3;
/** Bandwidths of l, in turn by trial number: the narrow one refines what the wide one finds. */
const factors = [0.6, 0.3];
/** Bandwidth of g. A wider one lets bad trials repel from good ones nearby. */
const badFactor = 0.7;

/**
 * Tree-structured Parzen estimator (Bergstra et al., 2011), multivariate (Falkner et al., 2018). It models the best
 * trials and the others by densities l and g, draws candidates from l and takes the one with the largest l / g.
 * Running trials belong to g, so that parallel trials spread (constant liar, Ginsbourger et al., 2010).
 */
export function tpeSampler({ space, objectives, seed }: SamplerContext, options: TpeOptions): Sampler {
  const dimensions = dimensionsOf(space);
  return {
    usesHistory: true,
    suggest(history, number) {
      const draws = drawsFor(seed, number);
      const known = scored(history, objectives);
      if (known.length < options.startupTrials) return pointOf(space, () => draws.uniform());
      const count = Math.min(maxGood, Math.ceil(0.1 * known.length));
      const ordered = bestFirst(known, count).map(({ trial }) => trial);
      const valued = new Set(ordered);
      const running = history.filter((trial) => trial.state === "running" && !valued.has(trial));
      const share = uniformWeight / (count + uniformWeight);
      const factor = factors[number % factors.length]!;
      const good = createParzen(dimensions, columns(dimensions, ordered.slice(0, count)), share, factor);
      const bad = createParzen(
        dimensions,
        columns(dimensions, [...ordered.slice(count), ...running]),
        share,
        badFactor,
      );
      let best: readonly number[] = [];
      let bestRatio = -Infinity;
      for (let i = 0; i < options.candidates; i += 1) {
        const candidate = drawCandidate(dimensions, good.component(draws), draws);
        const ratio = good.logDensity(candidate) - bad.logDensity(candidate);
        if (ratio > bestRatio || i === 0) [best, bestRatio] = [candidate, ratio];
      }
      return pointAt(dimensions, (_dimension, at) => best[at]!);
    },
  };
}

type Component = (at: number, draws: Draws) => number;

/** Draws coordinates that a point can have; NaN where a parameter is inactive. */
function drawCandidate(dimensions: readonly Dimension[], component: Component, draws: Draws): readonly number[] {
  const point = pointAt(dimensions, (_dimension, at) => component(at, draws));
  return dimensions.map((dimension) => coordinateOf(dimension, point));
}

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
 *
 * @param uniformShare the weight of the uniform kernel; 1 without trials
 * @param factor the bandwidth as a multiple of a fifth of the range, reduced with more trials by Scott's rule (1992)
 */
export function createParzen(
  dimensions: readonly Dimension[],
  columns: readonly Float64Array[],
  uniformShare: number,
  factor: number,
): Parzen {
  const count = columns[0]?.length ?? 0;
  const kernels = dimensions.map((dimension, at) => kernelsOf(dimension, columns[at]!, dimensions.length, factor));
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

function kernelsOf({ choices, step }: Dimension, centres: Float64Array, dimensions: number, factor: number): Kernels {
  const known = centres.filter((x) => !Number.isNaN(x));
  if (choices > 0) return { centres, width: choices / (known.length + choices), norms: centres };
  const scott = 0.2 * Math.max(1, known.length) ** (-1 / (dimensions + 4));
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
