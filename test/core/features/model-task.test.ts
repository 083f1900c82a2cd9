import { builtInDefinition, taskOf } from "../../../core/features/encoding";

describe("taskOf", () => {
  it.each([
    ["values", { kind: "value", column: "y" }, "regression", 1],
    ["two classes", { kind: "class", column: "y", classes: [false, true] }, "binary", 1],
    ["three", { kind: "class", column: "y", classes: [0, 1, 2] }, "classification", 3],
    ["one class", { kind: "class", column: "y", classes: ["a"] }, "classification", 1],
  ] as const)("of %s", (_name, label, task, outputs) => {
    expect(taskOf(label)).toEqual({ task, outputs });
  });
});

it("a built-in model takes the mean and deviation of a standardised label", () => {
  const transform = { outputs: [], width: 4, shape: [4] };
  const spec = { type: "mlp", hidden: [], activation: "relu", dropout: 0 } as const;
  const scale = { mean: 3, deviation: 2 };
  const label = { kind: "value", column: "y" } as const;
  expect(builtInDefinition(spec, { transform, label: { ...label, ...scale } }).label).toEqual(scale);
  expect(builtInDefinition(spec, { transform, label })).not.toHaveProperty("label");
});

it("a built-in model takes the features' shape", () => {
  const features = {
    transform: { outputs: [], width: 4, shape: [2, 2] },
    label: { kind: "class", column: "y", classes: [0, 1, 2] },
  } as const;
  const spec = { type: "cnn", filters: [4], kernelSize: 3, hidden: [], activation: "relu", dropout: 0 } as const;
  expect(builtInDefinition({ ...spec, filters: [4], hidden: [] }, features)).toMatchObject({
    type: "cnn",
    inputShape: [2, 2],
    task: "classification",
    outputs: 3,
  });
});
