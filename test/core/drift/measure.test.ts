import type { ColumnSchema } from "../../../core/datasets/shapes";
import { kolmogorovTail } from "../../../core/drift/distributions";
import { measureDrift } from "../../../core/drift/measure";
import { binDistances, categoryTest, chiSquare, kolmogorovSmirnov, wasserstein } from "../../../core/drift/measures";
import { readSample } from "../../../core/drift/sample";
import { defaultThresholds } from "../../../core/drift/shapes";
import { normalDraw, uniformDraws } from "../../../core/evaluation/draws";
import type { RawRow } from "../../../core/features/transform";
import { rounds } from "../../support/rounds";
import { memoryRows } from "../features/memory-rows";
import { numbersVersion, versionOf } from "./columns-source";

const draw = uniformDraws(5);
const normals = (rows: number, shift = 0) => Float64Array.from({ length: rows }, () => normalDraw(draw) + shift);

describe("distances", () => {
  it("are zero for equal samples, and symmetric where they should be", () => {
    const values = normals(100).sort();
    expect(kolmogorovSmirnov(values, values)).toEqual({ statistic: 0, pValue: 1 });
    expect(wasserstein(values, values)).toBe(0);
    expect(chiSquare([3, 4], [6, 8])).toEqual({ statistic: expect.closeTo(0, 12), pValue: expect.closeTo(1, 6) });
    expect(binDistances([5, 5], [5, 5])).toEqual({ psi: 0, kl: 0, js: 0 });
    const [one, other] = [binDistances([9, 1], [2, 8]), binDistances([2, 8], [9, 1])];
    expect(one.psi).toBeCloseTo(other.psi, 12);
    expect(one.js).toBeCloseTo(other.js, 12);
  });

  it("are the values by hand", () => {
    expect(wasserstein(Float64Array.of(0, 1), Float64Array.of(2, 3))).toBe(2);
    expect(wasserstein(Float64Array.of(0), Float64Array.of(0, 0, 3))).toBeCloseTo(1, 12);
    expect(kolmogorovSmirnov(Float64Array.of(0, 1), Float64Array.of(2, 3))).toEqual({
      statistic: 1,
      pValue: expect.closeTo(2 / 6, 12), // 2 of the 6 orders are separated
    });
    expect(chiSquare([10, 20], [20, 10]).statistic).toBeCloseTo(20 / 3, 12);
  });

  it("are defined for samples without values", () => {
    const none = new Float64Array(0);
    expect([kolmogorovSmirnov(none, normals(3)), wasserstein(none, none)]).toEqual([{ statistic: 0, pValue: 1 }, 0]);
    expect(chiSquare([0, 0], [1, 2])).toEqual({ statistic: 0, pValue: 1 });
    expect(binDistances([0, 0], [0, 0])).toEqual({ psi: 0, kl: 0, js: 0 });
  });

  it("have a probability above 0 where 1 minus the distribution has no digits", () => {
    for (const [first, second] of [
      [300, 300],
      [5_000, 90],
      [200_000, 30_000],
    ] as const) {
      const scale = 1 / Math.sqrt((first * second) / (first + second));
      const tails = [3.5, 4, 5, 5.9, 6.1, 8].map((z) => kolmogorovTail(z * scale, first, second));
      expect(tails).toEqual([...new Set(tails)].sort((a, b) => b - a));
      expect(tails.every((tail) => tail > 0)).toBe(true);
      expect(tails[3]).toBeCloseTo(2 * Math.exp(-2 * 5.9 ** 2), 40);
    }
  });

  it("have a probability that falls with the statistic, for exact and for asymptotic sizes", () => {
    for (const rows of [50, 9_999, 10_001, 1_000_000]) {
      const scale = 1 / Math.sqrt(rows / 2);
      const tails = [0.3, 0.6, 0.9, 1.2, 1.5, 2, 3].map((z) => kolmogorovTail(z * scale, rows, rows));
      expect(tails).toEqual([...tails].sort((a, b) => b - a));
      expect(tails.every((tail) => tail >= 0 && tail <= 1)).toBe(true);
    }
  });
});

