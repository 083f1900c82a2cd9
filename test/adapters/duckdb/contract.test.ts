import * as fs from "node:fs";
import * as path from "node:path";
import { checkContract } from "../../../adapters/duckdb/contract/check";
import { withGuardedDuckDb } from "../../../adapters/duckdb/contract/measure";
import { openDuckDb } from "../../../adapters/duckdb/session";
import type { OtherVersions } from "../../../core/datasets/contract/others";
import { type ContractReport, violationsOf } from "../../../core/datasets/contract/report";
import { parseDataContract } from "../../../core/datasets/contract/rules";
import type { ColumnSchema, DatasetManifest } from "../../../core/datasets/shapes";
import { sha256 } from "../../../core/digest";
import { draftOf } from "../../core/datasets/drafts";
import { temporaryFolder } from "../../support/temporary-folder";

const directory = temporaryFolder("contract");
const contents = new Map<string, Uint8Array>();
const objects = { getContent: async (digest: string) => contents.get(digest)! };
const column = (name: string, type: ColumnSchema["type"]): ColumnSchema => ({ name, type, role: "feature" });
const schema = [
  column("id", "int"),
  column("price", "float"),
  column("code", "string"),
  column("sold", "bool"),
  column("at", "timestamp"),
  { ...column("image", "tensor"), shape: [2] },
];
const rowCount = 100;
let files: string[];
let airports: DatasetManifest;
let earlier: DatasetManifest;

async function shard(sql: string): Promise<string> {
  const session = await openDuckDb(fs.mkdtempSync(path.join(directory, "make-")));
  const file = path.join(session.directory, "rows.parquet");
  await session.run(`COPY (${sql}) TO '${file}' (FORMAT parquet)`);
  session.close();
  return file;
}
async function stored(name: string, columns: readonly ColumnSchema[], sql: string): Promise<DatasetManifest> {
  const bytes = fs.readFileSync(await shard(sql));
  contents.set(sha256(bytes), bytes);
  const shards = [{ sha256: sha256(bytes), bytes: bytes.length, rows: 50 }];
  const draft = { ...draftOf(name, sql, columns), shards, rowCount: 50, bytes: bytes.length };
  return { ...draft, version: 3, createdAt: "2026-01-01T00:00:00.000Z" };
}

beforeAll(async () => {
  // Rows 1 … 50 and 51 … 100 are in two files. Row 7 has no price, row 60 has the id of row 61.
  const rows = (from: number, to: number) => `
    SELECT CAST(CASE WHEN i = 60 THEN 61 ELSE i END AS BIGINT) AS id,
      CASE WHEN i <> 7 THEN CAST(i AS DOUBLE) END AS price, chr(CAST(65 + i % 4 AS INTEGER)) || '1' AS code, i % 2 = 0 AS sold,
      TIMESTAMP '2026-01-01' + INTERVAL (i) MINUTE AS at, [CAST(i AS FLOAT), 1::FLOAT] AS image
    FROM range(${from}, ${to}) r(i)`;
  files = [await shard(rows(1, 51)), await shard(rows(51, 101))];
  airports = await stored(
    "airports",
    [column("iata", "string")],
    "SELECT * FROM (VALUES ('A1'), ('B1'), ('C1'), (NULL)) v(iata)",
  );
  earlier = await stored(
    "shop",
    [column("price", "float")],
    "SELECT CAST(i AS DOUBLE) AS price FROM range(1000, 1050) r(i)",
  );
});

function check(rules: readonly string[], others: OtherVersions = new Map()): Promise<ContractReport> {
  const contract = parseDataContract(`rules:\n${rules.map((rule) => `  - ${rule}\n`).join("")}`);
  const context = { dataset: { name: "shop" }, at: "2026-01-01T02:00:00.000Z", others, objects };
  return checkContract(contract, { schema, rowCount, files }, context);
}

