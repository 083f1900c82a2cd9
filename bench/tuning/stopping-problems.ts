import { type Objective, objectiveSchema } from "../../core/tuning/history";
import { samplerSettingsSchema, schedulerSettingsSchema } from "../../core/tuning/settings";
import { type Json, type Point, type Space, spaceSchema } from "../../core/tuning/space";
import { simulate } from "../../test/core/tuning/simulated-study";

/** Learning curves over a space, one parameter of which has values that end badly: half of them. */
interface Problem {
  readonly space: Space;
  readonly objective: Objective;
  /** The bad values: choices, or one half of the range on its scale. */
  readonly bad: { readonly parameter: string; readonly choices?: readonly Json[]; readonly half?: "lower" | "upper" };
  /** Loss that a bad value adds. */
  readonly gap: number;
  /** Amplitude of what differs from epoch to epoch. */
  readonly noise: number;
}

const x = { type: "float", low: 0, high: 1 };
const rate = { type: "float", low: 1e-5, high: 1, log: true };
const int = (low: number, high: number, more = {}) => ({ type: "int", low, high, ...more });
const oneOf = (...choices: readonly string[]) => ({ type: "categorical", choices });
const only = (parameter: string, values: readonly string[], one: object) => ({
  ...{ ...one, when: { parameter, in: values } },
});
const problem = (space: object, bad: Problem["bad"], { gap = 0.5, noise = 0.02, maximize = false } = {}): Problem => ({
  space: spaceSchema.parse(space),
  objective: objectiveSchema.parse({ metric: "validation/loss", direction: maximize ? "maximize" : "minimize" }),
  ...{ bad, gap, noise },
});

const cnn = (one: object) => only("model", ["cnn"], one);
const cosine = (one: object) => only("schedule", ["cosine"], one);
/** Five flat and five conditional problems. */
export const problems: Readonly<Record<string, Problem>> = {
  "half of a float": problem({ x }, { parameter: "x", half: "upper" }),
  "rates that diverge": problem({ rate, decay: rate }, { parameter: "rate", half: "upper" }, { gap: 2 }),
  "narrow layers": problem(
    { width: int(16, 512, { log: true }), layers: int(1, 8), x },
    { parameter: "width", half: "lower" },
    { gap: 0.3, maximize: true },
  ),
  "three of six choices": problem(
    { kind: oneOf("a", "b", "c", "d", "e", "f"), x, y: x },
    { parameter: "kind", choices: ["b", "d", "f"] },
  ),
  "half of one of five": problem({ a: x, b: x, c: x, d: x, e: x }, { parameter: "c", half: "lower" }, { gap: 1 }),
  "two optimizers": problem(
    {
      optimizer: oneOf("sgd", "adam"),
      "adam.rate": only("optimizer", ["adam"], rate),
      "sgd.rate": only("optimizer", ["sgd"], rate),
    },
    { parameter: "optimizer", choices: ["sgd"] },
  ),
  "parameters of the bad branch": problem(
    {
      model: oneOf("mlp", "cnn"),
      ...{ filters: cnn(int(4, 64, { log: true })), kernel: cnn(int(1, 7, { step: 2 })), dropout: cnn(x), rate },
    },
    { parameter: "model", choices: ["cnn"] },
    { gap: 0.8 },
  ),
  "parameters of the good branch": problem(
    { schedule: oneOf("constant", "cosine"), rate, warmUp: cosine(x), floor: cosine(x) },
    { parameter: "schedule", choices: ["constant"] },
    { gap: 0.4, maximize: true },
  ),
  "a branch of a branch": problem(
    {
      family: oneOf("tree", "net"),
      ...{ depth: only("family", ["tree"], int(2, 12)), rate: only("family", ["tree"], rate) },
      activation: only("family", ["net"], oneOf("relu", "tanh")),
      ...{ gain: only("activation", ["tanh"], x), decay: only("family", ["net"], rate) },
    },
    { parameter: "family", choices: ["net"] },
  ),
  "two of four branches": problem(
    {
      kind: oneOf("a", "b", "c", "d"),
      ...{ x: only("kind", ["a", "b"], x), y: only("kind", ["b", "c"], x), z: only("kind", ["c", "d"], x) },
    },
    { parameter: "kind", choices: ["c", "d"] },
    { noise: 0.05 },
  ),
};

function isBad({ space, bad: { parameter, choices, half } }: Problem, params: Point): boolean {
  if (choices) return choices.includes(params[parameter] as Json);
  return half === "upper" ? unitOf(space, parameter, params) > 0.5 : unitOf(space, parameter, params) < 0.5;
}

/** Returns the objective after an epoch. `bench/tuning/schedulers.py` has the same formula. */
function objectiveAt(problem: Problem, params: Point, epoch: number, seed: number): number {
  const { space, bad, objective, gap, noise } = problem;
  let distance = 0;
  let phase = seed;
  for (const [at, name] of Object.keys(space).entries()) {
    if (params[name] === undefined) continue;
    const place = unitOf(space, name, params);
    phase += (at + 1) * 37.719 * place;
    if (space[name]!.type === "categorical") continue;
    const any = 0.2 + (0.6 * ((seed * 7 + at * 13 + 5) % 31)) / 30;
    // The best value of the parameter with the bad half is in the other one.
    const centre = name !== bad.parameter ? any : bad.half === "upper" ? any / 2 : 0.5 + any / 2;
    distance += 0.5 * (place - centre) ** 2;
  }
  const wave = noise * Math.sin(12.9898 * epoch + phase);
  const loss = 0.1 + distance + (isBad(problem, params) ? gap : 0) + 2 * Math.exp(-0.3 * epoch) + wave;
  return objective.direction === "minimize" ? loss : 1 - loss;
}

/** Returns the place of a value: between 0 and 1, or the index of a choice. */
function unitOf(space: Space, name: string, params: Point): number {
  const parameter = space[name]!;
  if (parameter.type === "categorical") return parameter.choices.indexOf(params[name] as Json);
  const { low, high, log } = parameter;
  const value = Number(params[name]);
  return log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
}

interface Task {
  readonly sampler: string;
  readonly scheduler: string;
  readonly seed: number;
  readonly trials: number;
  readonly epochs: number;
  readonly parallel: number;
}

/** Returns the number of bad trials in the second half of a study. */
export function lateBadTrials(problem: Problem, { sampler, scheduler, seed, trials, epochs, parallel }: Task): number {
  const definition = {
    ...{ space: problem.space, objectives: [problem.objective], parallel, maxEpochs: epochs, stop: { trials } },
    sampler: samplerSettingsSchema.parse({ type: sampler, seed }),
    scheduler: schedulerSettingsSchema.parse({ type: scheduler }),
  };
  const study = simulate({
    definition,
    curve: (params, epoch) => objectiveAt(problem, params, epoch, seed),
    next: () => 0,
  });
  return study.trials.slice(trials / 2).filter(({ params }) => isBad(problem, params)).length;
}