describe("the test of categories with few rows", () => {
  const pValue = (...counts: Parameters<typeof categoryTest>) => categoryTest(...counts).pValue;

  it("is the plain one if enough rows of each category are expected", () => {
    expect(categoryTest([100, 40, 0], [50, 30, 0])).toEqual(chiSquare([100, 40, 0], [50, 30, 0]));
    expect(categoryTest([10, 0], [3, 0])).toEqual(chiSquare([10, 0], [3, 0]));
    expect(categoryTest([0, 0], [3, 1])).toEqual({ statistic: 0, pValue: 1 });
  });

  it("is exact for categories of which few are expected", () => {
    // One of 20 rows is among the 2 that lack the value, of 3,020: 1 - C(3000, 2) / C(3020, 2).
    expect(pValue([2_999, 1], [19, 1])).toBeCloseTo(1 - (3_000 * 2_999) / (3_020 * 3_019), 9);
    expect(pValue([600, 0], [2, 1])).toBeCloseTo(3 / 603, 9);
    expect(pValue([2, 1], [600, 0])).toBeCloseTo(3 / 603, 9);
    expect(pValue([500, 500, 0], [1, 1, 1])).toBeGreaterThan(0.01);
    expect(chiSquare([600, 0], [2, 1]).pValue).toBeLessThan(1e-40);
  });

  it("finds a new category, one of many, and a change among rare ones", () => {
    expect(pValue([50_000, 50_000, 0], [50, 0, 50])).toBeLessThan(1e-20);
    expect(pValue([99_990, 10], [90, 10])).toBeLessThan(1e-15);
    expect(pValue([100_000, 0], [0, 3])).toBeLessThan(1e-12);
    const cities = Array.from({ length: 50 }, () => 2_000);
    expect(pValue(cities, cities.map((_rows, at) => (at < 25 ? 8 : 0)))).toBeLessThan(1e-10); // biome-ignore format: a row
    expect(pValue(cities, cities.map(() => 4))).toBe(1); // biome-ignore format: a row
  });

  it.each([3, 8, 20, 100])("has few false findings in %d rows", (rows) => {
    // Shares of one half, one quarter, and so on: some categories are rare whatever the number of rows.
    const counts = (all: number) => {
      const found = Array.from({ length: 14 }, () => 0);
      for (let row = 0; row < all; row += 1) found[Math.min(13, Math.clz32(draw()))]! += 1;
      return found;
    };
    const pValues = Array.from({ length: 1_000 }, () => pValue(counts(3_000), counts(rows)));
    expect(pValues.filter((one) => one < 0.01).length).toBeLessThanOrEqual(20);
    expect(pValues.filter((one) => one < 0.001).length).toBeLessThanOrEqual(6);
  });
});

