import { parseViewDefinition } from "../../../core/feature-store/definition";
import { compileFeatures } from "../../../core/feature-store/features";

it("features of a stored view have the values that their steps name", () => {
  const definition = parseViewDefinition(
    `name: spend
owner: growth
entities: [customer]
eventTime: at
columns: { customer: int, at: timestamp, x: float, s: string }
steps:
  - { kind: ordinal, column: s, values: [a, b], name: position }
  - { kind: one-hot, column: s, values: [a, b], name: code }
  - { kind: number, column: x, impute: 4, indicator: true, name: number }
  - { kind: bucketize, column: x, boundaries: [1, 5], impute: 2, name: bucket }
  - { kind: log, column: number, name: log }
`,
    "spend.yaml",
  );
  const { features, of } = compileFeatures(definition);
  expect(of({ customer: 1, at: 0, x: null, s: "b" })).toEqual({
    ...{ x: null, s: "b", position: 1, code: 1, number: 4, number_missing: 1, bucket: 1, log: Math.log(5) },
  });
  expect(of({ customer: 1, at: 0, x: 0.5, s: null })).toMatchObject({ position: -1, code: -1, number: 0.5, bucket: 0 });
  expect(features.find(({ name }) => name === "code")).toEqual({ name: "code", type: "int" });
});
