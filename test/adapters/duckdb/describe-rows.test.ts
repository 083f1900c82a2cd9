import { describeRows } from "../../../adapters/duckdb/describe-rows";
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

describe("describeRows", () => {
  it("gives distributions and the first rows", async () => {
    const { rows, columns, preview } = await withDuckDb((session) => describeRows(session, table, schema));
    const [x, copy, coin, at, same] = columns;
    expect(rows).toBe(24);
    expect(x).toMatchObject({ min: 0, max: 23, histogram: new Array(12).fill(2) });
    expect(copy!.histogram).toEqual([12, 12]);
    expect(coin).toMatchObject({ histogram: [12, 12] });
    expect(at!.histogram).toEqual(x!.histogram);
    expect(same).toMatchObject({ histogram: [24, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] });
    expect(preview).toHaveLength(5);
    expect(preview[1]).toEqual({
      ...{ x: "1.0", copy: "a", coin: "1", at: "1970-01-01T01:00:00.000Z", same: "1.0", v: "[1.0, 1.0]", y: "false" },
    });
  });
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
