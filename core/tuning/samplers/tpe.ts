import { type Draws, drawsFor } from "../draws";
import type { ObservedTrial } from "../history";
import { coordinateOf, type Dimension, dimensionsOf, pointAt } from "./coordinates";
import { bestFirst, scored } from "./order";
import { createParzen } from "./parzen";
import { pointOf } from "./random";
import type { Sampler, SamplerContext } from "./sampler";

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
