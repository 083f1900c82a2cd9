import { drawsFor } from "../draws";
import type { Objective, ObservedTrial } from "../history";
import { fromUnit, isActive, type Json, type Point, parameterOrder, type Space } from "../space";

/** Suggests settings. A pure function: the same history and trial number give the same point. */
export interface Sampler {
  /** Whether a suggestion depends on the results of other trials. */
  readonly usesHistory: boolean;
  /**
   * Returns the settings of a trial; `undefined` if all are tried.
   *
   * @param history the trials that the sampler may know, in order of their numbers
   */
  suggest(history: readonly ObservedTrial[], number: number): Point | undefined;
}

/** The fixed inputs of a sampler. */
export interface SamplerContext {
  readonly space: Space;
  readonly objectives: readonly Objective[];
  readonly seed: number;
}

/** Draws each parameter independently (Bergstra and Bengio, 2012). */
export function randomSampler({ space, seed }: SamplerContext): Sampler {
  return {
    usesHistory: false,
    suggest: (_history, number) => {
      const draws = drawsFor(seed, number);
      return pointOf(space, () => draws.uniform());
    },
  };
}

/** Returns the point of unit coordinates: one per parameter, in the order of their dependences, active or not. */
export function pointOf(space: Space, unit: (dimension: number) => number): Point {
  const point: Record<string, Json> = {};
  for (const [dimension, name] of parameterOrder(space).entries()) {
    const parameter = space[name] as Space[string];
    const drawn = unit(dimension);
    if (isActive(parameter, point)) point[name] = fromUnit(parameter, drawn);
  }
  return point;
}
