import { bestFirst, type ObservedTrial, scored } from "../history";
import type { Point } from "../space";
import { coordinateOf, type Dimension, dimensionsOf, pointAt } from "./coordinates";
import { type Draws, drawsFor, pointOf, type Sampler, type SamplerContext } from "./sampler";

export interface Nsga2Options {
  /** Trials of a generation. */
  readonly population: number;
}

const crossoverProbability = 0.9;
/** Distribution indices of crossover and mutation (Deb et al., 2002): larger ones keep children closer to their parents. */
const crossoverIndex = 15;
const mutationIndex = 20;

/**
 * NSGA-II (Deb et al., 2002) for several objectives and constraints. Generation g has the trials from g × population on.
 * Its parents are the best of all earlier generations, by fronts of non-domination and crowding distance, without those
 * that a scheduler stopped. Numbers are
 * crossed by simulated binary crossover and mutated by polynomials (Deb and Agrawal, 1995), choices by exchange and new
 * draws.
 */
export function nsga2Sampler({ space, objectives, seed }: SamplerContext, { population }: Nsga2Options): Sampler {
  const dimensions = dimensionsOf(space);
  return {
    usesHistory: true,
    suggest(history, number) {
      const draws = drawsFor(seed, number);
      const first = Math.floor(number / population) * population;
      const before = scored(
        history.filter((trial) => trial.number < first),
        objectives,
      );
      if (before.length < 2) return pointOf(space, () => draws.uniform());
      const compared = before.filter(({ trial }) => trial.reached === undefined);
      const parents = bestFirst(compared.length < 2 ? before : compared, population)
        .slice(0, population)
        .map(({ trial }) => trial);
      const [one, other] = [winner(parents, draws), winner(parents, draws)];
      const child = crossed(dimensions, one.params, other.params, draws);
      return pointAt(dimensions, (dimension, at) => mutated(dimension, child[at] as number, dimensions.length, draws));
    },
  };
}

/** Draws two and takes the better one: the parents are in order, best first. */
function winner(parents: readonly ObservedTrial[], draws: Draws): ObservedTrial {
  return parents[Math.min(draws.index(parents.length), draws.index(parents.length))] as ObservedTrial;
}

/** Returns a child's coordinates; where a parameter is inactive in one parent, the other's, else a new draw. */
function crossed(dimensions: readonly Dimension[], one: Point, other: Point, draws: Draws): readonly number[] {
  const crosses = draws.uniform() < crossoverProbability;
  return dimensions.map((dimension) => {
    const [a, b] = [coordinateOf(dimension, one), coordinateOf(dimension, other)];
    // Every dimension takes the same number of draws.
    const [spread, side, fresh] = [draws.uniform(), draws.uniform(), draws.uniform()];
    if (Number.isNaN(a) && Number.isNaN(b))
      return dimension.choices > 0 ? Math.floor(fresh * dimension.choices) : fresh;
    if (Number.isNaN(a)) return b;
    if (Number.isNaN(b) || !crosses) return a;
    if (dimension.choices > 0) return side < 0.5 ? a : b;
    const power = 1 / (crossoverIndex + 1);
    const beta = spread < 0.5 ? (2 * spread) ** power : (1 / (2 - 2 * spread)) ** power;
    const sign = side < 0.5 ? 1 : -1;
    return inside(0.5 * ((1 + sign * beta) * a + (1 - sign * beta) * b));
  });
}

function mutated({ choices }: Dimension, value: number, count: number, draws: Draws): number {
  const [chance, amount] = [draws.uniform(), draws.uniform()];
  if (chance >= 1 / count) return value;
  if (choices > 0) return Math.floor(amount * choices);
  const power = 1 / (mutationIndex + 1);
  const delta =
    amount < 0.5
      ? (2 * amount + (1 - 2 * amount) * (1 - value) ** (mutationIndex + 1)) ** power - 1
      : 1 - (2 * (1 - amount) + (2 * amount - 1) * value ** (mutationIndex + 1)) ** power;
  return inside(value + delta);
}

const inside = (value: number): number => Math.min(1, Math.max(0, value));
