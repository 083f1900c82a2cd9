import * as fs from "node:fs";
import * as path from "node:path";
import * as fc from "fast-check";
import { readColumns } from "../../../adapters/duckdb/row-reader";
import { type DuckDbSession, openDuckDb } from "../../../adapters/duckdb/session";
import { createShardSource } from "../../../adapters/duckdb/shard-source";
import { createSnapshot } from "../../../adapters/duckdb/snapshot";
import { type DatasetSchema, parseDatasetSchema } from "../../../core/datasets/schema";
import { decodeSplitIndex } from "../../../core/datasets/split-index";
import { hasCode } from "../../../core/errors";
import { type ColumnValues, textAt } from "../../../core/features/values";
import { temporaryFolder } from "../../support/temporary-folder";

const schema = parseDatasetSchema(`
columns:
  - {name: id, type: int, role: ignore}
  - {name: price, type: float, nullable: true}
  - {name: colour, type: string}
  - {name: sold, type: bool}
  - {name: at, type: timestamp}
  - {name: image, type: tensor, shape: [2, 2]}
  - {name: label, type: int, role: label}
`);

const rows = Array.from({ length: 40 }, (_, id) => ({
  id,
  price: id % 7 === 0 ? null : id / 8,
  colour: ["red", "green, or so", 'blue "sky"'][id % 3]!,
  sold: id % 2 === 0,
  at: `2024-02-29T12:00:${String(id).padStart(2, "0")}Z`,
  image: [
    [id, 0.5],
    [1, 2],
  ],
  label: id % 2,
}));

const folder = temporaryFolder("snapshot");
let directory: string;
let session: DuckDbSession;
beforeEach(async () => {
  directory = fs.mkdtempSync(path.join(folder, "test-"));
  session = await openDuckDb(path.join(directory, "duckdb"));
});
afterEach(() => session.close());

function write(name: string, content: string | Buffer): string {
  const file = path.join(directory, name);
  fs.writeFileSync(file, content);
  return file;
}

const quote = (text: string): string => `"${text.replaceAll('"', '""')}"`;
const csv = (): string =>
  write(
    "rows.csv",
    ["id,price,colour,sold,at,image,label,comment"]
      .concat(
        rows.map(({ id, price, colour, sold, at, image, label }) =>
          [id, price ?? "", quote(colour), sold, at, quote(JSON.stringify(image)), label, "x"].join(","),
        ),
      )
      .join("\n"),
  );
const snapshotOf = (file: string, as: DatasetSchema = schema, shardBytes?: number) =>
  createSnapshot(session, { name: "things", file, schema: as, shardBytes });

describe("a split by group or time", () => {
  /** Rows of customers and hours, in any order, with missing customers. */
  const visits = fc.array(fc.record({ customer: fc.option(fc.nat(8)), at: fc.nat(40) }), {
    minLength: 30,
    maxLength: 60,
  });
  const columns =
    "columns: [{name: customer, type: int, nullable: true, role: ignore}, {name: at, type: timestamp}, {name: y, type: float, role: label}]";

  it.each(["group", "time"] as const)("keeps its rule for any rows: %s", async (by) => {
    const as = parseDatasetSchema(
      `${columns}\nsplit: {by: ${by}, column: ${by === "group" ? "customer" : "at"}, seed: 3}`,
    );
    await fc.assert(
      fc.asyncProperty(visits, async (some) => {
        const unit = ({ customer, at }: (typeof some)[number]) => (by === "group" ? customer : at);
        fc.pre(new Set(some.map(unit)).size >= 3);
        const lines = some.map(({ customer, at }) => `${customer ?? ""},${new Date(3_600_000 * at).toISOString()},1`);
        const { draft, indexes } = await snapshotOf(write("visits.csv", `customer,at,y\n${lines.join("\n")}`), as);
        const [train, validation, test] = (["train", "validation", "test"] as const).map((split) =>
          [...decodeSplitIndex(indexes.get(draft.split.indexes[split].sha256)!)].map((row) => unit(some[row]!)),
        ) as [(number | null)[], (number | null)[], (number | null)[]];
        expect(train.length + validation.length + test.length).toBe(some.length);
        expect(Math.min(train.length, validation.length, test.length)).toBeGreaterThan(0);
        if (by === "group") {
          const distinct = [train, validation, test].map((units) => new Set(units).size);
          expect(distinct.reduce((sum, size) => sum + size)).toBe(new Set(some.map(unit)).size);
        } else {
          expect(Math.max(...train.map(Number))).toBeLessThan(Math.min(...validation.map(Number)));
          expect(Math.max(...validation.map(Number))).toBeLessThan(Math.min(...test.map(Number)));
        }
      }),
      { numRuns: 15 },
    );
  });

  it("needs as many groups as splits", async () => {
    const as = parseDatasetSchema(`${columns}\nsplit: {by: group, column: customer}`);
    const file = write("two.csv", "customer,at,y\n1,2024-01-01,1\n2,2024-01-02,1\n2,2024-01-03,1\n");
    await expect(snapshotOf(file, as)).rejects.toThrow(
      /split\.column is "customer", but must have at least 3 different values/,
    );
  });
});

