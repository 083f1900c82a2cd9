import { frontOf, type Objective, type ObservedTrial, scored } from "../../../core/tuning/history";
import { createSampler } from "../../../core/tuning/sampler";
import { eigenOf } from "../../../core/tuning/samplers/cmaes";
import { drawsFor } from "../../../core/tuning/samplers/sampler";
import { sobolDirections, sobolPoint } from "../../../core/tuning/samplers/sobol";
import { problemsOfSampler, samplerSettingsSchema } from "../../../core/tuning/settings";
import { type Point, type Space, spaceSchema } from "../../../core/tuning/space";
import { rounds } from "../../support/rounds";
import { conditional, expectValid, randomSpace } from "./spaces";

const minimize: readonly Objective[] = [{ metric: "loss", direction: "minimize" }];
const box = (size: number, low = -2, high = 2): Space =>
  spaceSchema.parse(
    Object.fromEntries(Array.from({ length: size }, (_, i) => [`x${i}`, { type: "float", low, high }])),
  );
const numbersOf = (point: Point): number[] => Object.values(point).map(Number);

function study(
  type: string,
  space: Space,
  lossesOf: (point: Point) => readonly number[],
  { seed = 0, trials = 200, parallel = 1, objectives = minimize, more = {} } = {},
): readonly ObservedTrial[] {
  const sampler = createSampler(samplerSettingsSchema.parse({ type, seed, ...more }), space, objectives);
  const history: ObservedTrial[] = [];
  for (let number = 0; number < trials; number += parallel) {
    const running = Array.from({ length: parallel }, (_, i): ObservedTrial => {
      const params = sampler.suggest(history, number + i)!;
      return { number: number + i, params, state: "running", reports: [] };
    });
    for (const trial of running) history.push({ ...trial, state: "completed", values: lossesOf(trial.params) });
  }
  return history;
}
const bestOf = (history: readonly ObservedTrial[]): number => Math.min(...history.map(({ values }) => values![0]!));

describe.each(["sobol", "cmaes", "nsga2"])("the sampler %s", (type) => {
  it("suggests only valid points, the same for the same history, with failed and unfinished trials", () => {
    for (let seed = 0; seed < rounds(4, 25); seed += 1) {
      const space = seed === 0 ? conditional : randomSpace(seed);
      const sampler = createSampler(samplerSettingsSchema.parse({ type, seed }), space, minimize);
      const history: ObservedTrial[] = [];
      for (let number = 0; number < 60; number += 1) {
        const params = sampler.suggest(history, number)!;
        expectValid(space, params);
        expect(sampler.suggest(history, number)).toEqual(params);
        const state = number % 7 === 3 ? "failed" : number % 11 === 5 ? "running" : "completed";
        const values = state === "completed" ? { values: [number % 13 === 4 ? Number.NaN : (number * 37) % 17] } : {};
        history.push({ number, params, state, reports: [], ...values });
      }
    }
  });
});

describe("Sobol's sequence", () => {
  it("has the points of the published direction numbers", () => {
    // The first eight points of dimensions 1 to 5, as scipy.stats.qmc.Sobol(5, scramble=False) gives them.
    const eighths = [
      [0, 0, 0, 0, 0],
      [4, 4, 4, 4, 4],
      [6, 2, 2, 2, 6],
      [2, 6, 6, 6, 2],
      [3, 3, 5, 7, 3],
      [7, 7, 1, 3, 7],
      [5, 1, 7, 5, 5],
      [1, 5, 3, 1, 1],
    ];
    const directions = sobolDirections(5);
    const found = eighths.map((_, index) => directions.map((one) => sobolPoint(one, index) / 2 ** 29));
    expect(found).toEqual(eighths);
    // A hundred parameters are the most that a space has.
    expect(sobolDirections(100)).toHaveLength(100);
  });

  it("puts one of the first 64 trials into each 64th of every parameter, for every seed", () => {
    for (const seed of [0, 99]) {
      const history = study("sobol", box(100, 0, 64), () => [0], { seed, trials: 64 });
      for (let dimension = 0; dimension < 100; dimension += 1) {
        const parts = history.map(({ params }) => Math.floor(params[`x${dimension}`] as number));
        expect(new Set(parts).size).toBe(64);
      }
    }
    const first = (seed: number) => study("sobol", box(2), () => [0], { seed, trials: 1 })[0]!.params;
    expect(first(1)).not.toEqual(first(2));
  });
});

