import {
  cardinality,
  isActive,
  type Json,
  type Parameter,
  type Point,
  parameterOrder,
  type Space,
  snap,
} from "./space";

/** Lists all points of a space one by one, or `undefined` if a parameter has infinitely many values. */
export function pointsOf(space: Space): Iterable<Point> | undefined {
  const isCountable = Object.values(space).every((parameter) => cardinality(parameter) < Infinity);
  return isCountable ? completions(space, parameterOrder(space), {}) : undefined;
}

function* completions(space: Space, [name, ...later]: readonly string[], point: Point): Iterable<Point> {
  if (name === undefined) return yield point;
  const parameter = space[name] as Parameter;
  if (!isActive(parameter, point)) return yield* completions(space, later, point);
  for (const value of valuesOf(parameter)) yield* completions(space, later, { ...point, [name]: value });
}

function* valuesOf(parameter: Parameter): Iterable<Json> {
  if (parameter.type === "categorical") return yield* parameter.choices;
  const { low, step = 0 } = parameter;
  for (let at = 0; at < cardinality(parameter); at++) yield snap(parameter, low + at * step);
}
