import { type Hyperparameters, hyperparametersSchema, withoutUnusedOptions } from "../../../core/runs/hyperparameters";

const parse = (given: object): Hyperparameters => hyperparametersSchema.parse(given);

const common: Hyperparameters = {
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
    const { optimizer: _optimizer, schedule: _schedule, ...options } = withoutCommon(parse(given));
    expect(options).toEqual(expected);
  });

  const withoutCommon = (all: Hyperparameters) =>
    Object.fromEntries(
      Object.entries(all).filter(([name]) => ["optimizer", "schedule"].includes(name) || !(name in common)),
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

  it("of a study's job are valid for a trial's other optimizer without the options that it does not use", () => {
    expect(parse(withoutUnusedOptions({ ...common, momentum: 0.5 }))).toEqual(parse({}));
    expect(withoutUnusedOptions(parse({ optimizer: "momentum", momentum: 0.5 }))).toMatchObject({ momentum: 0.5 });
  });

  it.each<[unknown, RegExp]>([
    [{}, /must have 1 to 1,000 classes/],
    [Object.fromEntries(Array.from({ length: 1_001 }, (_, i) => [i, 1])), /must have 1 to 1,000 classes/],
    ["even", /must be balanced, or a mapping of classes to weights/],
    [[1, 2], /must be balanced, or a mapping of classes to weights/],
    [{ a: 0 }, /expected number to be >0/],
    [{ a: 1e7 }, /expected number to be <=1000000/],
  ])("refuse class weights of %j", (given, error) => {
    expect(() => parse({ classWeights: given })).toThrow(error);
  });
});
