import { drawsFor } from "../draws";
import type { Objective, ObservedTrial } from "../history";
import {
  cardinality,
  fromUnit,
  isActive,
  type Json,
  type Parameter,
  type Point,
  parameterOrder,
  type Space,
  snap,
} from "../space";

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

/** Tries every combination of values once, in the order of the space: the last parameter changes fastest. */
export function gridSampler({ space }: SamplerContext): Sampler {
  let points: readonly Point[] | undefined;
  return {
    usesHistory: false,
    suggest(_history, number) {
      points ??= pointsOf(space, parameterOrder(space), {});
      return points[number];
    },
  };
}

/** Returns the number of combinations; that of inactive parameters counts too, so it is an upper bound. */
export function gridSize(space: Space): number {
  return Object.values(space).reduce((size, parameter) => size * cardinality(parameter), 1);
}

function pointsOf(space: Space, [name, ...rest]: readonly string[], point: Point): readonly Point[] {
  if (name === undefined) return [point];
  const parameter = space[name] as Parameter;
  if (!isActive(parameter, point)) return pointsOf(space, rest, point);
  return valuesOf(parameter).flatMap((value) => pointsOf(space, rest, { ...point, [name]: value }));
}

function valuesOf(parameter: Parameter): readonly Json[] {
  if (parameter.type === "categorical") return parameter.choices;
  const { low, step = 0 } = parameter;
  return Array.from({ length: cardinality(parameter) }, (_, i) => snap(parameter, low + i * step));
}
