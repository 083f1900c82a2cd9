import { readFileSync } from "node:fs";
import path from "node:path";
import { importanceOf } from "../../../api/pages/study-importance";
import type { ObservedTrial } from "../../../core/tuning/history";
import { randomSampler } from "../../../core/tuning/samplers/sampler";
import { type Point, type Space, spaceSchema } from "../../../core/tuning/space";

const objectives = [{ metric: "test/loss", direction: "minimize" }] as const;
const trialsOf = (space: Space, count: number, value: (params: Point) => number): readonly ObservedTrial[] => {
  const sampler = randomSampler({ space, objectives, seed: 4 });
  return Array.from({ length: count }, (_, number) => {
    const params = sampler.suggest([], number)!;
    return { number, params, state: "completed", reports: [], values: [value(params)] };
  });
};
const units = (count: number, more: object = {}): Space => {
  const names = Array.from({ length: count }, (_, at) => `x${at}`);
  return spaceSchema.parse(
    Object.fromEntries(names.map((name) => [name, { type: "float", low: 0, high: 1, ...more }])),
  );
};
const number = (params: Point, name: string) => Number(params[name]);

const cases: readonly {
  readonly name: string;
  readonly space: Space;
  readonly value: (params: Point) => number;
  readonly expected: readonly number[];
  readonly tolerance?: number;
}[] = [
  {
    // The variances are 1/12 and 4/12.
    name: "of a sum is the share of each term's variance",
    space: units(3),
    value: (params) => number(params, "x0") + 2 * number(params, "x1"),
    expected: [0.2, 0.8, 0],
  },
  {
    // Ishigami and Homma, 1990, with a = 7 and b = 0.1. One split of sin² gains nothing, which trees find hard.
    name: "of Ishigami's function leaves out what comes from interactions",
    space: units(3, { low: -Math.PI, high: Math.PI }),
    value: (params) => {
      const [x, y, z] = [number(params, "x0"), number(params, "x1"), number(params, "x2")];
      return Math.sin(x) + 7 * Math.sin(y) ** 2 + 0.1 * z ** 4 * Math.sin(x);
    },
    expected: [0.314, 0.442, 0],
    tolerance: 0.13,
  },
  {
    // ln x of uniform x has the variance 1, so log10 x 0.19. One of two values, each in half of the cases: 0.25.
    name: "counts plain values, also with log, and for each choice whether it was taken",
    space: spaceSchema.parse({
      x: { type: "float", low: 1e-4, high: 1, log: true },
      c: { type: "categorical", choices: ["a", "b", "c"] },
    }),
    value: ({ x, c }) => Math.log10(Number(x)) + (c === "b" ? 1 : 0),
    expected: [0.43, 0.57],
  },
];

describe("importance", () => {
  it.each(cases)("$name", ({ space, value, expected, tolerance = 0.05 }) => {
    const found = Object.values(importanceOf(trialsOf(space, 1_000, value), space, objectives)!);
    for (const [at, share] of expected.entries()) expect(Math.abs(found[at]! - share)).toBeLessThan(tolerance);
  });

  it.each([
    ["the last epoch, which nine of ten trials have reached", 0.9, "x1"],
    ["an earlier one, where fewer have reached the last", 0.5, "x0"],
  ])("compares trials after %s", (_name, share, decisive) => {
    const trials = trialsOf(units(2), 100, () => 0).map(({ values: _, ...trial }): ObservedTrial => {
      const isComplete = trial.number < 100 * share;
      const reports = [1, 9].slice(0, isComplete ? 2 : 1).map((epoch) => ({
        epoch,
        value: (epoch === 1 ? 100 : 0) + number(trial.params, epoch === 1 ? "x0" : "x1"),
      }));
      return { ...trial, reports, state: isComplete ? "completed" : "stopped" };
    });
    expect(importanceOf(trials, units(2), objectives)![decisive]).toBeGreaterThan(0.9);
  });

  it.each([
    ["its values do not", (value: number) => value, 0],
    // The variance of the choice is 0.09, that of the parameter in a half of the cases 0.013.
    ["its values do", (value: number) => 1 - 0.8 * value, 0.15],
  ])("of a choice is not that of the parameters which it activates, where %s matter", (_name, effect, least) => {
    const when = { parameter: "kind", in: ["b"] };
    const space = spaceSchema.parse({
      inner: { type: "float", low: 0, high: 1, when },
      mode: { type: "categorical", choices: ["p", "q"], when },
      kind: { type: "categorical", choices: ["a", "b"] },
    });
    const value = ({ kind, inner }: Point) => (kind === "a" ? 0 : least === 0 ? 1 : effect(Number(inner)));
    const found = importanceOf(trialsOf(space, 80, value), space, objectives)!;
    expect(found["kind"]).toBeGreaterThan(0.5);
    expect(found["mode"]).toBeLessThan(0.03);
    if (least === 0) expect(found["inner"]).toBe(0);
    else expect(found["inner"]).toBeGreaterThan(0.05);
  });

  /** Written by `test/peers/optuna-importance.py`. */
  const studies = readFileSync(path.join(__dirname, "../../peers/optuna-importance.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

  it.each(studies.map((study) => [study.name, study]))("is within 0.05 of Optuna's fANOVA: %s", (_name, study) => {
    const trials = study.trials.map(
      (trial: Pick<ObservedTrial, "params" | "reports" | "values">, at: number): ObservedTrial => ({
        ...{ ...trial, number: at },
        state: trial.values ? "completed" : "stopped",
      }),
    );
    const found = importanceOf(trials, spaceSchema.parse(study.space), objectives)!;
    // Optuna has no figure for parameters that not all trials have. Here they have no influence.
    for (const [name, share] of Object.entries(found)) {
      expect(Math.abs(share - (study.importance[name] ?? 0))).toBeLessThan(0.05);
    }
  });

  it.each([
    ["few trials", 9, ({ x0 }: Point) => Number(x0)],
    ["no number", 50, () => NaN],
    ["no difference", 50, () => 0.1],
  ])("is unknown with %s", (_name, count, value) => {
    expect(importanceOf(trialsOf(units(2), count, value), units(2), objectives)).toBeUndefined();
  });
});