describe("createSnapshot", () => {
  it("creates the same version from the same rows in CSV, JSON and Parquet", async () => {
    const fromCsv = await snapshotOf(csv());
    const fromJson = await snapshotOf(write("rows.ndjson", rows.map((row) => JSON.stringify(row)).join("\n")));
    const fromArray = await snapshotOf(write("rows.json", JSON.stringify(rows)));
    // Other types of the source: int32, decimal, times with a zone, a fixed-size array.
    const parquet = path.join(directory, "rows.parquet");
    await session.run(
      `COPY (SELECT id::INTEGER AS id, price::DECIMAL(12,3) AS price, colour, sold, "at"::TIMESTAMPTZ AS "at",
                    image::DOUBLE[2][2] AS image, label::TINYINT AS label
             FROM read_json('${path.join(directory, "rows.json")}')) TO '${parquet}' (FORMAT parquet)`,
    );
    const fromParquet = await snapshotOf(parquet);
    expect(fromCsv.draft.rowCount).toBe(40);
    for (const other of [fromJson, fromArray, fromParquet]) expect(other.draft).toEqual(fromCsv.draft);
    expect(fromCsv.ignoredColumns).toEqual(["comment"]);
  });

  it("keeps the rows, their order and missing values", async () => {
    const { shards } = await snapshotOf(csv());
    const { columns } = schema;
    const batches = [];
    for await (const batch of readColumns(session, `read_parquet('${shards[0]!.path}')`, columns)) batches.push(batch);
    const [batch] = batches;
    const column = (name: string) => batch!.columns[name]!.values;
    expect([...column("id")]).toEqual(rows.map(({ id }) => id));
    expect(batch!.columns["price"]).toMatchObject({
      valid: Uint8Array.from(rows.map(({ price }) => (price === null ? 0 : 1))),
    });
    expect([...column("colour")]).toEqual(rows.map(({ colour }) => colour));
    expect([...column("sold")]).toEqual(rows.map(({ sold }) => Number(sold)));
    expect([...column("at")]).toEqual(rows.map(({ at }) => Date.parse(at)));
    expect([...(column("image") as Float32Array)].slice(0, 8)).toEqual([0, 0.5, 1, 2, 1, 0.5, 1, 2]);
  });

  it("accepts any column names", async () => {
    // SQL keywords, quotes, other scripts, and the internal column names of the queries.
    const names = ["Beak Length (mm)", 'a "b"', "it's", "größe", "猫", "rowid", "row#", "rows#", "value#", "select"];
    const odd = parseDatasetSchema(
      JSON.stringify({
        columns: [...names.map((name) => ({ name, type: "int" })), { name: "y", type: "bool", role: "label" }],
      }),
    );
    const line = (row: number) => [...names.map((_, i) => (names[i] === "rowid" ? 99 - row : row)), row % 2].join(",");
    const rowsOf = (count: number) => Array.from({ length: count }, (_, row) => line(row));
    const header = [...names.map(quote), "y"].join(",");
    // A limit of a few bytes cuts shards in the order of the rows, not by the column with the name of DuckDB's row
    // number.
    const { shards, draft } = await snapshotOf(write("odd.csv", [header, ...rowsOf(100)].join("\n")), odd, 3_000);
    expect(draft.rowCount).toBe(100);
    expect(shards.length).toBeGreaterThan(1);
    const read: number[] = [];
    for (const { path: file } of shards)
      for await (const batch of readColumns(session, `read_parquet('${file}')`, odd.columns))
        read.push(...(batch.columns["rowid"]!.values as Float64Array));
    expect(read).toEqual(Array.from({ length: 100 }, (_, row) => 99 - row));

    const broken = [header, ...rowsOf(20), line(20).replace(/^20,20,20,20,20,\d+,20/, "20,20,20,20,20,79,x")].join(
      "\n",
    );
    await expect(snapshotOf(write("broken.csv", broken), odd)).rejects.toThrow(/column row#, row 21: "x"/);
  });

  it("splits every row once, stratified by the label", async () => {
    const { draft, indexes } = await snapshotOf(csv());
    const rowsOf = (split: "train" | "validation" | "test") => [
      ...decodeSplitIndex(indexes.get(draft.split.indexes[split].sha256)!),
    ];
    expect([rowsOf("train").length, rowsOf("validation").length, rowsOf("test").length]).toEqual([32, 4, 4]);
    expect(rowsOf("test").filter((row) => row % 2 === 1)).toHaveLength(2);
    expect([...rowsOf("train"), ...rowsOf("validation"), ...rowsOf("test")].sort((a, b) => a - b)).toEqual(
      rows.map(({ id }) => id),
    );
  });

  it("cuts shards of about equal bytes from rows of unequal size, the same ones each time", async () => {
    const file = path.join(directory, "wide.parquet");
    // The first half is hard to compress, and the second half is constant.
    await session.run(
      `COPY (SELECT CASE WHEN i < 40000 THEN hash(i) / 3.7e18 ELSE i % 5 END AS x, i % 2 AS label FROM range(80000) r(i))
       TO '${file}' (FORMAT parquet)`,
    );
    const wide = parseDatasetSchema("columns: [{name: x, type: float}, {name: label, type: int, role: label}]");
    const limit = 120_000;
    const { draft } = await snapshotOf(file, wide, limit);
    const sizes = draft.shards.map(({ bytes }) => bytes);
    expect(sizes.length).toBeGreaterThan(2);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(limit);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(1.05 * Math.min(...sizes));
    expect(draft.shards.reduce((sum, shard) => sum + shard.rows, 0)).toBe(80_000);
    expect((await snapshotOf(file, wide, limit)).draft).toEqual(draft);
  });

  it("refuses numbers whose squares are no numbers, unless they stand for a missing value", async () => {
    const large = (missing: string) =>
      parseDatasetSchema(
        `columns: [{name: x, type: float, nullable: true${missing}}, {name: y, type: int, role: label}]`,
      );
    const file = write(
      "large.csv",
      `x,y\n${Array.from({ length: 40 }, (_, i) => `${i},${i % 2}`).join("\n")}\n-1.5e200,0\n`,
    );
    await expect(snapshotOf(file, large(""))).rejects.toMatchObject({
      details: { violations: [{ column: "x", examples: [{ row: 41, value: "-1.5e200" }] }] },
    });
    expect((await snapshotOf(file, large(", missing: ['-1.5e200']"))).draft.rowCount).toBe(41);
  });

  it("reads UUIDs as text, and texts of a CSV file with line ends of another kind", async () => {
    const ids = parseDatasetSchema(
      "columns: [{name: id, type: string, missing: [NA]}, {name: y, type: int, role: label}]",
    );
    const parquet = path.join(directory, "uuid.parquet");
    await session.run(`COPY (SELECT uuid() AS id, i % 2 AS y FROM range(40) t(i)) TO '${parquet}' (FORMAT parquet)`);
    expect((await snapshotOf(parquet, ids)).draft.rowCount).toBe(40);
    const lines = Array.from({ length: 40 }, (_, i) => `"first ${i}\nsecond",${i % 2}`);
    const file = write("excel.csv", ["\ufeffid,y", ...lines, ""].join("\r\n"));
    expect((await snapshotOf(file, ids)).draft.rowCount).toBe(40);
  });

  it("takes numbers of JSON as they are, whatever format their texts have", async () => {
    const formatted = parseDatasetSchema(`
columns:
  - {name: price, type: float, format: "R.1.234,5 €"}
  - {name: units, type: int, format: "1.234"}
  - {name: label, type: float, role: label}
`);
    const lines = ([price, units]: readonly unknown[]) => JSON.stringify({ price, units, label: 1 });
    const mixed = write(
      "numbers.jsonl",
      [
        [1.234, 1234],
        ["-R.1.234,5 €", "1.234"],
        [1e21, -5],
        [0, "7"],
      ]
        .map(lines)
        .join("\n"),
    );
    const texts = ["R.1,234 €", "-R.1.234,5 €", "R.1e21 €", "R.0 €"];
    const text = write(
      "texts.jsonl",
      texts.map((price, row) => lines([price, ["1234", "1.234", "-5", "7"][row]])).join("\n"),
    );
    expect((await snapshotOf(mixed, formatted)).draft).toEqual((await snapshotOf(text, formatted)).draft);
    const wrong = write("wrong.jsonl", lines([true, "1,2"]));
    await expect(snapshotOf(wrong, formatted)).rejects.toMatchObject({
      details: { violations: [{ column: "price", examples: [{ value: "true" }] }, { column: "units" }] },
    });
  });

  it("reports every broken rule with column, rows and values", async () => {
    const strict = parseDatasetSchema(`
columns:
  - {name: n, type: int, minimum: 0, maximum: 9}
  - {name: x, type: float}
  - {name: c, type: string, values: [a, b]}
  - {name: t, type: timestamp}
  - {name: b, type: bool}
  - {name: image, type: tensor, shape: [2]}
  - {name: label, type: float, role: label}
`);
    const file = write(
      "bad.csv",
      [
        "n,x,c,t,b,image,label",
        '1,1,a,2024-01-01,true,"[1,2]",1',
        '3.7,abc,c,2024-13-01,maybe,"[1]",nan',
        '-1,inf,,yesterday,0,"[1,x]",2',
        '12,,b,2024-01-01,1,"[1,2]",',
      ].join("\n"),
    );
    const error = await snapshotOf(file, strict).catch((thrown: unknown) => thrown);
    if (!hasCode(error, "INVALID_ROWS")) throw error;
    const { violations } = error.details as { violations: unknown };
    const one = (column: string, rule: unknown, row: number, value: unknown) => ({
      column,
      rule,
      count: 1,
      examples: [{ row, value }],
    });
    expect(violations).toEqual([
      one("n", "must be a whole number of at most 53 bits", 2, "3.7"),
      one("n", "must be at least 0", 3, "-1"),
      one("n", "must be at most 9", 4, "12"),
      one("x", "value is missing", 4, null),
      one("x", "must be a number", 2, "abc"),
      one("x", "must be finite, neither NaN nor infinite, and from -1e100 to 1e100", 3, "inf"),
      one("c", "value is missing", 3, null),
      one("c", 'must be one of "a", "b"', 2, "c"),
      {
        column: "t",
        rule: "must be a date or time in ISO 8601",
        count: 2,
        examples: [
          { row: 2, value: "2024-13-01" },
          { row: 3, value: "yesterday" },
        ],
      },
      one("b", "must be true or false (or 1 or 0)", 2, "maybe"),
      {
        column: "image",
        rule: "must be a list of 2 finite numbers (tensor[2])",
        count: 2,
        examples: [
          { row: 2, value: "[1]" },
          { row: 3, value: "[1,x]" },
        ],
      },
      one("label", "value is missing: every row needs a label", 4, null),
      one("label", "must be finite, neither NaN nor infinite, and from -1e100 to 1e100", 2, "nan"),
    ]);
    expect(error.message).toContain('column n, row 2: "3.7" must be a whole number');
  });

  const toy = parseDatasetSchema("columns: [{name: x, type: string}, {name: y, type: int, role: label}]");

  it("reads CSV with tabs, quoted names, Windows line ends and a byte order mark", async () => {
    const lines = Array.from({ length: 30 }, (_, i) => `a b\t${i % 2}`);
    const { draft } = await snapshotOf(write("other.csv", ['\ufeff"x"\t"y"', ...lines].join("\r\n")), toy);
    expect(draft.rowCount).toBe(30);
  });

  it("reads times in UTC", async () => {
    const timed = parseDatasetSchema("columns: [{name: t, type: timestamp}, {name: label, type: float, role: label}]");
    const texts = ["2024-01-01T02:00:00+02:00", "2024-01-01 00:00:00", "2024-01-01", "1969-12-31T23:59:59.500Z"];
    const { shards } = await snapshotOf(
      write("t.csv", ["t,label", ...texts.map((text) => `${text},0`)].join("\n")),
      timed,
    );
    for await (const { columns } of readColumns(session, `read_parquet('${shards[0]!.path}')`, timed.columns)) {
      const day = Date.UTC(2024, 0, 1);
      expect([...columns["t"]!.values]).toEqual([day, day, day, -500]);
    }
  });

  it.each([
    ["header.csv", "id,price,colour,sold,at,image,label\n", /has no rows/],
    ["empty.csv", "", /must not be empty/],
    ["lacking.csv", "id,price\n1,2\n", /columns\.colour must be in the file, whose columns are id, price/],
    ["other.xlsx", "x", /must end in one of \.csv/],
  ])("refuses %s", async (name, content, message) => {
    await expect(snapshotOf(write(name, content))).rejects.toThrow(message);
  });
});

it("reads texts of a stored column as codes, unless it has many of them or a U+0000", async () => {
  const file = path.join(directory, "texts.parquet");
  await session.run(
    `COPY (SELECT CASE WHEN i % 3 > 0 THEN 'it''s ' || i % 3 END AS few, CASE WHEN i = 7 THEN NULL ELSE 'text ' || i END AS many,
       'a' || chr(0) || i % 2 AS zero, CAST(NULL AS VARCHAR) AS none, CASE WHEN i <> 9 THEN i + 0.5 END AS number FROM range(20000) AS t(i))
     TO '${file}' (FORMAT parquet)`,
  );
  const texts = ["few", "many", "zero", "none"].map((name) => ({ name, type: "string", role: "feature" }) as const);
  const columns = [...texts, { name: "number", type: "float", role: "feature" } as const];
  const shards = [{ sha256: "a".repeat(64), rows: 20_000, bytes: 1 }];
  const manifest = { shards, bytes: 1 } as unknown as Parameters<typeof createShardSource>[2];
  const source = createShardSource(session, { getContent: async () => fs.readFileSync(file) }, manifest);
  for (let time = 0; time < 2; time += 1) {
    let read = 0;
    for await (const { rows: count, firstRow, columns: found } of source.read(columns)) {
      expect(firstRow).toBe(read);
      const [few, many, zero, none] = texts.map(({ name }) => found[name] as Extract<ColumnValues, { kind: "string" }>);
      expect([few, many, zero, none].map((one) => one!.codes !== undefined)).toEqual([true, false, false, false]);
      for (const row of [0, 1, 2, 7, 9, count - 1]) {
        const i = firstRow + row;
        expect(textAt(few!, row)).toBe(i % 3 > 0 ? `it's ${i % 3}` : null);
        expect(textAt(many!, row)).toBe(i === 7 ? null : `text ${i}`);
        expect(textAt(zero!, row)).toBe(`a\0${i % 2}`);
        expect(textAt(none!, row)).toBeNull();
        const { values, valid } = found["number"] as Extract<ColumnValues, { kind: "number" }>;
        expect([values[row], valid[row]]).toEqual(i === 9 ? [0, 0] : [i + 0.5, 1]);
      }
      read += count;
    }
    expect(read).toBe(20_000);
  }
});
