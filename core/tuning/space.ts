import * as z from "zod";
import type { Shape } from "../shapes";

/** Path of a setting in the job, as `--set` takes it: `hyperparameters.learningRate`. */
const path = z
  .string()
  .max(250)
  .regex(/^[A-Za-z][\w-]*(\.[\w-]+)*$/, "must be a path of the job, e.g. hyperparameters.learningRate");

const scalar = z.union([z.string().max(1_000), z.number(), z.boolean(), z.null()]);
const scalars = z.array(scalar).max(1_000);
/** A value of a setting: a scalar, a list, or a mapping of them. */
export const settingValue = z.union([scalar, scalars, z.record(z.string(), z.union([scalar, scalars]))]);

const when = z
  .strictObject({
    /** Path of the parameter that decides. */
    parameter: z.string(),
    /** Its values with which this parameter is active. */
    in: z.array(settingValue).min(1).max(1_000),
  })
  .optional();

const float = z.strictObject({
  type: z.literal("float"),
  low: z.number(),
  high: z.number(),
  /** Draws the logarithm uniformly. */
  log: z.boolean().default(false),
  /** Distance between two values, from `low` on. */
  step: z.number().positive().optional(),
  when,
});

const int = z.strictObject({
  type: z.literal("int"),
  low: z.int(),
  high: z.int(),
  log: z.boolean().default(false),
  step: z.int().positive().default(1),
  when,
});

const categorical = z.strictObject({
  type: z.literal("categorical"),
  choices: z.array(settingValue).min(1).max(1_000),
  when,
});

const maxParameters = 100;

/** The parameters that a study searches, by their paths in the job. */
export const spaceSchema = z
  .record(path, z.discriminatedUnion("type", [float, int, categorical]))
  .refine((space) => Object.keys(space).length > 0, { error: "must have at least one parameter" })
  .refine((space) => Object.keys(space).length <= maxParameters, {
    error: `must have at most ${maxParameters} parameters`,
  })
  .check(({ value, issues }) => {
    for (const problem of problemsOfSpace(value)) issues.push({ code: "custom", ...problem, path: [...problem.path] });
  })
  .meta({ example: { "hyperparameters.learningRate": { type: "float", low: 0.0001, high: 0.1, log: true } } });

export type Space = Shape<typeof spaceSchema>;
export type Parameter = Space[string];
export type NumericParameter = Extract<Parameter, { type: "float" | "int" }>;
export type Json = Shape<typeof settingValue>;
/** The values of the active parameters, by path. */
export type Point = Readonly<Record<string, Json>>;

interface SpaceProblem {
  readonly path: readonly PropertyKey[];
  readonly input: unknown;
  readonly message: string;
}

function problemsOfSpace(space: Space): readonly SpaceProblem[] {
  const problems: SpaceProblem[] = [];
  for (const [name, parameter] of Object.entries(space)) {
    const add = (key: string, input: unknown, message: string) => problems.push({ path: [name, key], input, message });
    if (parameter.type === "categorical") {
      const distinct = new Set(parameter.choices.map((choice) => JSON.stringify(choice)));
      if (distinct.size < parameter.choices.length) add("choices", parameter.choices, "must not repeat a choice");
    } else {
      const { low, high, step, log } = parameter;
      if (low > high) add("low", low, `must be at most high (${high})`);
      else if (step !== undefined && high > low && step > high - low)
        add("step", step, `must be at most the range from low to high (${high - low})`);
      if (log && low <= 0) add("low", low, "must be more than 0 with log");
      if (log && parameter.type === "float" && step !== undefined) add("step", step, "must be left out with log");
      if (log && parameter.type === "int" && step !== 1) add("step", step, "must be 1 with log");
    }
    problems.push(...conditionProblems(space, name, parameter));
  }
  return problems;
}

function conditionProblems(space: Space, name: string, { when }: Parameter): readonly SpaceProblem[] {
  if (when === undefined) return [];
  const other = Object.hasOwn(space, when.parameter) ? space[when.parameter] : undefined;
  const at = (...path: PropertyKey[]) => [name, "when", ...path];
  if (other === undefined) {
    const message = `must be a parameter of the space: ${Object.keys(space).join(", ")}`;
    return [{ path: at("parameter"), input: when.parameter, message }];
  }
  const cycle = cycleFrom(space, name);
  if (cycle !== undefined) {
    const message = `must not depend on itself: ${cycle.join(" → ")}`;
    return [{ path: at("parameter"), input: when.parameter, message }];
  }
  return when.in.flatMap((value, i) => {
    if (contains(other, value)) return [];
    return [{ path: at("in", i), input: value, message: `must be a value of ${when.parameter}` }];
  });
}

