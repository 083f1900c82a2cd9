import { type Draws, drawsFor } from "../draws";
import { cardinality } from "../space";
import { coordinateOf, type Dimension, dimensionsOf, pointAt } from "./coordinates";
import { CovarianceAdaptation } from "./covariance-adaptation";
import { bestFirst, scored } from "./order";
import type { Sampler, SamplerContext } from "./sampler";

/** Attempts to draw a point inside the bounds before it is clipped. */
const maxDraws = 100;
/** Share of a step below which the standard deviation does not fall, so that whole numbers keep changing. */
const minDeviation = 0.3;

/**
 * CMA-ES (Hansen, "The CMA evolution strategy: a tutorial", 2016) on the unit cube of the numeric parameters, with
 * restarts of twice the population (IPOP; Auger and Hansen, 2005). The distribution follows from the history alone:
 * trials with a value, in the order of their numbers, form generations. A parallel trial is drawn from the last complete
 * one. Choices are drawn uniformly. An inactive parameter counts as the mean.
 */
export function cmaesSampler({ space, objectives, seed }: SamplerContext): Sampler {
  const dimensions = dimensionsOf(space);
  const numeric = dimensions.filter(({ choices, parameter }) => choices === 0 && cardinality(parameter) > 1);
  return {
    usesHistory: true,
    suggest(history, number) {
      const draws = drawsFor(seed, number);
      const strategy = new CovarianceAdaptation(numeric.length, seed);
      const known = scored(history, objectives);
      for (let from = 0; from + strategy.population <= known.length; ) {
        const generation = bestFirst(known.slice(from, from + strategy.population));
        from += strategy.population;
        strategy.tell(
          generation.map(({ trial }) => numeric.map((dimension) => coordinateOf(dimension, trial.params))),
          generation[0]?.losses[0] ?? 0,
        );
      }
      const drawn = drawInside(strategy, numeric, draws);
      const at = new Map(numeric.map((dimension, i) => [dimension.name, drawn[i] as number]));
      return pointAt(dimensions, ({ name, choices }) => at.get(name) ?? Math.floor(draws.uniform() * choices));
    },
  };
}

function drawInside(strategy: CovarianceAdaptation, numeric: readonly Dimension[], draws: Draws): readonly number[] {
  for (let attempt = 1; ; attempt += 1) {
    const point = strategy.draw(
      draws,
      numeric.map(({ step }) => step * minDeviation),
    );
    if (point.every((x) => x >= 0 && x <= 1)) return point;
    if (attempt === maxDraws) return point.map((x) => Math.min(1, Math.max(0, x)));
  }
}
