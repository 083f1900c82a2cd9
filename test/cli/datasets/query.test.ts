import * as fs from "node:fs";
import * as path from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { Database } from "node-sqlite3-wasm";
import { createSnapshot } from "../../../adapters/duckdb/snapshot";
import { withDuckDb } from "../../../adapters/duckdb/workspace";
import { nameOfDatabase } from "../../../cli/datasets/database-query";
import { type QueryOrigin, queryTarget, withQueryRows } from "../../../cli/datasets/query";
import { parseDatasetSchema } from "../../../core/datasets/schema";
import { RingmasterError } from "../../../core/errors";
import { temporaryFolder } from "../../support/temporary-folder";

const folder = temporaryFolder("query");
const at = (name: string): string => path.join(folder, name);

const schema = parseDatasetSchema(`
columns: [{name: x, type: float, nullable: true}, {name: word, type: string}, {name: y, type: int, role: label}]
`);
const csv = `x,word,y\n${Array.from({ length: 40 }, (_, i) => `${i === 5 ? "" : i / 4},"w, ${i}",${i % 2}\n`).join("")}`;

/** Names, digest and origin of the version that a query's rows become. */
const push = (from: string, sql: string): Promise<{ readonly digest: string; readonly origin: QueryOrigin }> =>
  withQueryRows(
    { from, sql },
    () => undefined,
    (file, origin) =>
      withDuckDb(async (session) => {
        const { draft } = await createSnapshot(session, { name: "toy", file, schema });
        return { digest: draft.digest, origin };
      }),
  );
const digestOfCsv = (): Promise<string> =>
  withDuckDb(async (session) => {
    fs.writeFileSync(at("rows.csv"), csv);
    return (await createSnapshot(session, { name: "toy", file: at("rows.csv"), schema })).draft.digest;
  });
const refused = async (from: string, sql: string): Promise<string> => {
  const error = await push(from, sql).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof RingmasterError)) throw error;
  return `${error.httpStatus} ${error.message}`;
};
const select = "SELECT x, word, y FROM toy ORDER BY id";

describe("a query of a DuckDB file", () => {
  const file = at("rows.duckdb");
  beforeAll(async () => {
    const instance = await DuckDBInstance.create(file);
    const connection = await instance.connect();
    await connection.run(`
      CREATE TABLE toy AS SELECT i AS id, CASE WHEN i <> 5 THEN i / 4 END AS x, 'w, ' || i AS word, i % 2 AS y FROM range(40) t(i);
      CREATE VIEW odd AS SELECT * FROM toy WHERE y = 1`);
    connection.closeSync();
    instance.closeSync();
    fs.writeFileSync(at("other.csv"), "a\n1\n");
    fs.writeFileSync(at("text.duckdb"), "no database, but some text that is long enough for a header".repeat(100));
  });

  it("gives the same version as a file, and records the query", async () => {
    const { digest, origin } = await push(file, `${select}; -- all of them\n`.replace("; --", " --"));
    expect(digest).toBe(await digestOfCsv());
    expect(origin).toEqual({ file: "rows.duckdb", query: `${select} -- all of them\n` });
    expect((await push(file, `WITH picked AS (${select}) FROM picked;`)).digest).toBe(digest);
  });

  it("keeps the digits of sums, and reads views", async () => {
    const sql = "SELECT sum(id)::HUGEINT + 9007199254740992 AS x, 'w' AS word, 1 AS y FROM odd";
    const read = withQueryRows(
      { from: file, sql },
      () => undefined,
      ([rows]) => withDuckDb((session) => session.rows(`SELECT x FROM read_parquet('${rows}')`)),
    );
    expect(await read).toEqual([{ x: "9007199254741392" }]);
  });

  it.each<[string, string, string, RegExp]>([
    ["a file that is absent", "absent.duckdb", select, /--from is "absent.duckdb", but must be a file that exists/],
    ["a file of another kind", "text.duckdb", select, /must be a DuckDB database that can be opened: /],
    ["wrong SQL", "rows.duckdb", "SELECT x\nFROM tyo", /--sql Catalog Error: Table with name tyo does not exist/],
    ["two statements", "rows.duckdb", "SELECT 1 AS a; DROP TABLE toy", /--sql must be one SELECT/],
    ["a closed bracket", "rows.duckdb", "SELECT 1) TO 'x.csv'; --", /--sql Parser Error/],
    ["a write", "rows.duckdb", "DELETE FROM toy", /--sql must be one SELECT/],
    ["a failure in a row", "rows.duckdb", "SELECT CAST(word AS INT) AS x FROM toy", /--sql Conversion Error: /],
    ["no rows", "rows.duckdb", "SELECT * FROM toy WHERE x < 0", /the query of rows.duckdb has no rows/],
    ["another file", "rows.duckdb", `SELECT * FROM read_csv('${at("other.csv")}')`, /--sql Permission Error/],
    ["another schema", "rows.duckdb", "SELECT x AS z FROM toy", /columns.x must be in the file/],
    [
      "values that break the schema",
      "rows.duckdb",
      "SELECT x, NULL AS word, y FROM toy",
      /400 rows.duckdb .*column word, row 1/,
    ],
    ["a database that is not known", "rows.mdb", select, /--from is "rows.mdb", but must be postgres:/],
  ])("reports %s", async (_what, name, sql, message) => {
    const text = await refused(at(name), sql);
    expect(text).toMatch(message);
    expect([text.slice(0, 4), text.includes("ringmaster-query-")]).toEqual(["400 ", false]);
  });

  it("reads a file that another program reads", async () => {
    const instance = await DuckDBInstance.create(file, { access_mode: "READ_ONLY" });
    expect((await push(file, select)).digest).toBe(await digestOfCsv());
    instance.closeSync();
  });
});