describe("CMA-ES", () => {
  it("decomposes a symmetric matrix", () => {
    // Eigenvalues 1 and 3, with eigenvectors along (1, −1) and (1, 1).
    const { values, vectors } = eigenOf([
      [2, 1],
      [1, 2],
    ]);
    for (const [i, x] of [1, 3].entries()) expect([...values].sort()[i]).toBeCloseTo(x, 12);
    const product = vectors.flatMap((row) =>
      [0, 1].map((j) => row.reduce<number>((sum, x, k) => sum + x * values[k]! * vectors[j]![k]!, 0)),
    );
    for (const [i, x] of [2, 1, 1, 2].entries()) expect(product[i]).toBeCloseTo(x, 12);
  });

  it.each([1, 4])("converges on an ellipsoid that is turned and badly scaled, with %d trials at a time", (parallel) => {
    const ellipsoid = (point: Point): number[] => {
      const [a = 0, b = 0, c = 0] = numbersOf(point);
      return [(a + b - 0.7) ** 2 + 100 * (a - b + 0.3) ** 2 + 10 * (c - 0.2) ** 2];
    };
    for (let seed = 1; seed <= rounds(1, 5); seed += 1) {
      expect(bestOf(study("cmaes", box(3), ellipsoid, { seed, trials: 500, parallel }))).toBeLessThan(1e-4);
    }
  });

  it("finds whole numbers, although its distribution becomes narrow", () => {
    const space = spaceSchema.parse({
      width: { type: "int", low: 1, high: 100 },
      rate: { type: "float", low: 1e-5, high: 1, log: true },
    });
    const loss = ({ width, rate }: Point) => [
      ((width as number) - 37) ** 2 / 100 + (Math.log10(rate as number) + 3) ** 2,
    ];
    for (const seed of [1, 2]) expect(bestOf(study("cmaes", space, loss, { seed }))).toBeLessThan(1e-2);
  });

  it("starts again elsewhere with a larger population where nothing improves", () => {
    const history = study("cmaes", box(2), () => [1], { trials: 400 });
    const spread = (part: readonly ObservedTrial[]) => {
      const values = part.map(({ params }) => params["x0"] as number);
      return Math.max(...values) - Math.min(...values);
    };
    expect(spread(history.slice(300))).toBeGreaterThan(1);
  });

  it("is refused for several objectives, as gp is, and for choices alone", () => {
    const settings = samplerSettingsSchema.parse({ type: "cmaes" });
    expect(problemsOfSampler(settings, box(2), 2)).toEqual([
      {
        path: "sampler.type",
        value: "cmaes",
        rule: "must be nsga2, tpe, random, sobol, grid or auto for 2 objectives: cmaes searches for one",
      },
    ]);
    expect(problemsOfSampler(samplerSettingsSchema.parse({ type: "gp" }), box(2), 2)).toMatchObject([
      { value: "gp", rule: expect.stringContaining("gp searches for one") },
    ]);
    expect(problemsOfSampler(samplerSettingsSchema.parse({ type: "gp" }), box(2), 1)).toEqual([]);
    const choices = spaceSchema.parse({ kind: { type: "categorical", choices: ["a", "b"] } });
    expect(problemsOfSampler(settings, choices, 1)).toMatchObject([
      { value: "cmaes", rule: expect.stringContaining("cmaes needs a parameter of type float or int") },
    ]);
  });
});

describe("NSGA-II", () => {
  const two: readonly Objective[] = [...minimize, { metric: "size", direction: "minimize" }];
  /** ZDT1 (Zitzler et al., 2000): its front is f2 = 1 − √f1. */
  const zdt1 = (point: Point): number[] => {
    const [x = 0, ...rest] = numbersOf(point);
    const g = 1 + (9 * rest.reduce((sum, one) => sum + one, 0)) / rest.length;
    return [x, g * (1 - Math.sqrt(x / g))];
  };
  /** Area that the front dominates below (1.1, 7). */
  const hypervolume = (history: readonly ObservedTrial[]): number => {
    const front = [...frontOf(scored(history, two))].sort((a, b) => a.losses[0]! - b.losses[0]!);
    let [area, above] = [0, 7];
    for (const { losses } of front) {
      if (losses[0]! > 1.1 || losses[1]! > above) continue;
      area += (1.1 - losses[0]!) * (above - losses[1]!);
      above = losses[1]!;
    }
    return area;
  };

  it("covers more of a front than random search with the same trials", () => {
    for (let seed = 1; seed <= rounds(1, 3); seed += 1) {
      const options = { seed, trials: 400, objectives: two };
      const found = hypervolume(study("nsga2", box(6, 0, 1), zdt1, { ...options, more: { population: 40 } }));
      expect(found).toBeGreaterThan(1.15 * hypervolume(study("random", box(6, 0, 1), zdt1, options)));
    }
  });

  it("draws a generation from earlier ones alone, so that its trials may run at the same time", () => {
    const options = { trials: 120, objectives: two, more: { population: 30 } };
    const one = study("nsga2", box(3, 0, 1), zdt1, { ...options, parallel: 1 });
    const many = study("nsga2", box(3, 0, 1), zdt1, { ...options, parallel: 30 });
    expect(many.map(({ params }) => params)).toEqual(one.map(({ params }) => params));
  });

  it("prefers trials that keep their constraints as parents", () => {
    const sampler = createSampler(samplerSettingsSchema.parse({ type: "nsga2", population: 20 }), box(1, 0, 1), two);
    const draws = drawsFor(5);
    const history = Array.from({ length: 40 }, (_, number): ObservedTrial => {
      const x = draws.uniform();
      // The best losses are on the left, where the constraint is broken.
      return { number, params: { x0: x }, state: "completed", reports: [], values: [x, x], constraints: [0.5 - x] };
    });
    const children = Array.from({ length: 20 }, (_, i) => sampler.suggest(history, 40 + i)!["x0"] as number);
    expect(children.filter((x) => x >= 0.45).length).toBeGreaterThan(14);
  });
});
