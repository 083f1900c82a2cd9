import {
  contains,
  fromUnit,
  indexOfChoice,
  internalBounds,
  isActive,
  type Json,
  type Parameter,
  type Point,
  parameterOrder,
  type Space,
  toInternal,
} from "../space";

/** A parameter as a coordinate: a number in [0, 1] on the scale of the search, or the index of a choice. */
export interface Dimension {
  readonly name: string;
  readonly parameter: Parameter;
  /** Number of choices; 0 for a number. */
  readonly choices: number;
  /** Width of a step in the unit interval, at its widest; 0 without steps. */
  readonly step: number;
}

/** Returns the dimensions of a space, each after the one on which it depends. */
export function dimensionsOf(space: Space): readonly Dimension[] {
  return parameterOrder(space).map((name) => {
    const parameter = space[name] as Parameter;
    if (parameter.type === "categorical") return { name, parameter, choices: parameter.choices.length, step: 0 };
    const [low, high] = internalBounds(parameter);
    const { step = 0, log } = parameter;
    const widest = log ? Math.log1p(step / Math.max(step / 2, parameter.low - step / 2)) : step;
    return { name, parameter, choices: 0, step: step > 0 ? Math.min(1, widest / (high - low)) : 0 };
  });
}

/** Returns a coordinate of a point; NaN if the point has no valid value for it. */
export function coordinateOf({ name, parameter, choices }: Dimension, point: Point): number {
  const value = Object.hasOwn(point, name) ? point[name] : undefined;
  if (value === undefined) return Number.NaN;
  if (parameter.type === "categorical") {
    const index = indexOfChoice(parameter.choices, value);
    return index < 0 || choices === 0 ? Number.NaN : index;
  }
  if (!contains(parameter, value)) return Number.NaN;
  const [low, high] = internalBounds(parameter);
  return high > low ? (toInternal(parameter, value as number) - low) / (high - low) : 0.5;
}

/** Returns the value at a coordinate: the nearest one that the parameter can have. */
export function valueAt({ parameter, choices }: Dimension, coordinate: number): Json {
  return fromUnit(parameter, choices > 0 ? (coordinate + 0.5) / choices : coordinate);
}

/** Builds a point from its coordinates, which are requested only where a parameter is active. */
export function pointAt(
  dimensions: readonly Dimension[],
  coordinate: (dimension: Dimension, at: number) => number,
): Point {
  const point: Record<string, Json> = {};
  for (const [at, dimension] of dimensions.entries()) {
    if (isActive(dimension.parameter, point)) point[dimension.name] = valueAt(dimension, coordinate(dimension, at));
  }
  return point;
}
