import type { ObservedTrial } from "../../../core/tuning/history";
import { createSampler } from "../../../core/tuning/sampler";
import { GaussianProcess } from "../../../core/tuning/samplers/gaussian-process";
import { detrended, gpSampler, logExpectedImprovement } from "../../../core/tuning/samplers/gp";
import { comparable } from "../../../core/tuning/schedulers/rank";
import { samplerSettingsSchema } from "../../../core/tuning/settings";
import { spaceSchema } from "../../../core/tuning/space";
import { expectValid } from "./spaces";

const minimize = { metric: "validation/loss", direction: "minimize" } as const;
const trial = (number: number, ...values: readonly number[]): ObservedTrial => ({
  number,
  params: { x: number / 10 },
  state: "stopped",
  reports: [],
  curve: values.map((value, i) => ({ at: i / 2, value })),
});

describe("the curves of stopped trials", () => {
  it("are compared without the trend that they share", () => {
    // The two trials with a second value fell by 2 and 1, the larger of which is the middle; the third value fell by 1.
    const history = [trial(0, 5), trial(1, 4, 2), trial(2, 3, 2, 1)];
    expect(detrended(history, minimize).map(({ trial: { number }, at, loss }) => [number, at, loss])).toEqual([
      [0, 0, 5],
      [1, 0, 4],
      [1, 0.5, 3],
      [2, 0, 3],
      [2, 0.5, 3],
      [2, 1, 3],
    ]);
  });

  it("are losses where the objective is maximized, and trials of earlier studies count at the end", () => {
    const earlier: ObservedTrial = { number: -1, params: { x: 1 }, state: "completed", reports: [], values: [0.75] };
    const found = detrended([earlier, trial(0, 0.5)], { ...minimize, direction: "maximize" });
    expect(found.map(({ at, loss }) => [at, loss])).toEqual([
      [1, -0.75],
      [0, -0.5],
    ]);
  });

  it("are passed to samplers with the trials that their scheduler stopped, and without those that failed", () => {
    const reports = (count: number) => Array.from({ length: count }, (_, i) => ({ epoch: i + 1, value: 10 - i }));
    const trials = [
      { number: 0, params: {}, state: "stopped", until: 1, reports: reports(1) },
      { number: 1, params: {}, state: "completed", until: 9, reports: reports(9) },
      { number: 2, params: {}, state: "failed", until: 9, reports: reports(4) },
      { number: 3, params: {}, state: "running", until: 3, reports: reports(2) },
    ] as const;
    const seen = comparable(trials, [1, 3, 9], ({ number }) => number < 3);
    expect(seen.map(({ number, curve }) => [number, curve])).toEqual([
      [0, [{ at: 0, value: 10 }]],
      [1, [10, 8, 2].map((value, i) => ({ at: i / 2, value }))],
      [2, []],
      [3, undefined],
    ]);
  });

  it("lead to settings that end best, not to those that learn fast", () => {
    const space = spaceSchema.parse({ x: { type: "float", low: 0, high: 1 } });
    // Early, a high x is better; at the end, a low one is.
    const lossOf = (x: number, at: number) => (1 - at) * (2 - x) + at * x;
    const history = Array.from({ length: 24 }, (_, number): ObservedTrial => {
      const x = ((number * 7) % 24) / 24;
      const places = number % 4 === 0 ? [0, 0.5, 1] : [0, 0.5];
      return { ...trial(number), params: { x }, curve: places.map((at) => ({ at, value: lossOf(x, at) })) };
    });
    const sampler = gpSampler({ space, objectives: [minimize], seed: 1 }, { startupTrials: 10 });
    const suggested = [24, 25, 26, 27, 28].map((number) => sampler.suggest(history, number)?.["x"] as number);
    expect(Math.max(...suggested)).toBeLessThan(0.35);
    expect(sampler.suggest(history, 24)).toEqual({ x: suggested[0] });
  });
});

describe("a Gaussian process", () => {
  const xs = Array.from({ length: 12 }, (_, i) => i / 11);
  const points = xs.map((x) => Float64Array.of(x, (7 * x) % 1));
  const values = Float64Array.from(xs, (x) => Math.sin(5 * x));
  const model = new GaussianProcess(points, values, [0, 1], [...xs.keys()]);

  it("predicts what it has seen with little doubt, and more doubt elsewhere", () => {
    for (const [i, point] of points.entries()) {
      const { mean, deviation } = model.predict(point);
      expect(mean).toBeCloseTo(values[i]!, 1);
      expect(deviation).toBeLessThan(0.15);
    }
    expect(model.predict(Float64Array.of(0.5, 0.1)).mean).toBeCloseTo(Math.sin(2.5), 0);
  });

  it("finds that the second feature does not matter: its length is larger", () => {
    const [first, second] = model.hyperparameters.lengths;
    expect(second!).toBeGreaterThan(2 * first!);
  });
});

describe("the expected improvement", () => {
  it.each([
    [0, 0.398942],
    [1, 1.083316],
    [-1, 0.083315],
  ])("at %s is %s", (z, expected) => {
    expect(Math.exp(logExpectedImprovement(z))).toBeCloseTo(expected, 5);
  });

  it("is continuous where the series begins, and finite far below", () => {
    expect(logExpectedImprovement(-5.0001) / logExpectedImprovement(-4.9999)).toBeCloseTo(1, 1);
    expect(logExpectedImprovement(-1e3)).toBeLessThan(-4e5);
    expect(Number.isFinite(logExpectedImprovement(-1e6))).toBe(true);
  });
});

describe.each(["gp", "auto"] as const)("the sampler %s", (type) => {
  const space = spaceSchema.parse({
    rate: { type: "float", low: 1e-4, high: 1, log: true },
    layers: { type: "int", low: 1, high: 8 },
    optimizer: { type: "categorical", choices: ["adam", "momentum"] },
    momentum: { type: "float", low: 0, high: 1, when: { parameter: "optimizer", in: ["momentum"] } },
  });
  const lossAt = (params: ObservedTrial["params"]) =>
    (Math.log10(Number(params["rate"])) + 2) ** 2 + 0.2 * (Number(params["layers"]) - 3) ** 2;
  const sampler = createSampler(samplerSettingsSchema.parse({ type, seed: 4 }), space, [minimize]);
  const history: ObservedTrial[] = [];
  beforeAll(() => {
    for (let number = 0; number < 45; number += 1) {
      const params = sampler.suggest(history, number)!;
      const values = number % 7 === 3 ? [Number.NaN] : [lossAt(params)];
      history.push({ number, params, state: number % 11 === 5 ? "failed" : "completed", reports: [], values });
    }
  });

  it("suggests valid points, the same for the same history, and finds the least value", () => {
    for (const { params } of history) expectValid(space, params);
    const again = createSampler(samplerSettingsSchema.parse({ type, seed: 4 }), space, [minimize]);
    for (const number of [20, 31, 44])
      expect(again.suggest(history.slice(0, number), number)).toEqual(history[number]!.params);
    const best = Math.min(
      ...history.flatMap(({ state, values }) => (state === "completed" ? values! : [])).filter(Number.isFinite),
    );
    expect(best).toBeLessThan(0.05);
  });

  it("suggests another point than the trials that run", () => {
    const known = history.slice(0, 30);
    const others = [32, 33, 34, 35].filter((number) => {
      const params = sampler.suggest(known, number)!;
      const running: ObservedTrial = { number: 30, params, state: "running", reports: [] };
      return JSON.stringify(sampler.suggest([...known, running], number)) !== JSON.stringify(params);
    });
    expect(others.length).toBeGreaterThan(2);
  });
});
