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

describe("importance", () => {
  it("of a sum is near the share of each term's variance", () => {
    // The variances are 1/12 and 4/12.
    const trials = trialsOf(units(3), 1_000, (params) => number(params, "x0") + 2 * number(params, "x1"));
    const found = Object.values(importanceOf(trials, units(3), objectives)!);
    for (const [at, share] of [0.2, 0.8, 0].entries()) expect(Math.abs(found[at]! - share)).toBeLessThan(0.05);
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

  it("of an inactive parameter counts the trials in which it is active", () => {
    const space = spaceSchema.parse({
      inner: { type: "float", low: 0, high: 1, when: { parameter: "kind", in: ["b"] } },
      kind: { type: "categorical", choices: ["a", "b"] },
    });
    const trials = trialsOf(space, 200, ({ kind, inner }) => (kind === "a" ? 2 : Number(inner)));
    const found = importanceOf(trials, space, objectives)!;
    expect(found["inner"]).toBeCloseTo(1);
    expect(found["kind"]).toBeGreaterThan(0.5);
  });

  it.each([
    ["few trials", 9, ({ x0 }: Point) => Number(x0)],
    ["no number", 50, () => NaN],
    ["no difference", 50, () => 0.1],
  ])("is unknown with %s", (_name, count, value) => {
    expect(importanceOf(trialsOf(units(2), count, value), units(2), objectives)).toBeUndefined();
  });
});