describe("a query of an SQLite file", () => {
  const file = at("rows.sqlite");
  beforeAll(() => {
    const database = new Database(file);
    database.exec("CREATE TABLE toy (id INTEGER PRIMARY KEY, x REAL, word TEXT, y INTEGER)");
    for (let i = 0; i < 40; i += 1) {
      database.run("INSERT INTO toy VALUES (?, ?, ?, ?)", [i, i === 5 ? null : i / 4, `w, ${i}`, i % 2]);
    }
    database.close();
    fs.writeFileSync(at("text.sqlite"), "no database, but some text that is long enough for a header".repeat(100));
  });

  it("gives the same version as a file", async () => {
    const { digest, origin } = await push(file, select);
    expect(digest).toBe(await digestOfCsv());
    expect(origin).toEqual({ file: "rows.sqlite", query: select });
  });

  it.each<[string, string, string, RegExp]>([
    ["a file that is absent", "absent.sqlite", select, /must be a file that exists/],
    ["a file of another kind", "text.sqlite", select, /must be an SQLite database that can be opened: /],
    ["wrong SQL", "rows.sqlite", "SELECT x FROM tyo", /--sql no such table: tyo/],
    ["another statement", "rows.sqlite", "ATTACH 'x.db' AS other", /--sql must be one SELECT/],
    ["a write", "rows.sqlite", "WITH a AS (SELECT 1) DELETE FROM toy", /--sql must be one SELECT: near "DELETE"/],
    ["two statements", "rows.sqlite", "SELECT x, y FROM toy; DELETE FROM toy", /--sql must be one SELECT: near ";"/],
    ["no rows", "rows.sqlite", "SELECT * FROM toy WHERE x < 0", /the query of rows.sqlite has no rows/],
    ["two columns of one name", "rows.sqlite", "SELECT x, y, x FROM toy", /has "x" twice; .*; name them with AS/],
    ["a BLOB", "rows.sqlite", "SELECT x'00' AS a", /column a must have numbers and texts, and has a BLOB/],
    [
      "values that break the schema",
      "rows.sqlite",
      "SELECT 'a' AS x, word, y FROM toy",
      /400 rows.sqlite .*column x, row 1/,
    ],
  ])("reports %s", async (_what, name, sql, message) => {
    const text = await refused(at(name), sql);
    expect(text).toMatch(message);
    expect(text).toMatch(/^400 /);
    expect(fs.readdirSync(folder).filter((entry) => entry.endsWith(".lock"))).toEqual([]);
  });

  it("reads a file whatever lock a process has left behind, but not one with an open transaction", async () => {
    fs.mkdirSync(`${file}.lock`);
    expect((await push(file, select)).digest).toBe(await digestOfCsv());
    fs.rmdirSync(`${file}.lock`);
    fs.writeFileSync(`${file}-journal`, "pages");
    expect(await refused(file, select)).toMatch(/has changes in .*rows.sqlite-journal; close the programs that use it/);
    fs.rmSync(`${file}-journal`);
  });
});

describe("queryTarget", () => {
  it("names the dataset, the schema file and the query", () => {
    const query = { from: "postgres://db/shop", sql: "SELECT 1" };
    expect(queryTarget(["sales"], [], query)).toEqual({
      ...{ name: "sales", sources: [], schemaFile: "sales.schema.yaml", query },
    });
    expect(queryTarget(["sales.csv"], [], {})).toBeUndefined();
  });

  it("reports a missing option and files together", () => {
    expect(() => queryTarget(["sales", "a.csv"], [], { sql: "SELECT 1" })).toThrow(
      /--from is required.*; source is "a.csv"/,
    );
    expect(() => queryTarget(["sales"], ["a.csv"], { from: "a.duckdb" })).toThrow(
      /--sql is required.*; source is "a.csv"/,
    );
  });

  it("refuses a query that is too long to be recorded", async () => {
    expect(await refused(at("rows.duckdb"), `SELECT 1 -- ${"x".repeat(10_000)}`)).toMatch(/at most 10000 characters/);
  });
});

it.each([
  ["postgres://ada:secret@db.example.com:5433/shop?sslmode=require&password=x", "postgres://db.example.com:5433/shop"],
  ["postgresql:///shop?host=/var/run/postgresql", "postgresql:///shop"],
  ["athena://flights?output=s3://bucket/x/", "athena://flights"],
  ["data/my shop.duckdb", "my shop.duckdb"],
])("names the database %s without secrets", (from, name) => expect(nameOfDatabase(from)).toBe(name));
