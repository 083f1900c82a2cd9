import { measureColumn } from "../../../adapters/duckdb/group-columns";
import type { DuckDbSession } from "../../../adapters/duckdb/session";
import { withDuckDb } from "../../../adapters/duckdb/workspace";
import type { ColumnType } from "../../../core/datasets/shapes";
import { ColumnMerger } from "../../../core/features/column-state";

const rows = 60_000;
/** Returns the profile of a column whose rows are measured in three parts. The states pass through JSON, as in a run. */
async function profile(type: ColumnType, expression: string) {
  return withDuckDb(async (session: DuckDbSession) => {
    await session.run(`CREATE TABLE whole AS SELECT range AS i, ${expression} AS v FROM range(${rows})`);
    const column = { name: "v", type, role: "feature" } as const;
    const merger = new ColumnMerger(column);
    for (const [from, to] of [
      [0, 10_000],
      [10_000, 10_001],
      [10_001, rows],
    ]) {
      const part = `(SELECT v FROM whole WHERE i >= ${from} AND i < ${to})`;
      merger.add(JSON.parse(JSON.stringify(await measureColumn(session, part, column))));
    }
    return { merged: merger.profile(), merger };
  });
}

describe("a column that is measured in parts", () => {
  it("has exact counts, ranges and means, and estimates of many different numbers", async () => {
    const { merged } = await profile("float", "CASE WHEN range % 7 <> 0 THEN (range - 30000) / 3e0 END");
    const values = Array.from({ length: rows }, (_, i) => (i - 30_000) / 3).filter((_, i) => i % 7 !== 0);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    expect(merged).toMatchObject({
      count: values.length,
      nulls: rows - values.length,
      min: values[0],
      max: values.at(-1),
    });
    expect(merged.mean).toBeCloseTo(mean, 6);
    expect(merged.std).toBeCloseTo(Math.sqrt(values.reduce((s, v) => s + (v - mean) ** 2, 0) / values.length), 6);
    // Four standard errors.
    expect(Math.abs(merged.distinct! / values.length - 1)).toBeLessThan(0.09);
    for (const [i, share] of [0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99].entries()) {
      const exact = values[Math.round(share * (values.length - 1))]!;
      expect(Math.abs(merged.quantiles![i]! - exact)).toBeLessThanOrEqual(Math.abs(exact) * 2 ** -9 + 0.4);
    }
  });

  it("counts few values exactly, also if they are in some parts only", async () => {
    const { merged, merger } = await profile("int", "CASE WHEN range < 10000 THEN 5 ELSE range % 3 END");
    const ofThree = (rest: number) =>
      Array.from({ length: 50_000 }, (_, i) => i + 10_000).filter((i) => i % 3 === rest).length;
    expect(merged).toMatchObject({ distinct: 4, min: 0, max: 5 });
    expect(merged.top).toEqual(
      [0, 1, 2]
        .map((value) => ({ value, count: ofThree(value) }))
        .sort((a, b) => b.count - a.count || a.value - b.value)
        .concat([{ value: 5, count: 10_000 }]),
    );
    expect(merger.quantiles([0, 1])).toEqual([0, 5]);
  });

  it("finds texts that differ only by case, blanks or a mark, also if they are in different parts", async () => {
    const { merged } = await profile(
      "string",
      "CASE WHEN range < 7 THEN 'yes ' WHEN range % 2 = 0 THEN 'Yes' ELSE 'No' END",
    );
    expect(merged.alike).toEqual([
      [
        { value: "Yes", count: rows / 2 - 4 },
        { value: "yes ", count: 7 },
      ],
    ]);
  });

  it("estimates numbers of which only some groups have many", async () => {
    const { merged } = await profile("int", "CASE WHEN range < 10001 THEN range % 9 ELSE range END");
    expect(Math.abs(merged.distinct! / 50_008 - 1)).toBeLessThan(0.09);
    expect(Math.abs(merged.quantiles![3]! / 29_999 - 1)).toBeLessThan(2 ** -9);
  });

  it("keeps the most frequent of many texts", async () => {
    const { merged } = await profile("string", "CASE WHEN range % 2 = 0 THEN 'often' ELSE 'text ' || range END");
    expect(merged.top![0]).toEqual({ value: "often", count: rows / 2 });
    expect(merged).toMatchObject({ min: 5, max: 10, nulls: 0 });
    expect(Math.abs(merged.distinct! / (rows / 2 + 1) - 1)).toBeLessThan(0.09);
  });

  it.each([
    [
      "bool",
      "range % 4 = 0",
      {
        mean: 0.25,
        distinct: 2,
        top: [
          { value: false, count: 45_000 },
          { value: true, count: 15_000 },
        ],
      },
    ],
    ["float", "CAST(NULL AS DOUBLE)", { count: 0, nulls: rows }],
    ["float", "1.5e0", { distinct: 1, min: 1.5, max: 1.5, std: 0 }],
    [
      "timestamp",
      "TIMESTAMP '2024-01-01' + INTERVAL (range) SECOND",
      { min: "2024-01-01T00:00:00.000Z", max: "2024-01-01T16:39:59.000Z" },
    ],
  ] as const)("of type %s: %s", async (type, expression, found) => {
    expect((await profile(type, expression)).merged).toMatchObject(found);
  });
});
