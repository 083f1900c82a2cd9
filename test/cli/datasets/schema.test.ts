import * as fs from "node:fs";
import * as path from "node:path";
import { inferSchema } from "../../../adapters/duckdb/infer-schema";
import { createSnapshot } from "../../../adapters/duckdb/snapshot";
import { withDuckDb } from "../../../adapters/duckdb/workspace";
import { inferSchemaOf } from "../../../cli/datasets/schema-file";
import { schemaText } from "../../../cli/datasets/schema-text";
import { parseDatasetSchema } from "../../../core/datasets/schema";
import { runCli } from "../../support/cli";
import { temporaryFolder } from "../../support/temporary-folder";

describe("ringmaster datasets schema", () => {
  const directory = temporaryFolder("schema-test");
  const write = (name: string, content: string): string => {
    fs.writeFileSync(path.join(directory, name), content);
    return path.join(directory, name);
  };
  const suggest = async (file: string, label: string): Promise<string> =>
    schemaText(file, await inferSchemaOf(file, label));
  /** Columns of the YAML, and whether a push takes every row with them. */
  async function accepted(file: string, text: string) {
    const schema = parseDatasetSchema(text);
    const { draft } = await withDuckDb((session) => createSnapshot(session, { name: "toy", file, schema }));
    return { columns: schema.columns, rows: draft.rowCount };
  }

  /** 40 rows: a column for each rule. */
  const records = Array.from({ length: 40 }, (_, i) => ({
    id: `customer-${i}`,
    "unit price (€)": i % 3 === 0 ? null : i / 4,
    visits: i % 5,
    on: i % 2 === 0,
    flag: i % 2,
    since: `2024-05-${String(1 + (i % 28)).padStart(2, "0")}T10:00:00Z`,
    code: ["007", "x8"][i % 2],
    nothing: null,
    total: 100 + i,
    class: i % 4,
  }));
  type Key = keyof (typeof records)[number];
  const keys = Object.keys(records[0]!) as Key[];
  const csv = [keys.join(","), ...records.map((row) => keys.map((key) => row[key] ?? "").join(","))].join("\n");
  const columns = [
    { name: "id", type: "string", role: "ignore", nullable: true },
    { name: "unit price (€)", type: "float", role: "feature", nullable: true },
    { name: "visits", type: "int", role: "feature" },
    { name: "on", type: "bool", role: "feature" },
    { name: "flag", type: "int", role: "feature" },
    { name: "since", type: "timestamp", role: "feature" },
    { name: "code", type: "string", role: "feature" },
    { name: "nothing", type: "string", role: "ignore", nullable: true },
    { name: "total", type: "int", role: "feature" },
    { name: "class", type: "int", role: "label" },
  ];

  it.each([
    ["CSV", "rows.csv", csv],
    ["JSON lines", "rows.jsonl", records.map((row) => JSON.stringify(row)).join("\n")],
  ])("suggests for %s what a push accepts", async (_format, name, content) => {
    const file = write(name, content);
    expect(await accepted(file, await suggest(file, "class"))).toEqual({ columns, rows: 40 });
  });

  it.each([
    ["2024-05-01", "03/05/2024"],
    ["3 May 2024", "2024.05.04"],
  ])("describes dates of different formats: %s and %s", async (one, other) => {
    const rows = Array.from({ length: 40 }, (_, i) => `${i % 2 === 0 ? one : other},${i % 3}`);
    const text = await suggest(write("rows.csv", ["day,y", ...rows].join("\n")), "y");
    expect(text).toContain(
      `name: day, type: string }   # dates of different formats ("${one}" and "${other}"): write them alike, and set type timestamp`,
    );
  });

  it("predicts a whole number of many values as a number, and says so", async () => {
    const file = write("rows.csv", csv);
    expect(await suggest(file, "total")).toMatch(
      /name: total, type: float, role: label \} +# 40 values: predicted as a number/,
    );
  });

  it.each([
    ["nan.jsonl", (x: unknown, i: number) => `{"x":${x},"y":${i % 2}}`],
    ["nan.csv", (x: unknown, i: number) => (i === 0 ? `x,y\n${x},0` : `${x},${i % 2}`)],
  ])("reads NaN as a missing value: %s", async (name, line) => {
    const rows = Array.from({ length: 40 }, (_row, i) => line(i % 4 === 0 ? "NaN" : i / 8, i));
    const file = write(name, rows.join("\n"));
    const missing = ["NaN"];
    expect(await accepted(file, await suggest(file, "y"))).toEqual({
      columns: [
        { name: "x", type: "float", role: "feature", nullable: true, missing },
        { name: "y", type: "int", role: "label" },
      ],
      rows: 40,
    });
    await expect(
      accepted(write(name, [...rows, line("Infinity", 41)].join("\n")), await suggest(file, "y")),
    ).rejects.toThrow("must be finite");
  });

  /** 40 rows with tokens for missing values, dates by format, and columns that look like ids. */
  const messy = [
    "number,when,american,day,customer_id,age,income,work,region,y",
    ...Array.from({ length: 40 }, (_, i) =>
      [
        ...[i + 1, `${1 + (i % 28)}/02/2024 10:0${i % 10}`, `2/${1 + (i % 12)}/24`, 20240101 + (i % 28), 7 * i * i],
        ...[
          i % 9 === 0 ? "NA" : 20 + i,
          i % 8 === 0 ? " ? " : i / 4,
          i % 10 === 0 ? "?" : "none",
          ["NA", "EU"][i % 2],
          i % 2,
        ],
      ].join(","),
    ),
  ].join("\n");

  it("finds formats of dates, missing tokens of each column and ids, and a push reads them", async () => {
    const file = write("messy.csv", messy);
    const text = await suggest(file, "y");
    const [ignored, feature] = ["ignore", "feature"] as const;
    expect(await accepted(file, text)).toEqual({
      columns: [
        { name: "number", type: "int", role: ignored, nullable: true },
        { name: "when", type: "timestamp", role: feature, format: "%d/%m/%Y %H:%M" },
        { name: "american", type: "timestamp", role: feature, format: "%d/%m/%y" },
        { name: "day", type: "timestamp", role: feature, format: "%Y%m%d" },
        { name: "customer_id", type: "int", role: ignored, nullable: true },
        { name: "age", type: "int", role: feature, nullable: true, missing: ["NA"] },
        { name: "income", type: "float", role: feature, nullable: true, missing: ["?"] },
        { name: "work", type: "string", role: feature },
        { name: "region", type: "string", role: feature },
        { name: "y", type: "int", role: "label" },
      ],
      rows: 40,
    });
    expect(text).toContain("# %m/%d/%y fits as well: check which comes first, day or month");
    expect(text).toContain(
      'name: region, type: string }   # "NA" is text; with missing: ["NA"], nullable: true it is missing',
    );
  });

  it("finds formats of dates that have one order, and a push reads them", async () => {
    const written: readonly (readonly [string, string, (day: number) => string])[] = [
      ["january", "%b %d %Y", (day) => `Jan ${day} 2024`],
      ["may", "%b %d %Y", (day) => `May ${day} 2024`],
      ["full", "%B %d, %Y", (day) => `"January ${day}, 2024"`],
      ["capitals", "%d-%b-%y", (day) => `${day}-JAN-24`],
      ["american", "%m/%d/%Y, %I:%M:%S %p", (day) => `"1/${day}/2024, 1:05:09 PM"`],
      ["german", "%d.%m.%Y, %H:%M", (day) => `"${day}.1.2024, 13:05"`],
    ];
    const header = [...written.map(([name]) => name), "y"].join(",");
    const rows = Array.from({ length: 40 }, (_, i) =>
      [...written.map(([, , date]) => date(1 + (i % 28))), i % 2].join(),
    );
    const file = write("dates.csv", [header, ...rows].join("\n"));
    const text = await suggest(file, "y");
    expect(text).not.toContain("fits as well");
    expect((await accepted(file, text)).columns.slice(0, -1)).toEqual(
      written.map(([name, format]) => ({ name, type: "timestamp", role: "feature", format })),
    );
  });

  it("asks DuckDB only for formats that a sample of the values permits", async () => {
    const file = write(
      "sample.csv",
      ["when,y", ...Array.from({ length: 40 }, (_, i) => `${1 + i},${i % 2}`)].join("\n"),
    );
    let longest = 0;
    await withDuckDb((session) => {
      const rows: typeof session.rows = (sql) => {
        longest = Math.max(longest, sql.length);
        return session.rows(sql);
      };
      return inferSchema({ ...session, rows }, file, "y");
    });
    expect(longest).toBeLessThan(10_000);
  });

  it("finds formats of numbers, and a push reads them", async () => {
    const money = (i: number): string => `"${1 + (i % 7)},${String(100 + i)}.50"`;
    const rows = Array.from({ length: 40 }, (_, i) =>
      [
        money(i),
        i % 5 === 0 ? "NA" : `"${i},25"`,
        `$${i}`,
        `"${1 + i},${200 + i}"`,
        `${i}.5%`,
        `size${i % 3}`,
        i % 2,
      ].join(","),
    );
    const file = write("numbers.csv", ["price,weight,fee,steps,share,size,y", ...rows].join("\n"));
    const text = await suggest(file, "y");
    expect(await accepted(file, text)).toEqual({
      columns: [
        { name: "price", type: "float", role: "feature", format: "1,234.5" },
        { name: "weight", type: "float", role: "feature", nullable: true, format: "1234,5", missing: ["NA"] },
        { name: "fee", type: "int", role: "feature", format: "$1234" },
        { name: "steps", type: "int", role: "feature", format: "1,234.5" },
        { name: "share", type: "float", role: "feature", format: "1234.5%" },
        { name: "size", type: "string", role: "feature" },
        { name: "y", type: "int", role: "label" },
      ],
      rows: 40,
    });
    expect(text).toMatch(/steps.*# 1234,5 fits as well: check which character of 1,234.5 begins the decimals/);
    const label = await suggest(file, "price");
    expect(label).toMatch(/name: price, type: float, role: label, format: "1,234.5"/);
  });

  it("names the number format that a value breaks", async () => {
    const file = write("broken.csv", ["a,y", '"1,5",0', "1.5,1", '"2,5",1'].join("\n"));
    const schema = 'columns: [{name: a, type: float, format: "1234,5"}, {name: y, type: int, role: label}]';
    await expect(accepted(file, schema)).rejects.toThrow(
      /column a, row 2: "1.5" must be a number, written like 1234,5/,
    );
  });

  it("suggests no schema for a file without rows", async () => {
    const file = write("header.csv", "a,y\n");
    await expect(suggest(file, "y")).rejects.toThrow(/header.csv must have rows/);
  });

  it("keeps a token in a column of texts, and says so", async () => {
    const file = write(
      "text.csv",
      `a,y\n${Array.from({ length: 30 }, (_, i) => `${["?", "x"][i % 2]},${i % 3}`).join("\n")}`,
    );
    expect(await suggest(file, "y")).toContain('# "?" is text; with missing: ["?"], nullable: true it is missing');
    expect(await suggest(file, "y")).not.toContain("\nmissing:");
  });

  it("suggests tensors for lists with equally many numbers", async () => {
    const lists: readonly (readonly [string, readonly number[], (i: number) => unknown])[] = [
      ["flat lists", [4], (i) => [i, 1, 2, 3]],
      [
        "nested lists of one shape",
        [2, 3],
        (i) => [
          [i, 1.5, -2],
          [3, 4, 1e9],
        ],
      ],
      [
        "lists whose nesting differs",
        [4],
        (i) =>
          i % 2 === 0
            ? [
                [i, 1],
                [2, 3],
              ]
            : [[i, 1, 2, 3]],
      ],
      ["nested lists of different sizes", [4], (i) => [[i], [1, 2, 3]]],
    ];
    const rows = Array.from({ length: 40 }, (_, i) =>
      JSON.stringify({ ...Object.fromEntries(lists.map(([name, , value]) => [name, value(i)])), y: i % 2 }),
    );
    const file = write("tensors.jsonl", rows.join("\n"));
    expect((await accepted(file, await suggest(file, "y"))).columns.slice(0, -1)).toEqual(
      lists.map(([name, shape]) => ({ name, type: "tensor", shape, role: "feature" })),
    );
  });

  it("takes text between brackets for text", async () => {
    const rows = Array.from({ length: 40 }, (_, i) => `[a] or [${i % 3}],${i % 2}`);
    const file = write("brackets.csv", ["v,y", ...rows].join("\n"));
    const [column] = (await accepted(file, await suggest(file, "y"))).columns;
    expect(column).toEqual({ name: "v", type: "string", role: "feature" });
  });

  /** Suggests a schema for a Parquet file of 40 rows, and returns it with the columns that a push takes. */
  async function suggestParquet(name: string, select: string) {
    const file = path.join(directory, name);
    await withDuckDb((session) => session.run(`COPY (SELECT ${select}, i % 2 AS y FROM range(40) t(i)) TO '${file}'`));
    const text = await suggest(file, "y");
    return { text, columns: (await accepted(file, text)).columns.slice(0, -1) };
  }

  it("takes whole numbers of more than 53 bits for text, because a float would make different ones equal", async () => {
    const { text, columns } = await suggestParquet(
      "long.parquet",
      "9007199254740992 + i AS each, 9007199254740992 + i % 3 AS some",
    );
    expect(columns).toEqual([
      { name: "each", type: "string", role: "ignore", nullable: true },
      { name: "some", type: "string", role: "feature" },
    ]);
    expect(text).toContain("# whole numbers of more than 53 bits, which are not int; with type float they are rounded");
  });

  it("takes digits with zeros in front for text, unless they are the label and of many values", async () => {
    const lines = Array.from({ length: 40 }, (_, i) => `0${1067 + (i % 9)},${i % 9},0${i % 3},00${i}`);
    const file = write("padded.csv", ["zip,visits,area,amount", ...lines].join("\n"));
    const text = await suggest(file, "area");
    expect((await accepted(file, text)).columns).toEqual([
      { name: "zip", type: "string", role: "feature" },
      { name: "visits", type: "int", role: "feature" },
      { name: "area", type: "string", role: "label" },
      { name: "amount", type: "string", role: "ignore", nullable: true },
    ]);
    expect(text).toContain("# digits with zeros in front, like a postal code; with type int they are numbers");
    const { columns } = await accepted(file, await suggest(file, "amount"));
    expect(columns.at(-1)).toEqual({ name: "amount", type: "float", role: "label" });
  });

  it("says which value makes a column of numbers or dates a column of text", async () => {
    const lines = Array.from(
      { length: 40 },
      (_, i) => `${i === 30 ? "oops" : i / 2},${i % 9 === 8 && i > 30 ? "soon" : "2024-01-01"},${i % 2}`,
    );
    const text = await suggest(write("near.csv", ["size,day,y", ...lines].join("\n")), "y");
    expect(text).toContain(
      '# 39 of 40 values are float, and "oops" is not: correct it, or add it to missing, and set type float',
    );
    expect(text).toContain('# 39 of 40 values are timestamp, and "soon" is not');
  });

  it("says which texts make a column of formatted numbers or dates a column of text", async () => {
    const lines = Array.from({ length: 40 }, (_, i) => {
      const price = i % 10 === 9 ? "k.A." : `1.${200 + i},50`;
      const day = i === 3 ? "soon" : i === 4 ? "later" : `${1 + (i % 28)}.12.2024`;
      return `${price};${day};${i % 4 === 0 ? "M" : i % 4 === 1 ? "S" : i % 4 === 2 ? "L" : i};${i % 2}`;
    });
    const text = await suggest(write("near-format.csv", ["price;day;size;y", ...lines].join("\n")), "y");
    expect(text).toContain(
      '# 36 of 40 values are float, and "k.A." is not: correct it, or add it to missing, and set type float, format: "1.234,5"',
    );
    expect(text).toContain('# 38 of 40 values are timestamp, and "later", "soon" is not');
    expect(text).toContain("- { name: size, type: string }\n");
  });

  it("ignores objects and lists of JSON that are no tensor", async () => {
    const lines = Array.from({ length: 30 }, (_, i) =>
      JSON.stringify({ tags: ["a", `b${i % 3}`], at: { x: i }, pair: [i, 1], y: i % 2 }),
    );
    const { columns } = await accepted(
      write("nested.jsonl", lines.join("\n")),
      await suggest(path.join(directory, "nested.jsonl"), "y"),
    );
    expect(columns.map(({ name, type, role }) => [name, type, role])).toEqual([
      ["tags", "string", "ignore"],
      ["at", "string", "ignore"],
      ["pair", "tensor", "feature"],
      ["y", "int", "label"],
    ]);
  });

  it("takes NaN of a column of numbers for a missing value", async () => {
    const nan = "CAST('nan' AS DOUBLE)";
    const { columns } = await suggestParquet(
      "nan.parquet",
      `CASE WHEN i % 5 = 0 THEN ${nan} ELSE i END AS some, ${nan} AS every`,
    );
    expect(columns).toEqual([
      { name: "some", type: "float", role: "feature", nullable: true },
      { name: "every", type: "string", role: "ignore", nullable: true },
    ]);
  });

  it("omits columns whose type no schema has, and says so", async () => {
    const { text, columns } = await suggestParquet(
      "nested.parquet",
      "i / 2 AS a, {'b': i} AS part, ['x'] AS words, TIME '10:00' AS at",
    );
    expect(columns).toEqual([{ name: "a", type: "float", role: "feature" }]);
    for (const name of ["part", "words", "at"]) {
      expect(text).toContain(`  # ${name} is omitted: its type is not supported for columns\n`);
    }
  });

  it("prints what a push would write", async () => {
    const args = ["datasets", "schema", write("few.csv", "a,y\n-,1\n2,0\nx,1\n"), "--label", "y", "--missing", "-,x"];
    const { out } = await runCli(args);
    expect(out).toContain(
      '{ name: a, type: int, nullable: true }\n  - { name: "y", type: int, role: label }\nmissing: ["-", "x"]\n',
    );
  });

  it.each([
    ["a label that is no column", "rows.csv", "price", /--label is "price", but must be a column/],
    ["a file that does not exist", "absent.csv", "x", /must exist/],
  ])("refuses %s", async (_case, name, label, reason) => {
    write("rows.csv", csv);
    const { code, out, err } = await runCli(["datasets", "schema", path.join(directory, name), "--label", label]);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toMatch(reason);
  });
});
