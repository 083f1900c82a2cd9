import { planImportance } from "../../../core/evaluation/importance";
import type { RowPredictor } from "../../../core/evaluation/predict";
import { parseFeaturePlan } from "../../../core/feature-plans/plan-file";
import { decodeFeatureShard, encodeFeatureShard, shardLayout } from "../../../core/features/encoding";
import { plannedTransform } from "../../../core/features/planned-rows";
import type { FeatureTransform, LabelEncoding } from "../../../core/features/shapes";

const classes: LabelEncoding = { kind: "class", column: "y", classes: [0, 1] };
const numeric = (column: string, offset: number) =>
  ({ kind: "numeric", column, offset, width: 1, source: offset, mean: 0, deviation: 1 }) as const;
const transform: FeatureTransform = {
  outputs: [numeric("a", 0), numeric("b", 1), numeric("a", 2)],
  width: 3,
  shape: [3],
};

/** Rows with a = n, b = n / 2 and a again; the label of a classification says whether n is odd. */
function shardOf(count: number, label: LabelEncoding, from = 0, of = transform) {
  const at = Array.from({ length: count }, (_, row) => row + from);
  const values = at.flatMap((n) => Array.from({ length: of.width }, (_, column) => (column === 1 ? n / 2 : n)));
  const bytes = encodeFeatureShard(
    {
      rows: count,
      numeric: Float32Array.from(values),
      codes: new Int32Array(0),
      label: label.kind === "class" ? Int32Array.from(at, (n) => n % 2) : Float32Array.from(at),
      slices: new Int32Array(0),
    },
    shardLayout(of),
  );
  return decodeFeatureShard(bytes, { transform: of, label });
}

const readsOdd: RowPredictor = {
  predict: (inputs, count) => Float32Array.from({ length: count }, (_, row) => inputs[row * 3]! % 2),
};
const few = async () => 10;

describe("the importance of columns", () => {
  it("is the loss of the main metric when a column is permuted, and 0 for a column that the model ignores", async () => {
    const odd = (await planImportance({ transform, label: classes }, 999, few))!;
    odd.add(shardOf(999, classes), 0);
    const report = odd.measure("balanced", readsOdd, undefined)!;
    expect(report).toMatchObject({ metric: "accuracy", baseline: 1, rows: 999, repeats: 5 });
    expect(report.columns.map(({ columns }) => columns)).toEqual([["a"], ["b"]]);
    const [a, b] = report.columns;
    // Half of the rows get a value of the other class.
    expect(a!.mean).toBeGreaterThan(0.45);
    expect(a!.mean).toBeLessThan(0.55);
    expect(a!.deviation).toBeGreaterThan(0);
    expect(b).toEqual({ columns: ["b"], mean: 0, deviation: 0 });
  });

  it("is a function of rows and model, whatever the shards", async () => {
    const measured = async (sizes: readonly number[]) => {
      const sample = (await planImportance({ transform, label: classes }, 301, few))!;
      let first = 0;
      for (const size of sizes) {
        sample.add(shardOf(size, classes, first), first);
        first += size;
      }
      return sample.measure("balanced", readsOdd, undefined);
    };
    expect(await measured([301])).toEqual(await measured([1, 0, 100, 200]));
  });

  it("of a regression is the growth of the error", async () => {
    const label: LabelEncoding = { kind: "value", column: "y" };
    const sample = (await planImportance({ transform, label }, 100, few))!;
    sample.add(shardOf(100, label), 0);
    const predict = (inputs: Float32Array, count: number) =>
      Float32Array.from({ length: count }, (_, row) => 2 * inputs[row * 3 + 1]!);
    const { metric, baseline, columns } = sample.measure("regression", { predict }, undefined)!;
    expect([metric, baseline, columns[0]!.columns, columns[1]!.mean]).toEqual(["rmse", 0, ["b"], 0]);
    // Independent pairs of 0 … 99 differ by the square root of twice their variance, 833.25.
    expect(columns[0]!.mean).toBeCloseTo(Math.sqrt(2 * 833.25), -1);
  });

  it("permutes columns together that a step combines", async () => {
    const plan = parseFeaturePlan(
      "name: v\nsteps: [{kind: ratio, numerator: x, denominator: y}, {kind: number, column: z}, {kind: number, column: x}]\n",
    );
    const columns = ["x", "y", "z"].map((name) => ({ name, type: "float" }) as const);
    const planned = plannedTransform({ format: 1, view: plan, columns, rows: 1, fitted: {} });
    const label: LabelEncoding = { kind: "value", column: "y" };
    const sample = (await planImportance({ transform: planned, label }, 50, few))!;
    sample.add(shardOf(50, label, 0, planned), 0);
    const report = sample.measure("regression", { predict: (_inputs, count) => new Float32Array(count) }, undefined)!;
    expect(report.columns.map(({ columns: names }) => names)).toEqual([["x", "y"], ["z"]]);
  });

  it("is not measured for one column, few rows, or a model that costs too much", async () => {
    const one: FeatureTransform = { ...transform, outputs: [numeric("a", 0)], width: 1, shape: [1] };
    const never = () => Promise.reject(new Error("must not be counted"));
    expect(await planImportance({ transform: one, label: classes }, 1_000, never)).toBeUndefined();
    expect(await planImportance({ transform, label: classes }, 19, never)).toBeUndefined();
    expect(await planImportance({ transform, label: classes }, 1_000, async () => 1e9)).toBeUndefined();
    expect(await planImportance({ transform, label: classes }, 1_000, async () => undefined)).toBeUndefined();
  });

  it("samples fewer rows and columns where there are many", async () => {
    const outputs = Array.from({ length: 60 }, (_, at) => numeric(`c${at}`, at));
    const wide: FeatureTransform = { outputs, width: 60, shape: [60] };
    const sample = (await planImportance({ transform: wide, label: classes }, 5_001, async () => 20_000))!;
    sample.add(shardOf(5_001, classes, 0, wide), 0);
    const predict = (inputs: Float32Array, count: number) =>
      Float32Array.from({ length: count }, (_, row) => inputs[row * 60]! % 2);
    const report = sample.measure("balanced", { predict }, undefined)!;
    // 2e9 operations / (50 columns × 5 permutations × 20,000 operations)
    expect([report.rows, report.columns.length, report.omitted]).toEqual([400, 50, 10]);
  });
});
