import { bestFirst, bestTrials, type Objective, type ObservedTrial, scored } from "../../../core/tuning/history";
import { createSampler } from "../../../core/tuning/sampler";
import { coordinateOf, dimensionsOf } from "../../../core/tuning/samplers/coordinates";
import { drawsFor } from "../../../core/tuning/samplers/sampler";
import { createParzen } from "../../../core/tuning/samplers/tpe";
import { samplerSettingsSchema } from "../../../core/tuning/settings";
import { type Point, type Space, spaceSchema } from "../../../core/tuning/space";
import { rounds } from "../../support/rounds";
import { conditional, expectValid, randomSpace } from "./spaces";

const minimize: readonly Objective[] = [{ metric: "loss", direction: "minimize" }];
const settings = (seed: number) => samplerSettingsSchema.parse({ type: "tpe", seed });
const completed = (number: number, params: Point, ...values: number[]): ObservedTrial => ({
  ...{ number, params, values },
  state: "completed",
  reports: [],
});

function study(space: Space, seed: number, trials: number, lossOf: (point: Point) => number) {
  const sampler = createSampler(settings(seed), space, minimize);
  const history: ObservedTrial[] = [];
  for (let number = 0; number < trials; number += 1) {
    const params = sampler.suggest(history, number)!;
    history.push(completed(number, params, lossOf(params)));
  }
  return history;
}

describe("the density of a Parzen estimator", () => {
  const space = spaceSchema.parse({
    x: { type: "float", low: 0, high: 1 },
    c: { type: "categorical", choices: ["a", "b"] },
  });
  const dimensions = dimensionsOf(space);

  it("is the mean of truncated normal kernels and a uniform one", () => {
    // One kernel at 0: the bandwidth is 0.2, and half of the normal distribution lies outside.
    const parzen = createParzen(dimensions, [Float64Array.of(0), Float64Array.of(Number.NaN)], 0.25, 1);
    const normal = (x: number) => (2 * Math.exp(-0.5 * (x / 0.2) ** 2)) / (0.2 * Math.sqrt(2 * Math.PI));
    for (const x of [0, 0.1, 0.5, 1]) {
      expect(Math.exp(parzen.logDensity([x, Number.NaN]))).toBeCloseTo(0.25 + 0.75 * normal(x), 4);
    }
  });

  it("gives a choice the share of its trials, mixed with the uniform distribution", () => {
    // Two trials, two choices: each kernel draws uniformly with the probability 2 / (2 + 2).
    const parzen = createParzen(dimensions, [Float64Array.of(0.5, 0.5), Float64Array.of(0, 0)], 0, 1);
    const density = (choice: number) => Math.exp(parzen.logDensity([Number.NaN, choice]));
    expect(density(0) / 2).toBeCloseTo(0.75, 12);
    expect(density(1) / 2).toBeCloseTo(0.25, 12);
  });
});

describe("the order of trials", () => {
  it("puts feasible trials first, then those that exceed their constraints least, without failed ones", () => {
    const history: ObservedTrial[] = [
      { ...completed(0, {}, 1), constraints: [2] },
      completed(1, {}, 5),
      { ...completed(2, {}, 9), constraints: [0.5, -3] },
      { ...completed(3, {}, 4), constraints: [-1] },
      completed(4, {}, Number.NaN),
      { ...completed(5, {}, 0), state: "failed" },
    ];
    expect(bestFirst(scored(history, minimize)).map(({ trial }) => trial.number)).toEqual([3, 1, 2, 0]);
  });

  it("puts stopped trials after those that were compared, by how much they reached and their value there", () => {
    const stopped = (number: number, reached: number, value: number): ObservedTrial => ({
      ...{ number, reached, params: {}, state: "stopped", reports: [{ epoch: 9 * reached, value }] },
    });
    const history = [stopped(0, 1 / 9, 1), stopped(1, 1 / 3, 5), stopped(2, 1 / 3, 4), completed(3, {}, 9)];
    expect(bestFirst(scored(history, minimize)).map(({ trial }) => trial.number)).toEqual([3, 2, 1, 0]);
    const objectives: readonly Objective[] = [...minimize, { metric: "accuracy", direction: "maximize" }];
    const both = [...history.slice(0, 3), completed(3, {}, 9, 0), completed(4, {}, 8, 1)];
    expect(bestFirst(scored(both, objectives)).map(({ trial }) => trial.number)).toEqual([4, 3, 2, 1, 0]);
  });

  it("compares several objectives by fronts, and by crowding within a front", () => {
    const objectives: readonly Objective[] = [...minimize, { metric: "accuracy", direction: "maximize" }];
    const history = [
      completed(0, {}, 2, -9), // dominated by 1 and 2
      completed(1, {}, 1, -8),
      completed(2, {}, 0, -10),
      completed(3, {}, 10, 0),
      completed(4, {}, 0.5, -9.5), // the most crowded of the first front
      completed(5, {}, 11, -1), // dominated by 3
    ];
    const numbers = bestFirst(scored(history, objectives)).map(({ trial }) => trial.number);
    expect(new Set(numbers.slice(0, 4))).toEqual(new Set([1, 2, 3, 4]));
    expect(numbers[3]).toBe(4);
    expect(new Set(numbers.slice(4))).toEqual(new Set([0, 5]));
  });
});

