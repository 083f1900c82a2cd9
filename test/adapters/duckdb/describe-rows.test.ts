import { correlationRatio, cramersV, describeRows } from "../../../adapters/duckdb/describe-rows";
import { withDuckDb } from "../../../adapters/duckdb/workspace";
import { printPreview, sparkline } from "../../../cli/datasets/described-rows";
import type { ColumnSchema, DatasetManifest } from "../../../core/datasets/shapes";

const schema: readonly ColumnSchema[] = [
  { name: "x", type: "float", role: "feature", nullable: true },
  { name: "copy", type: "string", role: "feature" },
  { name: "coin", type: "int", role: "feature", values: [0, 1] },
  { name: "at", type: "timestamp", role: "feature" },
  { name: "same", type: "float", role: "feature" },
  { name: "v", type: "tensor", shape: [2], role: "feature" },
  { name: "y", type: "bool", role: "label" },
];

/** 24 rows; x is 0 … 23, and y is true from row 12 on. */
const table = `(SELECT CASE WHEN i < 24 THEN CAST(i AS DOUBLE) END AS x, CASE WHEN i < 12 THEN 'a' ELSE 'b' END AS copy,
  i % 2 AS coin, make_timestamp(i * 3600000000) AS at, 1.0 AS same, [i, 1]::FLOAT[] AS v, i >= 12 AS y
  FROM range(24) AS r(i))`;

/** η² of 0 … 23 in two halves is 6² / variance, which is (24² - 1) / 12. ε² corrects it for 2 groups of 24 rows. */
const halves = Math.sqrt(1 - (1 - 36 / (575 / 12)) * (23 / 22));

describe("describeRows", () => {
  it("gives distributions, relations to the label, and the first rows", async () => {
    const { rows, columns, preview } = await withDuckDb((session) => describeRows(session, table, schema));
    const [x, copy, coin, at, same, v, y] = columns;
    expect(rows).toBe(24);
    expect(x).toMatchObject({ min: 0, max: 23, histogram: new Array(12).fill(2) });
    expect(x!.labelCorrelation).toBeCloseTo(halves, 12);
    expect(copy!.histogram).toEqual([12, 12]);
    expect(copy!.labelCorrelation).toBeCloseTo(1, 12);
    expect(coin).toMatchObject({ histogram: [12, 12], labelCorrelation: 0 });
    expect(at!.histogram).toEqual(x!.histogram);
    expect(same).toMatchObject({ histogram: [24, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] });
    expect([same!.labelCorrelation, v!.labelCorrelation, y!.labelCorrelation]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(preview).toHaveLength(5);
    expect(preview[1]).toEqual({
      ...{ x: "1.0", copy: "a", coin: "1", at: "1970-01-01T01:00:00.000Z", same: "1.0", v: "[1.0, 1.0]", y: "false" },
    });
  });

  it("correlates numbers with a label that is a value", async () => {
    const value = schema.map((column): ColumnSchema => {
      if (column.name === "same") return { ...column, role: "label" };
      return column.name === "y" ? { ...column, role: "feature" } : column;
    });
    const falling = table.replace("1.0 AS same", "-2.0 * i AS same");
    const { columns } = await withDuckDb((session) => describeRows(session, falling, value));
    expect(columns[0]!.labelCorrelation).toBeCloseTo(-1, 12);
    expect(columns[1]!.labelCorrelation).toBeCloseTo(halves, 12);
  });
});

it("measures relations as worked by hand", () => {
  // Groups 1, 1 and 3, 3: all of the variance of 1 is between them.
  const groups = [1, 3].map((mean) => ({ rows: 2, mean }));
  expect(correlationRatio(groups, 1)).toBe(1);
  // With a variance of 2 the groups explain η² = 1/2: ε² = 1 - 1/2 · 3/2 = 1/4.
  expect(correlationRatio(groups, 2)).toBeCloseTo(1 / 2, 12);
  expect(correlationRatio([{ rows: 2, mean: 1 }], 0)).toBeUndefined();
  // φ² = 1/9 of 12 rows in two by two: φ̃² = 1/9 - 1/11 = 2/99, r̃ = c̃ = 2 - 1/11 = 21/11, V = √(2/99 · 11/10) = √(1/45).
  const cells = [
    ["a", "x", 4],
    ["a", "y", 2],
    ["b", "x", 2],
    ["b", "y", 4],
  ] as const;
  expect(cramersV(cells.map(([one, other, rows]) => ({ one, other, rows })))).toBeCloseTo(Math.sqrt(1 / 45), 12);
  expect(cramersV([{ one: "a", other: "x", rows: 9 }])).toBeUndefined();
});

it.each([10, 500, 5_000])("finds no relation of an id of %d rows with a label or a number", (rows) => {
  const ids = Array.from({ length: rows }, (_, row) => ({ one: `c${row}`, other: row % 3 ? "no" : "yes", rows: 1 }));
  expect(cramersV(ids)).toBe(0);
  // Two rows for each value, as of an id with a repetition: by chance.
  const pairs = ids.map((cell, row) => ({ ...cell, one: `c${row >> 1}` }));
  expect(cramersV(pairs)).toBeLessThan(0.3);
  expect(
    correlationRatio(
      ids.map((_, mean) => ({ rows: 1, mean })),
      (rows ** 2 - 1) / 12,
    ),
  ).toBe(0);
});

it("draws counts as bars", () => expect(sparkline([0, 1, 4, 8])).toBe(" ▂▅█"));

it("shows a row of the preview on one line", () => {
  const lines: string[] = [];
  const write = jest.spyOn(process.stdout, "write").mockImplementation((text) => lines.push(String(text)) > 0);
  try {
    const columns = [{ name: "a\nb", type: "string", role: "feature" }] as const;
    printPreview({ schema: columns } as unknown as DatasetManifest, {
      ...{ rows: 1, columns: [] },
      preview: [{ "a\nb": 'line\nbreak "q"' }],
    });
  } finally {
    write.mockRestore();
  }
  expect(
    lines
      .join("")
      .split("\n")
      .map((line) => line.trim()),
  ).toEqual(["a\\nb", 'line\\nbreak "q"', ""]);
});
