import { importanceOf } from "../../../api/pages/study-importance";
import { drawsFor } from "../../../core/tuning/draws";
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
const units = (count: number, more: object = {}): Space =>
  spaceSchema.parse(
    Object.fromEntries(
      Array.from({ length: count }, (_, at) => [`x${at}`, { type: "float", low: 0, high: 1, ...more }]),
    ),
  );
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
    // log x is uniform over 4 decades: variance 16/12. The choices 0, 3 and 0: variance 2.
    name: "counts on the scale of the parameter, and for categories",
    space: spaceSchema.parse({
      x: { type: "float", low: 1e-4, high: 1, log: true },
      c: { type: "categorical", choices: ["a", "b", "c"] },
    }),
    value: ({ x, c }) => Math.log10(Number(x)) + (c === "b" ? 3 : 0),
    expected: [0.4, 0.6],
  },
];

describe("importance", () => {
  it.each(cases)("$name", ({ space, value, expected, tolerance = 0.05 }) => {
    const found = Object.values(importanceOf(trialsOf(space, 1_000, value), space, objectives)!);
    for (const [at, share] of expected.entries()) expect(Math.abs(found[at]! - share)).toBeLessThan(tolerance);
  });

  it("is the same for the same trials", () => {
    const trials = trialsOf(units(2), 50, ({ x0 }) => Number(x0));
    expect(importanceOf(trials, units(2), objectives)).toEqual(importanceOf(trials, units(2), objectives));
  });

  it("compares stopped trials with completed ones after the same epoch", () => {
    const draws = drawsFor(1);
    const trials = trialsOf(units(2), 100, () => 0).map(({ values: _, ...trial }): ObservedTrial => {
      const last = draws.index(2) === 0 ? 1 : 9;
      const reports = [1, 9]
        .filter((epoch) => epoch <= last)
        .map((epoch) => ({
          epoch,
          value: (epoch === 1 ? 100 : 0) + number(trial.params, epoch === 1 ? "x0" : "x1"),
        }));
      return { ...trial, reports, state: last === 9 ? "completed" : "stopped" };
    });
    expect(importanceOf(trials, units(2), objectives)!["x1"]).toBeGreaterThan(0.9);
  });

  it("is unknown with few trials, without a number, and where nothing differs", () => {
    const space = units(2);
    expect(
      importanceOf(
        trialsOf(space, 9, ({ x0 }) => Number(x0)),
        space,
        objectives,
      ),
    ).toBeUndefined();
    expect(
      importanceOf(
        trialsOf(space, 50, () => NaN),
        space,
        objectives,
      ),
    ).toBeUndefined();
    expect(
      importanceOf(
        trialsOf(space, 50, () => 0.1),
        space,
        objectives,
      ),
    ).toBeUndefined();
  });
});
