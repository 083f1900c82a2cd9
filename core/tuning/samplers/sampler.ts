import { normalDraw, uniformDraws } from "../../evaluation/draws";
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

/** A source of random numbers that follows from a study's seed and a trial's number. */
export interface Draws {
  /** Returns a number in [0, 1). */
  uniform(): number;
  /** Returns a number of the standard normal distribution. */
  normal(): number;
  /** Returns a whole number in [0, below). */
  index(below: number): number;
}

/** Creates the source for one decision. The same keys give the same numbers. */
export function drawsFor(...keys: readonly number[]): Draws {
  const draw = uniformDraws(mixed(keys));
  const uniform = (): number => (draw() * 2_097_152 + (draw() >>> 11)) / 9_007_199_254_740_992; // 53 bits
  return { uniform, normal: () => normalDraw(draw), index: (below) => Math.floor(uniform() * below) };
}

/** Mixes whole numbers to a seed of 32 bits (the finalizer of MurmurHash3, Appleby). */
function mixed(keys: readonly number[]): number {
  let hash = 0x9e3779b9;
  for (const key of keys) {
    hash = Math.imul(hash ^ key, 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    hash ^= hash >>> 16;
  }
  return hash >>> 0;
}

/** Returns the distribution function of the standard normal, with an absolute error below 7.5e-8 (Abramowitz and Stegun, 26.2.17). */
export function normalCdf(x: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(x));
  const poly = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  const tail = normalPdf(x) * poly;
  return x >= 0 ? 1 - tail : tail;
}

export function normalPdf(x: number): number {
  return Math.exp(-0.5 * x * x) / Math.sqrt(2 * Math.PI);
}

/** Suggests settings. A pure function: the same history and trial number give the same point. */
export interface Sampler {
  /** Whether a suggestion depends on the results of other trials. */
  readonly usesHistory: boolean;
  /** Suggests a trial's settings; `undefined` if all are tried. @param history trials it may know, by number */
  suggest(history: readonly ObservedTrial[], number: number): Point | undefined;
}

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
      points ??= [...pointsOf(space)];
      return points[number];
    },
  };
}

/** Lists all points of a space one by one; each parameter has a finite number of values. */
export function* pointsOf(space: Space, names = parameterOrder(space), point: Point = {}): Iterable<Point> {
  const [name, ...later] = names;
  if (name === undefined) return yield point;
  const parameter = space[name] as Parameter;
  if (!isActive(parameter, point)) return yield* pointsOf(space, later, point);
  for (const value of valuesOf(parameter)) yield* pointsOf(space, later, { ...point, [name]: value });
}

function* valuesOf(parameter: Parameter): Iterable<Json> {
  if (parameter.type === "categorical") return yield* parameter.choices;
  const { low, step = 0 } = parameter;
  for (let at = 0; at < cardinality(parameter); at++) yield snap(parameter, low + at * step);
}
