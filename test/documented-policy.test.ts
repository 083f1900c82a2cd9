import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { declaredPolicy } from "../api/schemas/models";
import { lessIsBetter } from "../core/evaluation/metric-goal";
import { classificationMetricNames, metricsOf, regressionMetricNames } from "../core/evaluation/metrics";
import { parseYamlInput } from "../core/yaml-input";

const page = readFileSync(resolve(__dirname, "..", "docs", "gates.md"), "utf8");
const yaml = /## A complete policy[\s\S]*?```yaml\n([\s\S]*?)```/.exec(page)![1]!;

/** Names of all fields in a schema's JSON form, those of lists and alternatives included. */
function fieldsOf(schema: unknown): readonly string[] {
  if (schema === null || typeof schema !== "object") return [];
  const { properties = {}, ...rest } = schema as { readonly properties?: Readonly<Record<string, unknown>> };
  return [
    ...Object.keys(properties),
    ...[...Object.values(properties), ...Object.values(rest)].flatMap((inner) => fieldsOf(inner)),
  ];
}

function keysOf(value: unknown): readonly string[] {
  if (value === null || typeof value !== "object") return [];
  const own = Array.isArray(value) ? [] : Object.keys(value);
  return [...own, ...Object.values(value).flatMap((inner) => keysOf(inner))];
}

it("the policy in docs/gates.md is valid, and has every field of the schema", () => {
  const { value } = parseYamlInput("policy.yaml", yaml, declaredPolicy);
  const fields = new Set(fieldsOf(declaredPolicy.toJSONSchema({ io: "input" })));
  const shown = new Set(keysOf(value));
  expect([...fields].filter((field) => !shown.has(field))).toEqual([]);
});

it.each([
  ["binary", { classes: 2, labels: Int32Array.of(0, 1, 1), outputs: Float32Array.of(0.2, 0.7, 0.4) }],
  [
    "multiclass",
    {
      classes: 3,
      labels: Int32Array.of(0, 1, 2),
      outputs: Float32Array.of(0.8, 0.1, 0.1, 0.2, 0.5, 0.3, 0.2, 0.2, 0.6),
    },
  ],
  ["regression", { classes: 0, labels: Float32Array.of(1, 2, 4), outputs: Float32Array.of(1, 2, 3) }],
])("the metric names of a %s task are those that docs/gates.md lists", (task, predictions) => {
  const names = task === "regression" ? regressionMetricNames : classificationMetricNames;
  expect(Object.keys(metricsOf(predictions)).sort()).toEqual([...names].sort());
  const table = /## Metrics[\s\S]*?\n\n(\| label[\s\S]*?)\n\n/.exec(page)![1]!;
  for (const name of names) {
    const line = table.split("\n").find((row) => row.includes(`\`${name}\``));
    expect([name, line?.trim().endsWith("maximum |")]).toEqual([name, lessIsBetter(name)]);
  }
});

it.each([
  ["auc and prAuc of one class only", 2, [0, 0, 0], [0.1, 0.2, 0.3], ["auc", "prAuc"]],
  ["auc and prAuc, where all rows are of the second class", 2, [1, 1, 1], [0.1, 0.2, 0.3], ["auc", "prAuc"]],
  [
    "auc and prAuc, where a class of three has no rows",
    3,
    [0, 1, 1],
    [0.8, 0.1, 0.1, 0.2, 0.5, 0.3, 0.2, 0.6, 0.2],
    ["auc", "prAuc"],
  ],
  ["r2 of one row", 0, [1], [2], ["r2"]],
])("undefined, and left out: %s", (_name, classes, labels, outputs, missing) => {
  const rows = classes === 0 ? Float32Array.from(labels) : Int32Array.from(labels);
  const found = metricsOf({ classes, labels: rows, outputs: Float32Array.from(outputs) });
  const names: readonly string[] = classes === 0 ? regressionMetricNames : classificationMetricNames;
  expect(names.filter((name) => !(name in found))).toEqual(missing);
});

it("defined by convention: r2 of constant labels, and rates with a denominator of 0", () => {
  const constant = (outputs: readonly number[]) =>
    metricsOf({ classes: 0, labels: Float32Array.of(2, 2), outputs: Float32Array.from(outputs) })["r2"];
  expect([constant([2, 2]), constant([2, 3])]).toEqual([1, 0]);
  const never = metricsOf({ classes: 2, labels: Int32Array.of(0, 1), outputs: Float32Array.of(0.1, 0.2) });
  expect(never).toMatchObject({ precision: 0, recall: 0, f1: 0 });
});