function cycleFrom(space: Space, name: string): readonly string[] | undefined {
  const seen = [name];
  for (let at = space[name]?.when?.parameter; at !== undefined; at = space[at]?.when?.parameter) {
    if (at === name) return [...seen, at];
    if (seen.includes(at)) return undefined; // a cycle that this parameter is not part of
    seen.push(at);
  }
  return undefined;
}

export function contains(parameter: Parameter, value: Json): boolean {
  if (parameter.type === "categorical") return indexOfChoice(parameter.choices, value) >= 0;
  if (typeof value !== "number" || !(value >= parameter.low && value <= parameter.high)) return false;
  if (parameter.type === "int" && !Number.isInteger(value)) return false;
  return (
    parameter.step === undefined || Math.abs(value - snap(parameter, value)) <= 1e-9 * Math.max(1, Math.abs(value))
  );
}

export function indexOfChoice(choices: readonly Json[], value: Json): number {
  const text = JSON.stringify(value);
  return choices.findIndex((choice) => JSON.stringify(choice) === text);
}

/** Tests whether a parameter is active at a point, whose parameters on which it depends are decided. */
export function isActive({ when }: Parameter, point: Point): boolean {
  if (when === undefined) return true;
  return Object.hasOwn(point, when.parameter) && indexOfChoice(when.in, point[when.parameter] as Json) >= 0;
}

/** Returns the names of the parameters, each after the one on which it depends. */
export function parameterOrder(space: Space): readonly string[] {
  const order: string[] = [];
  const visit = (name: string): void => {
    if (order.includes(name)) return;
    const parent = space[name]?.when?.parameter;
    if (parent !== undefined) visit(parent);
    order.push(name);
  };
  for (const name of Object.keys(space)) visit(name);
  return order;
}

/** Returns the number of values of a parameter; infinite for a float without a step. */
export function cardinality(parameter: Parameter): number {
  if (parameter.type === "categorical") return parameter.choices.length;
  const { low, high, step } = parameter;
  if (low === high) return 1;
  return step === undefined ? Number.POSITIVE_INFINITY : Math.floor((high - low) / step + 1e-9) + 1;
}

export function snap(parameter: NumericParameter, value: number): number {
  const { low, high, step } = parameter;
  const inside = Math.min(high, Math.max(low, value));
  if (step === undefined) return inside;
  const last = cardinality(parameter) - 1;
  const stepped = low + Math.min(last, Math.max(0, Math.round((inside - low) / step))) * step;
  // Removes the rounding errors of the product: 0.1 + 2 × 0.1 is written as 0.3.
  return parameter.type === "int" ? Math.round(stepped) : Number(stepped.toPrecision(12));
}

/** Maps the unit interval to the values of a parameter, each with the same probability (logarithmic with `log`). */
export function fromUnit(parameter: Parameter, unit: number): Json {
  const inside = Math.min(1 - 2 ** -53, Math.max(0, unit));
  if (parameter.type === "categorical") {
    return parameter.choices[Math.floor(inside * parameter.choices.length)] as Json;
  }
  const [low, high] = internalBounds(parameter);
  return fromInternal(parameter, low + inside * (high - low));
}

/**
 * Returns the bounds of a numeric parameter on the scale on which it is searched: logarithmic with `log`, and half a
 * step wider at each end if it has steps, so that all values are equally wide.
 */
export function internalBounds(parameter: NumericParameter): readonly [low: number, high: number] {
  const { low, log, step } = parameter;
  const half = (step ?? 0) / 2;
  const last = step === undefined ? parameter.high : low + (cardinality(parameter) - 1) * step;
  return log ? [Math.log(low - half), Math.log(last + half)] : [low - half, last + half];
}

/** Maps a value to the scale on which its parameter is searched. */
export function toInternal({ log }: NumericParameter, value: number): number {
  return log ? Math.log(value) : value;
}

/** Maps a number of that scale to the nearest value of the parameter. */
export function fromInternal(parameter: NumericParameter, value: number): number {
  return snap(parameter, parameter.log ? Math.exp(value) : value);
}

/** Returns the number of combinations; that of inactive parameters counts too, so it is an upper bound. */
export function gridSize(space: Space): number {
  return Object.values(space).reduce((size, parameter) => size * cardinality(parameter), 1);
}
