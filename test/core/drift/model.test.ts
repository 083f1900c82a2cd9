import type { ColumnSchema } from "../../../core/datasets/shapes";
import { aucOf, normalTail } from "../../../core/drift/distributions";
import type { InferenceRow } from "../../../core/drift/inference-batch";
import { measureDrift } from "../../../core/drift/measure";
import { type ModelBaseline, measureModelDrift, sampleBaseline } from "../../../core/drift/measure-model";
import { defaultThresholds } from "../../../core/drift/shapes";
import { normalDraw, uniformDraws } from "../../../core/evaluation/draws";
import type { RawRow } from "../../../core/features/transform";
import { memoryRows } from "../features/memory-rows";
import { numbersVersion, versionOf } from "./columns-source";

describe("AUC", () => {
  it("is that of the pairs, with DeLong's error, by hand", () => {
    // Pairs: 0.8 > 0.3, 0.8 > 0.5, 0.5 > 0.3, 0.5 = 0.5. Placements: positives 1 and 0.75, negatives 1 and 0.75.
    const scores = Float64Array.of(0.8, 0.5, 0.3, 0.5);
    const { auc, error } = aucOf(scores, Uint8Array.of(1, 1, 0, 0));
    expect(auc).toBe(3.5 / 4);
    expect(error).toBeCloseTo(Math.sqrt((2 * 0.125 ** 2) / 2 + (2 * 0.125 ** 2) / 2), 12);
    expect(normalTail(1.959963984540054)).toBeCloseTo(0.025, 12);
    expect(normalTail(-1)).toBeCloseTo(0.8413447460685429, 12);
  });
});

describe("the test of all columns together", () => {
  const draw = uniformDraws(11);
  const normals = (rows: number, shift = 0) => Float64Array.from({ length: rows }, () => normalDraw(draw) + shift);

  it("finds a changed dependence of two columns that look the same alone", async () => {
    const independent = [normals(1_500), normals(1_500), normals(1_500)];
    const first = normals(1_500);
    const second = first.map((value) => 0.6 * value + 0.8 * normalDraw(draw));
    const report = await measureDrift(
      numbersVersion(1, independent),
      numbersVersion(2, [first, second, normals(1_500)]),
      defaultThresholds,
    );
    expect(report.columns.map(({ severity }) => severity)).toEqual([undefined, undefined, undefined]);
    expect(report).toMatchObject({ severity: "warning", multivariate: { severity: "warning", columns: 3 } });
    const { auc, low, high } = report.multivariate!;
    expect([low > 0.5, low < auc, auc < high]).toEqual([true, true, true]);
  });

  it("finds nothing without a change, gives the same result each time, and needs a hundred rows", async () => {
    let alarms = 0;
    for (let window = 0; window < 30; window += 1) {
      const [one, other] = [0, 1].map((version) => numbersVersion(version, [normals(250), normals(250)]));
      const report = await measureDrift(one!, other!, defaultThresholds);
      if (report.multivariate!.severity) alarms += 1;
      if (window === 0) expect(await measureDrift(one!, other!, defaultThresholds)).toEqual(report);
    }
    expect(alarms).toBeLessThanOrEqual(2);
    const few = [numbersVersion(1, [normals(99)]), numbersVersion(2, [normals(99, 9)])] as const;
    const { multivariate, severity } = await measureDrift(...few, defaultThresholds);
    expect([multivariate, severity]).toEqual([undefined, "critical"]);
  });
});