describe("drift between two versions", () => {
  it("is found at a shift of a quarter of the deviation, and not without one", async () => {
    const before = Array.from({ length: 10 }, () => normals(5_000));
    const after = before.map((_values, index) => normals(5_000, index === 3 ? 0.25 : 0));
    const report = await measureDrift(numbersVersion(1, before), numbersVersion(2, after), defaultThresholds);
    expect(report.columns.filter(({ severity }) => severity).map(({ column }) => column)).toEqual(["x3"]);
    expect(report).toMatchObject({ severity: "warning", rows: { baseline: 5_000, current: 5_000 }, schema: [] });
    expect(report.columns[3]!.wasserstein).toBeGreaterThan(0.2);
    expect(report.columns[3]!.bins.baseline.reduce((sum, rows) => sum + rows, 0)).toBe(5_000);
  });

  it("has few false alarms over many windows", async () => {
    const windows = rounds(20);
    let alarms = 0;
    for (let window = 0; window < windows; window += 1) {
      const [before, after] = [0, 1].map((version) =>
        numbersVersion(
          version,
          Array.from({ length: 20 }, () => normals(300)),
        ),
      ) as [ReturnType<typeof numbersVersion>, ReturnType<typeof numbersVersion>];
      if ((await measureDrift(before, after, defaultThresholds)).severity) alarms += 1;
    }
    expect(alarms).toBeLessThanOrEqual(0.075 * windows);
  });

  const schema: readonly ColumnSchema[] = [
    { name: "shop", type: "string", role: "feature" },
    { name: "rain", type: "bool", role: "feature" },
    { name: "price", type: "float", role: "feature", nullable: true },
    { name: "pixels", type: "tensor", role: "feature", shape: [2] },
    { name: "id", type: "string", role: "ignore" },
    { name: "y", type: "int", role: "label", values: [0, 1] },
  ];
  const rowsOf = (make: (row: number) => RawRow, rows = 600) =>
    memoryRows(
      Array.from({ length: rows }, (_, i) => make(i)),
      100,
    );
  const usual = (row: number): RawRow => ({
    ...{ shop: ["north", "south"][row % 2]!, rain: row % 3 === 0, price: row % 50, pixels: [row % 7, row % 5] },
    ...{ id: `id ${row}`, y: row % 2 },
  });

  it("is measured for categories, missing values, tensors and the label", async () => {
    const other = (row: number): RawRow => ({
      ...usual(row),
      ...{ shop: ["north", "east"][row % 2]!, price: row % 4 === 0 ? null : row % 50, y: row % 4 === 0 ? 1 : 0 },
    });
    const report = await measureDrift(
      versionOf(1, schema, 600, rowsOf(usual)),
      versionOf(2, schema, 600, rowsOf(other)),
      defaultThresholds,
    );
    expect(report.columns.map(({ column, test, severity }) => [column, test, severity])).toEqual([
      ["shop", "chi-square", "critical"],
      ["rain", "chi-square", undefined],
      ["price", "kolmogorov-smirnov", "critical"],
      ["pixels", "kolmogorov-smirnov", undefined],
      ["y", "chi-square", "critical"],
    ]);
    const [shop, , price] = report.columns;
    expect(shop).toMatchObject({ distance: 0.5, role: "feature" });
    expect(shop!.bins).toEqual({
      names: ["north", "east", "south", "other", "missing"],
      baseline: [300, 0, 300, 0, 0],
      current: [300, 300, 0, 0, 0],
    });
    expect(price).toMatchObject({ current: { rows: 600, missing: 150 }, distance: 0.25 });
  });

  it("reports columns that are new, gone or of another type", async () => {
    const changed: readonly ColumnSchema[] = [
      { name: "shop", type: "string", role: "feature" },
      { name: "rain", type: "int", role: "feature" },
      { name: "colour", type: "string", role: "feature" },
      { name: "y", type: "int", role: "label", values: [0, 1] },
    ];
    const report = await measureDrift(
      versionOf(1, schema, 600, rowsOf(usual)),
      versionOf(2, changed, 600, rowsOf(usual)),
      defaultThresholds,
    );
    expect(report.severity).toBe("critical");
    expect(report.schema).toEqual([
      { column: "price", change: "removed", before: "float", severity: "critical" },
      { column: "pixels", change: "removed", before: "tensor[2]", severity: "critical" },
      { column: "id", change: "removed", before: "string", severity: "warning" },
      { column: "rain", change: "type", before: "bool", after: "int", severity: "critical" },
      { column: "colour", change: "added", after: "string", severity: "warning" },
    ]);
    expect(report.columns.map(({ column }) => column)).toEqual(["shop", "y"]);
  });

  it("joins rare categories, and is defined for a version without rows", async () => {
    const ids = [{ name: "id", type: "string", role: "feature" }] as const;
    const many = (offset: number) => rowsOf((row) => ({ id: `id ${row + offset}` }));
    const report = await measureDrift(
      versionOf(1, ids, 600, many(0)),
      versionOf(2, ids, 600, many(600)),
      defaultThresholds,
    );
    expect(report.columns[0]).toMatchObject({ bins: { names: ["other", "missing"] }, distance: 0 });
    const empty = await measureDrift(
      versionOf(1, schema, 0, memoryRows([])),
      versionOf(2, schema, 0, memoryRows([])),
      defaultThresholds,
    );
    expect(empty.severity).toBeUndefined();
    expect(JSON.stringify(empty)).not.toMatch(/null|NaN/);
  });

  it("is not critical for one rare value in few rows", async () => {
    const rare = (row: number): RawRow => ({ ...usual(37 * row), ...(row === 0 ? { price: null, rain: null } : {}) });
    const report = await measureDrift(
      versionOf(1, schema, 3_000, rowsOf(rare, 3_000)),
      versionOf(2, schema, 20, rowsOf(rare, 20)),
      defaultThresholds,
    );
    expect(report.severity).toBeUndefined();
  });

  it("is measured on a sample of a large version: the same rows each time", async () => {
    const manifest = { rowCount: 4_000 };
    const rows = memoryRows(
      Array.from({ length: 4_000 }, (_row, index) => ({ x: index })),
      1_000,
    );
    const columns = [{ name: "x", type: "float", role: "feature" }] as const;
    const [one, other] = [
      await readSample(manifest, rows, columns, [], 1_000),
      await readSample(manifest, rows, columns, [], 1_000),
    ];
    expect(one).toEqual(other);
    expect(Math.abs(one.rows - 1_000)).toBeLessThan(120);
    const column = one.columns.get("x")!;
    const mean = column.kind === "number" ? column.values.reduce((sum, value) => sum + value, 0) / one.rows : 0;
    expect(Math.abs(mean - 2_000)).toBeLessThan(150);
  });
});
