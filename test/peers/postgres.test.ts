import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { nameOfDatabase } from "../../cli/datasets/database-query";
import { describeWithPostgres, PostgresServer } from "./postgres-server";
import { read, refused } from "./query-rows";

describeWithPostgres("a query of PostgreSQL", () => {
  let server: PostgresServer;
  const { PGPASSWORD } = process.env;
  beforeAll(async () => {
    server = await PostgresServer.start();
    process.env["PGPASSWORD"] = PostgresServer.password;
    await server.run(`
      CREATE TYPE mood AS ENUM ('sad', 'happy');
      CREATE DOMAIN positive AS int CHECK (VALUE > 0);
      CREATE TABLE sample (
        id int PRIMARY KEY, small int2, big int8, price numeric, ratio float8, half float4, yes bool, word text,
        day date, at timestamp, zoned timestamptz, mood mood, numbers float8[], grid int[], key uuid, body jsonb, many positive
      );
      INSERT INTO sample VALUES
        (1, 7, 9007199254740993, 12345678901234567890.25, 0.1, 0.1, true, E'a "quoted", \\\\N\\nline',
         '2024-02-29', '2024-02-29 12:30:00.123456', '2024-02-29 12:30:00+09', 'happy', '{1.5,-2}', '{{1,2},{3,4}}',
         '00000000-0000-0000-0000-000000000001', '{"a": 1}', 3),
        (2, NULL, NULL, NULL, 'NaN', NULL, false, '', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
      CREATE TABLE empty (id int, y int);
      CREATE ROLE limited LOGIN PASSWORD 'open sesame';`);
  });
  afterAll(async () => {
    if (PGPASSWORD === undefined) delete process.env["PGPASSWORD"];
    else process.env["PGPASSWORD"] = PGPASSWORD;
    await server.stop();
  });

  it("keeps values, their types, and the difference between an empty text and NULL", async () => {
    const { types, rows } = await read(server.url(), "SELECT * FROM sample ORDER BY id -- all\n;\n");
    expect(Object.fromEntries(types)).toEqual({
      ...{ id: "INTEGER", small: "SMALLINT", big: "BIGINT", price: "VARCHAR", ratio: "DOUBLE", half: "FLOAT" },
      ...{ yes: "BOOLEAN", word: "VARCHAR", day: "DATE", at: "TIMESTAMP", zoned: "TIMESTAMP WITH TIME ZONE" },
      ...{ mood: "VARCHAR", numbers: "VARCHAR", grid: "VARCHAR", key: "VARCHAR", body: "VARCHAR", many: "INTEGER" },
    });
    const shown = rows.map((row) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value === null ? null : String(value)])),
    );
    expect(shown[0]).toEqual({
      ...{ id: "1", small: "7", big: "9007199254740993", price: "12345678901234567890.25", ratio: "0.1" },
      ...{ half: String(Math.fround(0.1)), yes: "true", word: 'a "quoted", \\N\nline', day: "2024-02-29" },
      ...{ at: "2024-02-29 12:30:00.123456", zoned: "2024-02-29 03:30:00+00", mood: "happy", numbers: "[1.5,-2]" },
      ...{ grid: "[[1,2],[3,4]]", key: "00000000-0000-0000-0000-000000000001", body: '{"a": 1}', many: "3" },
    });
    expect(shown[1]).toMatchObject({ id: "2", small: null, ratio: "NaN", yes: "false", word: "", numbers: null });
  });

  it("reads columns of NULL alone, and names the database without user and password", async () => {
    const url = server.url().replace("ada@", "ada:open%20sesame@");
    const sql = "SELECT CASE WHEN i > 2 THEN i END AS only FROM generate_series(1, 4) AS t(i) ORDER BY i";
    const { rows, origin } = await read(url, sql);
    expect(rows.map((row) => row["only"])).toEqual([null, null, 3, 4]);
    expect(origin).toEqual({ file: `postgres://127.0.0.1:${server.port}/postgres`, query: sql });
  });

  it.each<[string, string, RegExp]>([
    ["wrong SQL, with its place", "SELECT id\nFROM smaple", /--sql line 2, column 6: relation "smaple" does not exist/],
    ["two statements", "SELECT 1; DROP TABLE sample", /--sql .*cannot insert multiple commands/],
    ["a closed bracket", "SELECT 1) TO STDOUT; DROP TABLE sample; --", /--sql line 1, column 9: syntax error/],
    ["a write", "INSERT INTO empty VALUES (1, 2) RETURNING id", /read-only transaction/],
    ["a statement without rows", "DROP TABLE sample", /--sql must be a SELECT/],
    ["a failure in a row", "SELECT 1 / (id - 2) AS a FROM sample", /--sql division by zero/],
    ["no rows", "SELECT id, y FROM empty", /the query of postgres:.* has no rows/],
    ["a name that is used twice", "SELECT 1 AS a, 2 AS a", /has "a" twice; .*name them with AS/],
    ["a server's timeout", "SELECT 1 AS a FROM pg_sleep(30)", /canceling statement due to statement timeout/],
    [
      "types that cannot be read, all at once",
      "SELECT interval '1 day' AS pause, 'a'::bytea AS raw, '{a}'::text[] AS words FROM sample",
      /column pause is "interval".*"pause"::text; column raw is "bytea".*; column words is "text\[\]"/,
    ],
    ["a date before the year 1", "SELECT '0044-03-15 BC'::date AS day", /before the year 1 .*cast the column to text/],
    [
      "a time that is out of DuckDB's range",
      "SELECT '294270-01-01'::timestamp AS at",
      /Conversion Error.*; cast the column to text/,
    ],
    ["a row that is too long", "SELECT repeat('x', 17000000) AS a", /must have at most 16\.8 MB a row/],
  ])("reports %s", async (_what, sql, message) => {
    const url = `${server.url()}${sql.includes("pg_sleep") ? "?options=-c%20statement_timeout%3D500" : ""}`;
    const text = await refused(url, sql);
    expect(text).toMatch(message);
    expect(text).toMatch(/^400 /);
  });

  it("reports a refused login, a database that is absent and a table without rights", async () => {
    const wrong = server.url().replace("ada@", "ada:sesame%20street@");
    expect(await refused(wrong, "SELECT 1")).toMatch(/400 .*must accept the login: password authentication failed/);
    expect(await refused(wrong, "SELECT 1")).not.toContain("street");
    expect(await refused(server.url("ada", "nowhere"), "SELECT 1")).toMatch(/database "nowhere" does not exist/);
    expect(await refused(server.url("limited"), "SELECT * FROM sample")).toMatch(/permission denied for table sample/);
    delete process.env["PGPASSWORD"];
    expect(await refused(server.url(), "SELECT 1")).toMatch(/must accept the login: .*set PGPASSWORD/);
    process.env["PGPASSWORD"] = PostgresServer.password;
  });

  it("reports a connection that is cut", async () => {
    const cutting = read(server.url(), "SELECT i, pg_sleep(0.01)::text AS a FROM generate_series(1, 3000) AS t(i)");
    const kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'COPY (SELECT i%'";
    let ended = false;
    const expected = expect(cutting)
      .rejects.toThrow(/the database cannot be read: .*terminating connection/)
      .finally(() => {
        ended = true;
      });
    while (!ended) await server.run(kill);
    await expected;
  });
});

it("reports a server that is not there, and a URL that is none", async () => {
  const closed = createServer().listen(0, "127.0.0.1");
  await new Promise((listening) => closed.once("listening", listening));
  const { port } = closed.address() as AddressInfo;
  await new Promise((done) => closed.close(done));
  const url = `postgres://ada:secret@127.0.0.1:${port}/shop`;
  expect(await refused(url, "SELECT 1")).toMatch(
    new RegExp(`^400 .*--from is "postgres://127.0.0.1:${port}/shop", but must be reachable: connect ECONNREFUSED`),
  );
  expect(await refused(url, "SELECT 1")).not.toContain("secret");
  expect(await refused("postgres://ada:secret@[broken/shop", "SELECT 1")).toMatch(
    /^400 .*must be a URL such as postgres/,
  );
  expect(nameOfDatabase("postgres://ada:secret@[broken/shop")).toBe("postgres://");
});
