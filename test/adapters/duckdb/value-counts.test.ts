import type { DuckDBListValue } from "@duckdb/node-api";
import { profileColumns } from "../../../adapters/duckdb/profile";
import { type DuckDbSession, openDuckDb } from "../../../adapters/duckdb/session";
import { profiledQuantiles } from "../../../core/datasets/profile";
import { temporaryFolder } from "../../support/temporary-folder";

describe("statistics from counted values", () => {
  const directory = temporaryFolder("counts");
  let session: DuckDbSession;
  beforeAll(async () => {
    session = await openDuckDb(directory);
  });
  afterAll(() => session.close());
  const int = [{ name: "x", type: "int", role: "feature" }] as const;

  it.each([
    ["a few values, often", "SELECT CAST(i * i % 7 AS BIGINT) AS x FROM range(1000) r(i)", 1_000],
    [
      "values with gaps and missing ones",
      "SELECT CAST(CASE WHEN i % 3 > 0 THEN i * i END AS BIGINT) AS x FROM range(101) r(i)",
      101,
    ],
    ["one row", "SELECT 5::BIGINT AS x", 1],
    ["negative values", "SELECT CAST(-i AS BIGINT) AS x FROM range(4) r(i)", 4],
    ["more values than are counted", "SELECT CAST(i % 150000 AS BIGINT) AS x FROM range(200000) r(i)", 200_000],
  ])("equal DuckDB's own of all rows: %s", async (_case, sql, rowCount) => {
    const [profile] = await profileColumns(session, `(${sql})`, int, rowCount);
    const [expected] = await session.rows(
      `SELECT count(x) AS count, count(DISTINCT x) AS distinct, min(x) AS min, max(x) AS max, avg(x) AS mean, stddev_pop(x) AS std,
              quantile_cont(CAST(x AS DOUBLE), [${profiledQuantiles.join(", ")}]) AS quantiles FROM (${sql})`,
    );
    for (const name of ["count", "distinct", "min", "max"] as const)
      expect(profile![name]).toBe(Number(expected![name]));
    for (const name of ["mean", "std"] as const) expect(profile![name]).toBeCloseTo(Number(expected![name]), 9);
    const quantiles = (expected!["quantiles"] as DuckDBListValue).items.map(Number);
    for (const [at, value] of quantiles.entries()) expect(profile!.quantiles![at]).toBeCloseTo(value, 9);
    expect(profile!.nulls).toBe(rowCount - profile!.count);
  });

  it("are absent without a value", async () => {
    const table = "(SELECT CAST(NULL AS BIGINT) AS x FROM range(3))";
    expect(await profileColumns(session, table, int, 3)).toEqual([
      { name: "x", type: "int", count: 0, nulls: 3, distinct: 0, top: [] },
    ]);
  });
});
