import {
  cardinality,
  isActive,
  type Json,
  type Parameter,
  type Point,
  parameterOrder,
  type Space,
  snap,
} from "../space";
import type { Sampler, SamplerContext } from "./sampler";

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