describe("a contract over shards", () => {
  it("is satisfied by rows that fit", async () => {
    const report = await check([
      "{rule: type, column: id, type: int}",
      "{rule: notNull, column: id}",
      "{rule: range, column: price, minimum: 1, maximum: 100}",
      "{rule: range, column: at, minimum: '2026-01-01T01:00:00+01:00'}",
      "{rule: range, column: image, minimum: 1, maximum: 100}",
      "{rule: length, column: code, minimum: 2, maximum: 2}",
      "{rule: values, column: sold, values: [true, false]}",
      "{rule: pattern, column: code, pattern: '[A-D]\\d'}",
      "{rule: unique, columns: [id], severity: warn}",
      "{rule: unique, columns: [id, price]}",
      "{rule: rowCount, minimum: 100, maximum: 100}",
      "{rule: freshness, column: at, maxAge: 20m}",
      "{rule: expression, expression: 'ID >= price or id = 61'}",
      "{rule: statistic, column: price, statistic: mean, minimum: 50, maximum: 51.2}",
      "{rule: statistic, column: price, statistic: quantile, probability: 0.5, minimum: 50, maximum: 52}",
      "{rule: statistic, column: price, statistic: nullShare, maximum: 0.01}",
      "{rule: statistic, column: code, statistic: distinct, minimum: 4, maximum: 4}",
      "{rule: notNull, column: price, tolerance: 0.01}",
    ]);
    expect(violationsOf(report).map(({ rule, columns }) => [rule, columns])).toEqual([["unique", ["id"]]]);
    expect([report.status, report.rows, report.outcomes.length]).toEqual(["warned", 100, 18]);
  });

  it("reports all violations with counts, and the first rows with their values", async () => {
    const report = await check(
      [
        "{rule: type, column: id, type: string}",
        "{rule: notNull, column: price}",
        "{rule: range, column: price, maximum: 98}",
        "{rule: values, column: code, values: [A1, B1, C1]}",
        "{rule: unique, columns: [id]}",
        "{rule: expression, expression: 'sold = false or price <> 51 and id > 4'}",
        "{rule: freshness, column: at, maxAge: 19m}",
        "{rule: statistic, column: price, statistic: distinct, maximum: 10}",
        "{rule: reference, column: code, references: {dataset: airports, column: iata}}",
        "{rule: drift, column: price, baseline: 3, maximum: 0.2}",
        "{rule: drift, column: price, baseline: previous, maximum: 0.2}",
      ],
      new Map<number, DatasetManifest | "none">([
        [8, airports],
        [9, earlier],
        [10, "none"],
      ]),
    );
    const found = report.outcomes.map(({ status, rows, measured, samples: [first] }) => [
      status,
      rows ?? measured,
      first,
    ]);
    expect(found).toEqual([
      ["violated", "int", undefined],
      ["violated", 1, { row: 7, values: { price: null } }],
      ["violated", 2, { row: 99, values: { price: "99.0" } }],
      ["violated", 25, { row: 3, values: { code: "D1" } }],
      ["violated", 1, { row: 61, values: { id: "61" } }],
      ["violated", 2, { row: 2, values: { sold: "true", price: "2.0", id: "2" } }],
      ["violated", "2026-01-01T01:40:00.000Z", undefined],
      ["violated", 99, undefined],
      ["violated", 25, { row: 3, values: { code: "D1" } }],
      ["violated", expect.any(Number), undefined],
      ["skipped", undefined, undefined],
    ]);
    expect(report.outcomes[9]!.measured).toBeGreaterThan(4);
    expect(report.outcomes[3]!.samples.map(({ row }) => row)).toEqual([3, 7, 11, 15, 19]);
    expect(report.status).toBe("blocked");
  });

  it.each([
    ["another file", "SELECT * FROM read_text('/etc/hostname')", /Permission Error/],
    ["a file as a table", "SELECT * FROM '/etc/hostname'", /Permission Error|Catalog Error/],
    ["a list of files", "SELECT * FROM glob('/*')", /Permission Error/],
    ["another database", "ATTACH '/tmp/other.duckdb'", /Permission Error/],
    ["a setting", "SET enable_external_access = true", /cannot|locked|Cannot/i],
    ["an extension", "INSTALL httpfs", /Permission Error/],
  ])("its DuckDB gives no access to %s, whatever a query has", async (_case, sql, message) => {
    await withGuardedDuckDb([path.dirname(files[0]!)], async (session) => {
      expect(await session.rows(`SELECT count(*) AS rows FROM read_parquet('${files[0]}')`)).toEqual([{ rows: 50n }]);
      await expect(session.rows(sql)).rejects.toThrow(message);
    });
  });

  it.each([
    ["{rule: notNull, column: gone}", /there is no column gone/],
    ["{rule: expression, expression: 'gone > 1'}", /there is no column gone/],
    ["{rule: pattern, column: id, pattern: 'x'}", /type is int, and the rule needs a string/],
    ["{rule: range, column: code, minimum: 1}", /type is string, and the rule needs/],
    ["{rule: range, column: price, minimum: '2026-01-01'}", /needs a timestamp/],
    ["{rule: values, column: sold, values: [yes, no]}", /needs values of its type: true, false/],
    ["{rule: statistic, column: code, statistic: mean, minimum: 1}", /needs an int or float/],
    ["{rule: expression, expression: 'code > 5'}", /it cannot be evaluated: Binder Error: Cannot compare/],
    ["{rule: expression, expression: 'list_sum(code) > 5'}", /it cannot be evaluated: Binder Error/],
    ["{rule: reference, column: id, references: {dataset: airports, column: iata}}", /is of type string, not int/],
    ["{rule: reference, column: code, references: {dataset: airports, column: icao}}", /airports@3 has no column icao/],
    ["{rule: drift, column: code, baseline: 3, maximum: 0.2}", /version 3 has no column code/],
  ])("%s is a violation of its own, and the other rules are measured", async (rule, message) => {
    const other = rule.includes("drift") ? earlier : airports;
    const report = await check([rule, "{rule: range, column: price, maximum: 98}"], new Map([[0, other]]));
    expect(report.outcomes[0]).toMatchObject({ status: "violated", problem: expect.stringMatching(message) });
    expect(report.outcomes[1]).toMatchObject({ status: "violated", rows: 2 });
  });
});
