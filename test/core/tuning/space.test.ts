import { createSampler } from "../../../core/tuning/sampler";
import { problemsOfSampler, samplerSettingsSchema } from "../../../core/tuning/settings";
import { contains, fromUnit, parameterOrder, type Space, spaceSchema } from "../../../core/tuning/space";
import { studyDefinitionSchema } from "../../../core/tuning/study";
import { jobInput } from "../../support/fixtures";

const space = (given: object): Space => spaceSchema.parse(given);
const rulesOf = (given: object) =>
  spaceSchema.safeParse(given).error?.issues.map(({ path, message }) => [path.join("/"), message]);

describe("a search space", () => {
  it("reports every problem at once", () => {
    expect(
      rulesOf({
        a: { type: "float", low: 2, high: 1 },
        b: { type: "float", low: 0, high: 1, step: 3 },
        c: { type: "float", low: 0, high: 1, log: true },
        d: { type: "int", low: 1, high: 8, log: true, step: 2 },
        e: { type: "categorical", choices: ["x", "x"] },
        f: { type: "int", low: 1, high: 2, when: { parameter: "g", in: [1] } },
        g: { type: "int", low: 1, high: 2, when: { parameter: "f", in: [1] } },
        h: { type: "int", low: 1, high: 2, when: { parameter: "none", in: [1] } },
        i: { type: "int", low: 1, high: 2, when: { parameter: "e", in: ["x", "y"] } },
      }),
    ).toEqual([
      ["a/low", "must be at most high (1)"],
      ["b/step", "must be at most the range from low to high (1)"],
      ["c/low", "must be more than 0 with log"],
      ["d/step", "must be 1 with log"],
      ["e/choices", "must not repeat a choice"],
      ["f/when/parameter", "must not depend on itself: f → g → f"],
      ["g/when/parameter", "must not depend on itself: g → f → g"],
      ["h/when/parameter", "must be a parameter of the space: a, b, c, d, e, f, g, h, i"],
      ["i/when/in/1", "must be a value of e"],
    ]);
    expect(rulesOf({})).toEqual([["", "must have at least one parameter"]]);
  });

  it("gives each value of a stepped parameter the same share of the unit interval", () => {
    const { x, y, z } = space({
      x: { type: "float", low: 0.1, high: 0.5, step: 0.2 },
      y: { type: "int", low: 1, high: 3 },
      z: { type: "categorical", choices: ["a", "b"] },
    });
    const at = [0, 0.33, 0.34, 0.66, 0.67, 0.999999];
    expect(at.map((unit) => fromUnit(x!, unit))).toEqual([0.1, 0.1, 0.3, 0.3, 0.5, 0.5]);
    expect(at.map((unit) => fromUnit(y!, unit))).toEqual([1, 1, 2, 2, 3, 3]);
    expect([0, 0.49, 0.5, 1].map((unit) => fromUnit(z!, unit))).toEqual(["a", "a", "b", "b"]);
    expect(contains(x!, 0.3)).toBe(true);
    expect(contains(x!, 0.2)).toBe(false);
  });

  it("draws the logarithm of a log parameter uniformly", () => {
    const { rate } = space({ rate: { type: "float", low: 1e-4, high: 1, log: true } });
    expect([0, 0.25, 0.5, 0.75].map((unit) => Number((fromUnit(rate!, unit) as number).toPrecision(6)))).toEqual([
      1e-4, 1e-3, 1e-2, 1e-1,
    ]);
  });

  it("decides a parameter after the one on which it depends", () => {
    const given = space({
      momentum: { type: "float", low: 0, high: 1, when: { parameter: "optimizer", in: ["momentum"] } },
      optimizer: { type: "categorical", choices: ["adam", "momentum"] },
    });
    expect(parameterOrder(given)).toEqual(["optimizer", "momentum"]);
    const sampler = createSampler({ type: "random", seed: 1 }, given, []);
    for (let number = 0; number < 50; number += 1) {
      const point = sampler.suggest([], number)!;
      expect(Object.hasOwn(point, "momentum")).toBe(point["optimizer"] === "momentum");
      expect(sampler.suggest([], number)).toEqual(point);
    }
  });

  it("has a grid of all combinations, each once", () => {
    const given = space({
      optimizer: { type: "categorical", choices: ["adam", "momentum"] },
      momentum: { type: "float", low: 0, high: 0.8, step: 0.4, when: { parameter: "optimizer", in: ["momentum"] } },
    });
    const sampler = createSampler({ type: "grid", seed: 0 }, given, []);
    expect([0, 1, 2, 3, 4].map((number) => sampler.suggest([], number))).toEqual([
      { optimizer: "adam" },
      { optimizer: "momentum", momentum: 0 },
      { optimizer: "momentum", momentum: 0.4 },
      { optimizer: "momentum", momentum: 0.8 },
      undefined,
    ]);
  });

  it.each([
    [{ type: "grid" }, 1, "each float parameter of space must have a step"],
    [{ type: "gp" }, 2, "must be tpe, random, grid or auto for 2 objectives: gp searches for one"],
    [{ type: "gp" }, 1, undefined],
  ])("is refused for the sampler %j with %d objectives: %s", (given, objectives, rule) => {
    const floats = space({ x: { type: "float", low: 0, high: 1 } });
    const problems = problemsOfSampler(samplerSettingsSchema.parse(given), floats, objectives);
    const problem = { path: "sampler.type", value: given.type, rule: expect.stringContaining(rule ?? "") };
    expect(problems).toEqual(rule === undefined ? [] : [problem]);
  });
});

describe("a parameter of a study", () => {
  const rulesOf = (parameter: unknown, path = "hyperparameters.batchSize") => {
    const parsed = studyDefinitionSchema.safeParse({
      name: "s",
      job: jobInput(),
      objectives: [{ metric: "validation/loss", direction: "minimize" }],
      space: { [path]: parameter },
      stop: { trials: 1 },
    });
    return parsed.success ? [] : parsed.error.issues.map(({ path: at, message }) => [at.at(-1), message]);
  };

  it("cannot be a float where the job takes whole numbers, also where both ends are whole", () => {
    const problem = ["type", "must be int, because the job permits whole numbers alone"];
    expect(rulesOf({ type: "float", low: 32, high: 64 })).toEqual([problem]);
    expect(rulesOf({ type: "float", low: 32, high: 64, step: 0.5 })).toEqual([problem]);
    expect(rulesOf({ type: "float", low: 32, high: 64, step: 8 })).toEqual([]);
    expect(rulesOf({ type: "int", low: 32, high: 64 })).toEqual([]);
    expect(rulesOf({ type: "float", low: 1, high: 2 }, "hyperparameters.learningRate")).toEqual([]);
  });
});