describe("drift of a model", () => {
  const schema: readonly ColumnSchema[] = [
    { name: "colour", type: "string", role: "feature" },
    { name: "size", type: "float", role: "feature", nullable: true },
    { name: "wet", type: "bool", role: "feature" },
    { name: "patch", type: "tensor", shape: [2], role: "feature" },
    { name: "seen", type: "timestamp", role: "feature" },
    { name: "unread", type: "float", role: "feature" },
    { name: "kind", type: "int", role: "label", values: [0, 1] },
  ];
  const usual = (row: number): RawRow => ({
    ...{ colour: ["red", "blue"][row % 2]!, size: row % 40, wet: row % 3 === 0, patch: [row % 5, row % 7] },
    ...{ seen: new Date(1_767_225_600_000 + row * 60_000).toISOString(), unread: row, kind: row % 2 },
  });
  const rows = 600;
  const trained = Array.from({ length: rows }, (_row, at) => usual(at));
  const baseline: ModelBaseline = {
    ...{ model: "toys", version: 3, ...versionOf(1, schema, rows, memoryRows(trained, 100)), label: "kind" },
    features: new Set(["colour", "size", "wet", "patch", "seen"]),
    predictions: {
      column: { name: "prediction", type: "string", role: "feature" },
      sample: { kind: "category", rows: 200, missing: 0, counts: new Map([["0", 100], ["1", 100]]) }, // biome-ignore format: a row
    },
  };
  const measure = async (inferences: readonly InferenceRow[]) =>
    measureModelDrift(
      await sampleBaseline(baseline),
      {
        rowCount: inferences.length,
        async *open() {
          for (let from = 0; from < inferences.length; from += 250) yield inferences.slice(from, from + 250);
        },
      },
      defaultThresholds,
    );
  const inferenceRows = (change: (row: number) => RawRow, rest: (row: number) => Partial<InferenceRow> = () => ({})) =>
    Array.from({ length: rows }, (_row, at): InferenceRow => {
      const { kind: _, unread: __, ...row } = usual(at);
      return { row: { ...row, ...change(at) }, prediction: at % 2, ...rest(at) };
    });

  it("is not found in the rows of the training", async () => {
    const report = await measure(inferenceRows(() => ({})));
    expect(report).toMatchObject({ model: "toys", version: 3, baseline: { name: "shop", version: 1 }, schema: [] });
    expect(report.severity).toBeUndefined();
    expect(report.columns.map(({ column, role }) => `${column} ${role}`)).toEqual([
      ...["colour feature", "size feature", "wet feature", "patch feature", "seen feature"],
      "prediction prediction",
    ]);
  });

  it("is found in features, predictions and the labels that are known", async () => {
    const report = await measure(
      inferenceRows(
        (row) => ({ size: row % 4 === 0 ? null : row % 40, wet: 1, extra: "ignored" }),
        (row) => ({ prediction: row % 4 === 0 ? 1 : 0, ...(row < 300 ? { label: row % 5 === 0 ? 1 : 0 } : {}) }),
      ),
    );
    expect(report.columns.filter(({ severity }) => severity).map(({ column }) => column)).toEqual([
      ...["size", "wet", "kind", "prediction"],
    ]);
    expect(report.columns.find(({ column }) => column === "kind")!.current).toEqual({ rows: 300, missing: 0 });
    expect(report.multivariate!.severity).toBe("critical");
  });

  it("is critical if a feature is absent or of another type; a wrong value alone counts as missing", async () => {
    const report = await measure(
      inferenceRows((row) => ({ colour: undefined, wet: "yes", size: row === 0 ? "large" : row % 40 })),
    );
    expect(report).toMatchObject({
      severity: "critical",
      schema: [
        { column: "colour", change: "removed" },
        { column: "wet", change: "type" },
      ],
    });
    expect(report.columns.find(({ column }) => column === "size")!.current).toEqual({ rows, missing: 1 });
    expect(report.columns.map(({ column }) => column)).toEqual(["size", "patch", "seen", "prediction"]);
  });

  it("warns of a feature with more than a few values of another type, and compares the others", async () => {
    const report = await measure(inferenceRows((row) => ({ size: row % 50 === 0 ? "large" : row % 40 })));
    expect(report.schema).toEqual([
      {
        column: "size",
        before: "float",
        change: "type",
        after: `another type in ${rows / 50} of ${rows} rows`,
        severity: "warning",
      },
    ]);
    expect(report.columns.find(({ column }) => column === "size")!.current).toEqual({ rows, missing: rows / 50 });
  });

  it("is not measured without rows", async () => {
    await expect(measure([])).rejects.toThrow("must have inferences");
  });
});