describe("TPE", () => {
  it("suggests valid points of random spaces, the same ones for the same history", () => {
    for (let seed = 0; seed < rounds(4, 40); seed += 1) {
      const space = seed === 0 ? conditional : randomSpace(seed);
      const draws = drawsFor(seed);
      const history = study(space, seed, 40, () => draws.uniform());
      for (const { params } of history) expectValid(space, params);
      const again = createSampler(settings(seed), space, minimize);
      expect(again.suggest(history, 40)).toEqual(createSampler(settings(seed), space, minimize).suggest(history, 40));
    }
  });

  it("finds a narrow region that random draws miss, also below a condition", () => {
    const distance = (params: Point) =>
      params["optimizer"] === "sgd"
        ? Math.abs(Math.log10(Number(params["rate"])) + 3) + Math.abs(Number(params["momentum"]) - 0.6)
        : 2;
    for (let seed = 1; seed <= rounds(1, 3); seed += 1) {
      const late = study(conditional, seed, 120, distance).slice(100);
      const near = late.filter(({ params }) => distance(params) < 1);
      expect(near.length).toBeGreaterThanOrEqual(14); // a random draw is near with a probability below 0.2
    }
  });

  it("covers more of the front of two objectives than random draws", () => {
    const unit = { type: "float", low: 0, high: 1 };
    const space = spaceSchema.parse({ x: unit, y: unit, z: unit });
    const two: readonly Objective[] = [...minimize, { metric: "size", direction: "minimize" }];
    // Area that ZDT1's front, f2 = 1 − √f1, dominates below (1, 5) (Zitzler et al., 2000).
    const area = (type: "tpe" | "random") => {
      const sampler = createSampler(samplerSettingsSchema.parse({ type, seed: 1 }), space, two);
      const history: ObservedTrial[] = [];
      for (let number = 0; number < 150; number += 1) {
        const params = sampler.suggest(history, number)!;
        const [x = 0, y = 0, z = 0] = ["x", "y", "z"].map((name) => Number(params[name]));
        const g = 1 + 4.5 * (y + z);
        history.push(completed(number, params, x, g * (1 - Math.sqrt(x / g))));
      }
      const front = bestTrials(history, two).map(({ values = [] }) => values);
      let [sum, above] = [0, 5];
      for (const [first = 1, second = 5] of front.sort((a, b) => a[0]! - b[0]!)) {
        sum += (1 - first) * Math.max(0, above - second);
        above = Math.min(above, second);
      }
      return sum;
    };
    expect(area("tpe")).toBeGreaterThan(1.1 * area("random"));
  });

  it("moves away from trials that are running", () => {
    const space = spaceSchema.parse({ x: { type: "float", low: 0, high: 1 } });
    const sampler = createSampler(settings(5), space, minimize);
    const history = study(space, 5, 40, ({ x }) => Math.abs(Number(x) - 0.5));
    const alone = Number(sampler.suggest(history, 40)?.["x"]);
    const running = Array.from(
      { length: 30 },
      (_, i): ObservedTrial => ({ number: 100 + i, params: { x: alone }, state: "running", reports: [] }),
    );
    const apart = Number(sampler.suggest([...history, ...running], 40)?.["x"]);
    expect(Math.abs(apart - alone)).toBeGreaterThan(0.02);
  });

  it("moves away from trials that failed or whose value is not a number", () => {
    const space = spaceSchema.parse({ kind: { type: "categorical", choices: ["a", "b"] }, x: conditional["rate"]! });
    for (const end of [{ state: "failed" }, { values: [Number.NaN] }] as const) {
      const sampler = createSampler(settings(3), space, minimize);
      const history: ObservedTrial[] = [];
      for (let number = 0; number < 40; number += 1) {
        const params = sampler.suggest(history, number)!;
        history.push({ ...completed(number, params, Number(params["x"])), ...(params["kind"] === "b" ? end : {}) });
      }
      expect(history.slice(20).filter(({ params }) => params["kind"] === "b").length).toBeLessThan(8); // 10 at random, 20 without
    }
  });

  it("ignores the values of a warm start that the space does not have", () => {
    const history = study(conditional, 4, 20, ({ rate }) => Number(rate));
    const foreign = completed(50, { optimizer: "lion", rate: 7, width: "wide" }, -1);
    expectValid(conditional, createSampler(settings(4), conditional, minimize).suggest([foreign, ...history], 20)!);
  });

  it("maps values to coordinates on the scale of the search", () => {
    const [rate] = dimensionsOf(conditional).filter(({ name }) => name === "rate");
    expect(coordinateOf(rate!, { rate: 1e-5 })).toBeCloseTo(0, 12);
    expect(coordinateOf(rate!, { rate: 1 })).toBeCloseTo(1, 12);
    expect(coordinateOf(rate!, { rate: 2 })).toBeNaN();
    expect(coordinateOf(rate!, {})).toBeNaN();
  });
});
