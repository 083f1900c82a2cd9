import { describeWithMysql, MysqlServer } from "./mysql-server";
import { read, refused } from "./query-rows";

describeWithMysql("a query of MySQL (MariaDB)", () => {
  let server: MysqlServer;
  const { MYSQL_PWD } = process.env;
  beforeAll(async () => {
    server = await MysqlServer.start();
    process.env["MYSQL_PWD"] = MysqlServer.password;
    await server.run(`
      CREATE TABLE sample (
        id int PRIMARY KEY, tiny tinyint, small smallint, big bigint, huge bigint unsigned, price decimal(40, 2),
        ratio double, half float, word text, day date, at datetime(6), zoned timestamp NULL, mood enum('sad', 'happy'),
        raw blob, pause time, year_ year
      );
      SET time_zone = '+00:00';
      INSERT INTO sample VALUES
        (1, -7, 7, 9007199254740993, 18446744073709551615, 12345678901234567890.25, 0.1, 0.1, 'a "quoted", \\\\N\\nline 𝄞',
         '2024-02-29', '2024-02-29 12:30:00.123456', '2024-02-29 03:30:00', 'happy', x'ff', '10:00:00', 2024),
        (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '', NULL, NULL, NULL, NULL, NULL, NULL, NULL);
      CREATE TABLE empty_ (id int, y int);`);
  });
  afterAll(async () => {
    if (MYSQL_PWD === undefined) delete process.env["MYSQL_PWD"];
    else process.env["MYSQL_PWD"] = MYSQL_PWD;
    await server.stop();
  });

  it("keeps values, their types, and the difference between an empty text and NULL", async () => {
    const columns = "id, tiny, small, big, huge, price, ratio, half, word, day, at, zoned, mood, year_";
    const { types, rows } = await read(server.url(), `SELECT ${columns} FROM sample ORDER BY id -- all\n;\n`);
    expect(Object.fromEntries(types)).toEqual({
      ...{ id: "INTEGER", tiny: "TINYINT", small: "SMALLINT", big: "BIGINT", huge: "UBIGINT", price: "VARCHAR" },
      ...{ ratio: "DOUBLE", half: "FLOAT", word: "VARCHAR", day: "DATE", at: "TIMESTAMP" },
      ...{ zoned: "TIMESTAMP WITH TIME ZONE", mood: "VARCHAR", year_: "SMALLINT" },
    });
    const shown = rows.map((row) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value === null ? null : String(value)])),
    );
    expect(shown[0]).toEqual({
      ...{ id: "1", tiny: "-7", small: "7", big: "9007199254740993", huge: "18446744073709551615" },
      ...{ price: "12345678901234567890.25", ratio: "0.1", half: String(Math.fround(0.1)) },
      ...{ word: 'a "quoted", \\N\nline 𝄞', day: "2024-02-29", at: "2024-02-29 12:30:00.123456" },
      ...{ zoned: "2024-02-29 03:30:00+00", mood: "happy", year_: "2024" },
    });
    expect(shown[1]).toMatchObject({ id: "2", tiny: null, huge: null, word: "", day: null, mood: null });
  });

  it("names the database without user and password, and reads more rows than are held at once", async () => {
    const url = server.url().replace("ada@", "ada:open%20sesame@");
    const sql = "SELECT seq AS i, repeat('x', 100) AS word FROM seq_1_to_50000";
    const { rows, origin } = await read(url, sql);
    expect(rows).toHaveLength(50_000);
    expect(origin).toEqual({ file: `mysql://127.0.0.1:${server.port}/shop`, query: sql });
  });

  it.each<[string, string, RegExp]>([
    ["wrong SQL", "SELECT id\nFROM smaple", /--sql Table 'shop.smaple' doesn't exist/],
    ["two statements", "SELECT 1; DROP TABLE sample", /--sql You have an error in your SQL syntax/],
    ["a write", "INSERT INTO empty_ VALUES (1, 2)", /--sql Cannot execute statement in a READ ONLY transaction/],
    ["a statement without rows", "DROP TABLE sample", /--sql /],
    ["a setting", "SET @a = 1", /--sql must be a SELECT/],
    ["no rows", "SELECT id, y FROM empty_", /the query of mysql:.* has no rows/],
    ["a name that is used twice", "SELECT 1 AS a, 2 AS a", /has "a" twice; .*name them with AS/],
    ["a server's timeout", "SET STATEMENT max_statement_time=0.2 FOR SELECT sleep(30) AS a", /max_statement_time/],
    [
      "types that cannot be read, all at once",
      "SELECT raw, pause FROM sample",
      /column raw is "BLOB".*CAST\(raw AS CHAR\); column pause is "TIME"/,
    ],
    ["a row that is too long", "SELECT repeat('x', 9000000) AS a, repeat('y', 9000000) AS b", /at most 16\.8 MB a row/],
  ])("reports %s", async (_what, sql, message) => {
    const text = await refused(server.url(), sql);
    expect(text).toMatch(message);
    expect(text).toMatch(/^400 /);
    await server.run("SELECT id FROM sample");
  });

  it("reports a refused login, a database that is absent, a table without rights and a wrong URL", async () => {
    const wrong = server.url().replace("ada@", "ada:sesame%20street@");
    expect(await refused(wrong, "SELECT 1")).toMatch(/400 .*must accept the login: Access denied/);
    expect(await refused(wrong, "SELECT 1")).not.toContain("street");
    expect(await refused(server.url("ada", "nowhere"), "SELECT 1")).toMatch(
      /must be ready: Unknown database 'nowhere'/,
    );
    expect(await refused(server.url("limited", ""), "SELECT * FROM shop.sample")).toMatch(/SELECT command denied/);
    expect(await refused("mysql://127.0.0.1/shop", "SELECT 1")).toMatch(/must be a URL such as mysql:\/\/user@host/);
    expect(await refused("mysql://ada:50%off@127.0.0.1/shop", "SELECT 1")).toMatch(/must be a URL such as mysql/);
    expect(await refused(`${server.url()}?ssl-mode=MAYBE`, "SELECT 1")).toMatch(/must have the ssl-mode DISABLED, /);
    expect(await refused("mysql://ada@127.0.0.1:1/shop", "SELECT 1")).toMatch(/must be reachable: .*ECONNREFUSED/);
  });

  it("reports a connection that is cut", async () => {
    let ended = false;
    const cutting = expect(read(server.url(), "SELECT seq AS i, sleep(0.01) AS a FROM seq_1_to_3000"))
      .rejects.toThrow(/the database cannot be read/)
      .finally(() => {
        ended = true;
      });
    while (!ended) await server.cut("SELECT seq AS i, sleep");
    await cutting;
  });
});
