import {
  appliedWeightDecay,
  decidingHyperparameters,
  type Hyperparameters,
  hyperparametersSchema,
  withoutLaterDefaults,
  withoutUnusedOptions,
} from "../../../core/runs/hyperparameters";

const parse = (given: object): Hyperparameters => hyperparametersSchema.parse(given);

/** As runs were recorded before betas, Nesterov and step decay could be requested. */
const earlier: Hyperparameters = {
  optimizer: "adam",
  learningRate: 0.001,
  momentum: 0.9,
  weightDecay: 0,
  schedule: "constant",
  warmupSteps: 0,
  gradientFormat: "float32",
  clipNorm: 0,
  batchSize: 128,
  epochs: 5,
};

describe("hyperparameters", () => {
  it.each<[string, object, object]>([
    ["adam", { optimizer: "adam" }, { beta1: 0.9, beta2: 0.999, epsilon: 1e-8 }],
    ["adamw", { optimizer: "adamw", beta2: 0.95 }, { beta1: 0.9, beta2: 0.95, epsilon: 1e-8 }],
    ["sgd", { optimizer: "sgd" }, {}],
    ["momentum", { optimizer: "momentum" }, { nesterov: false }],
    ["cosine", { optimizer: "sgd", schedule: "cosine" }, { minLearningRate: 0 }],
    ["step", { optimizer: "sgd", schedule: "step", stepSize: 30 }, { stepSize: 30, gamma: 0.1 }],
  ])("of %s are recorded with the defaults that apply, and no others", (_name, given, expected) => {
    const { optimizer: _optimizer, schedule: _schedule, ...options } = withoutEarlier(parse(given));
    expect(options).toEqual(expected);
  });

  const withoutEarlier = (all: Hyperparameters) =>
    Object.fromEntries(
      Object.entries(all).filter(([name]) => ["optimizer", "schedule"].includes(name) || !(name in earlier)),
    );

  it.each([
    { schedule: "cosine" },
    { optimizer: "momentum" },
    { optimizer: "sgd" },
    { optimizer: "adam", weightDecay: 0.01 },
  ])("recorded may be submitted again: %o", (given) => {
    expect(parse(parse(given))).toEqual(parse(given));
  });

  it("accept the momentum that all records have, where the optimizer does not use it", () => {
    expect(parse({ optimizer: "adam", momentum: 0.9 })).toEqual(parse({ optimizer: "adam" }));
    expect(() => parse({ optimizer: "adam", momentum: 0.8 })).toThrow(/only with optimizer momentum/);
  });

  it("of an earlier record with a momentum that had no effect are valid without it", () => {
    expect(parse(withoutUnusedOptions({ ...earlier, momentum: 0.5 }))).toEqual(parse({}));
    expect(withoutUnusedOptions(parse({ optimizer: "momentum", momentum: 0.5 }))).toMatchObject({ momentum: 0.5 });
  });

  it("of an earlier record and of the same job now have one identity", () => {
    expect(decidingHyperparameters(earlier)).toEqual(earlier);
    expect(decidingHyperparameters(parse({ ...earlier, precision: "float32" }))).toEqual(earlier);
    for (const change of [{}, { optimizer: "momentum" }, { optimizer: "sgd" }, { schedule: "cosine" }] as const) {
      const before = { ...earlier, ...change };
      const now = parse(before);
      expect(now).not.toEqual(earlier);
      expect(decidingHyperparameters(now)).toEqual(before);
      expect(withoutLaterDefaults(now)).toEqual(before);
    }
  });

  it.each([
    { beta1: 0.8 },
    { beta2: 0.99 },
    { epsilon: 1e-7 },
    { optimizer: "momentum", nesterov: true },
    { schedule: "cosine", minLearningRate: 1e-5 },
    { schedule: "step", stepSize: 10 },
    { schedule: "step", stepSize: 10, gamma: 0.5 },
    { precision: "tf32" },
    { precision: "bfloat16" },
    { precision: "float16" },
    { classWeights: "balanced" },
    { classWeights: { a: 2 } },
  ])("have an identity of their own with %o", (given) => {
    expect(decidingHyperparameters(parse(given))).toMatchObject(given);
  });

  it.each<[unknown, RegExp]>([
    [{}, /must have 1 to 1,000 classes/],
    [Object.fromEntries(Array.from({ length: 1_001 }, (_, i) => [i, 1])), /must have 1 to 1,000 classes/],
    ["even", /must be balanced, or a mapping of classes to weights/],
    [[1, 2], /must be balanced, or a mapping of classes to weights/],
    [{ a: 0 }, /expected number to be >0/],
    [{ a: -1 }, /expected number to be >0/],
    [{ a: 1e7 }, /expected number to be <=1000000/],
    [{ a: "2" }, /expected number/],
  ])("refuse class weights of %j", (given, error) => {
    expect(() => parse({ classWeights: given })).toThrow(error);
  });

  it("of an earlier adam run ignore its weight decay, and differ from those that apply it", () => {
    const before = { ...earlier, weightDecay: 0.1 };
    const now = parse(before);
    expect(appliedWeightDecay(before)).toBe(0);
    expect(appliedWeightDecay(now)).toBe(0.1);
    expect(decidingHyperparameters(before)).toEqual(before);
    expect(decidingHyperparameters(now)).toEqual({ ...before, adamWeightDecay: "L2" });
    for (const optimizer of ["sgd", "momentum", "adamw"] as const) {
      expect(appliedWeightDecay({ ...before, optimizer })).toBe(0.1);
      expect(decidingHyperparameters(parse({ ...before, optimizer }))).toEqual({ ...before, optimizer });
    }
  });
});
