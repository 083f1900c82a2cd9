import { drawsFor } from "../draws";
import { fromUnit, isActive, type Json, type Point, parameterOrder, type Space } from "../space";
import type { Sampler, SamplerContext } from "./sampler";

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
