import type { ObservedTrial } from "../../../core/tuning/history";
import { createSampler } from "../../../core/tuning/sampler";
import { GaussianProcess } from "../../../core/tuning/samplers/gaussian-process";
import { logExpectedImprovement } from "../../../core/tuning/samplers/gp";
import { samplerSettingsSchema } from "../../../core/tuning/settings";
import { contains, spaceSchema } from "../../../core/tuning/space";

const objectives = [{ metric: "loss", direction: "minimize" }] as const;

describe("a Gaussian process", () => {
  const xs = Array.from({ length: 12 }, (_, i) => i / 11);
  const points = xs.map((x) => Float64Array.of(x, (7 * x) % 1));
  const values = Float64Array.from(xs, (x) => Math.sin(5 * x));
  const model = new GaussianProcess(
    points,
    values,
    [0, 1],
    xs.map((_, i) => i),
  );

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
  // z Φ(z) + φ(z): at 0 it is φ(0) = 0.398942; at 1 it is 0.841345 + 0.241971; at -1 it is -0.158655 + 0.241971.
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
  const run = (trials: number) => {
    const sampler = createSampler(samplerSettingsSchema.parse({ type, seed: 4 }), space, objectives);
    const history: ObservedTrial[] = [];
    for (let number = 0; number < trials; number += 1) {
      const params = sampler.suggest(history, number)!;
      const values = number % 7 === 3 ? [Number.NaN] : [lossAt(params)];
      history.push({ number, params, state: number % 11 === 5 ? "failed" : "completed", reports: [], values });
    }
    return history;
  };

  it("suggests valid points, the same for the same history, and finds the least value", () => {
    const history = run(45);
    for (const { params } of history) {
      for (const [name, value] of Object.entries(params)) expect(contains(space[name]!, value)).toBe(true);
      expect("momentum" in params).toBe(params["optimizer"] === "momentum");
    }
    expect(run(45)).toEqual(history);
    const best = Math.min(
      ...history.flatMap(({ state, values }) => (state === "completed" ? values! : [])).filter(Number.isFinite),
    );
    expect(best).toBeLessThan(0.05);
  });

  it("suggests another point than the trials that run", () => {
    const history = run(30);
    const sampler = createSampler(samplerSettingsSchema.parse({ type, seed: 4 }), space, objectives);
    const others = [32, 33, 34, 35].filter((number) => {
      const params = sampler.suggest(history, number)!;
      const running: ObservedTrial = { number: 30, params, state: "running", reports: [] };
      return JSON.stringify(sampler.suggest([...history, running], number)) !== JSON.stringify(params);
    });
    expect(others.length).toBeGreaterThan(2);
  });
});
