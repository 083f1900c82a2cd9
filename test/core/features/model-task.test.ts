import { builtInDefinition, taskOf } from "../../../core/features/encoding";

describe("taskOf", () => {
  it.each([
    { name: "values", label: { kind: "value", column: "y" }, expected: { task: "regression", outputs: 1 } },
    {
      name: "two classes",
      label: { kind: "class", column: "y", classes: [false, true] },
      expected: { task: "binary", outputs: 1 },
    },
    {
      name: "three",
      label: { kind: "class", column: "y", classes: [0, 1, 2] },
      expected: { task: "classification", outputs: 3 },
    },
    {
      name: "one class",
      label: { kind: "class", column: "y", classes: ["a"] },
      expected: { task: "classification", outputs: 1 },
    },
  ] as const)("of $name", ({ label, expected }) => {
    expect(taskOf(label)).toEqual(expected);
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
