import * as fs from "node:fs";
import * as path from "node:path";
import { createSnapshot } from "../../../adapters/duckdb/snapshot";
import { withDuckDb } from "../../../adapters/duckdb/workspace";
import { inferSchemaOf } from "../../../cli/datasets/schema-file";
import { schemaText } from "../../../cli/datasets/schema-text";
import { parseDatasetSchema } from "../../../core/datasets/schema";
import { runCli } from "../../support/cli";
import { temporaryFolder } from "../../support/temporary-folder";

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

const range = <Value>(count: number, value: (i: number) => Value): readonly Value[] =>
  Array.from({ length: count }, (_, i) => value(i));
const lineOf = (text: string, name: string): string =>
  text.split("\n").find((line) => line.includes(`name: ${name},`) || line.includes(`name: "${name}",`)) ?? "";

type Value = (i: number) => unknown;
type Row = readonly [name: string, value: Value, expected: object, note?: string | RegExp];

/** 40 rows of columns by their names, with a label y. */
const csvOf = (columns: readonly (readonly [string, Value, ...unknown[]])[]): string =>
  [
    [...columns.map(([name]) => name), "y"].join(","),
    ...range(40, (i) => [...columns.map(([, value]) => value(i)), i % 2].join(",")),
  ].join("\n");

const feature = (type: string, more: object = {}) => ({ type, role: "feature", ...more });
const date = (format: string) => feature("timestamp", { format });
const ignored = (type: string) => ({ type, role: "ignore", nullable: true });
const text = feature("string");
const twoDates = (one: string, other: string): Row => [
  `${one} or ${other}`,
  (i) => (i % 2 === 0 ? one : other),
  text,
  `# dates of different formats ("${one}" and "${other}"): write them alike, and set type timestamp`,
];
const twoWays = (one: string, other: string): Row => [
  `${one} and ${other}`,
  (i) => (i % 2 ? one : other),
  text,
  /# numbers that are written in different ways \("\S.*" and "\S.*"\): write them alike/,
];

/** A column for each rule. */
const columns: readonly Row[] = [
  ["id", (i) => `customer-${i}`, ignored("string"), "# "],
  ["unit price (€)", (i) => (i % 3 === 0 ? "" : i / 4), feature("float", { nullable: true })],
  ["visits", (i) => i % 5, feature("int")],
  ["on", (i) => i % 2 === 0, feature("bool")],
  ["since", (i) => `2024-05-${String(1 + (i % 28)).padStart(2, "0")}T10:00:00Z`, feature("timestamp")],
  ["code", (i) => ["007", "x8"][i % 2], text],
  ["nothing", () => "", ignored("string"), "# "],
  ["total", (i) => 100 + i, feature("int")],
  ["number", (i) => i + 1, ignored("int"), "# the numbers of rows, like an id"],
  ["customer_id", (i) => 7 * i * i, ignored("int"), "# "],
  ["review", (i) => `this is review ${i}`, text, "# every row has a different text: a plan with ngrams reads them"],
  ["user", (i) => `user ${i}`, ignored("string"), "# "],
  ["chinese", (i) => `我非常喜欢这部电影的第${i}幕`, text, "# "],
  ["brackets", (i) => `[a] or [${i % 3}]`, text],
  ...["rows", "whole#", "raw#", "as int", "int"].map((name): Row => [name, (i) => i / 4, feature("float")]),
  // Missing tokens.
  ["age", (i) => (i % 9 === 0 ? "NA" : 20 + i), feature("int", { nullable: true, missing: ["NA"] })],
  ["income", (i) => (i % 8 === 0 ? " ? " : i / 4), feature("float", { nullable: true, missing: ["?"] })],
  ["work", (i) => (i % 10 === 0 ? "?" : "none"), text, '# "?", "none" is text'],
  ["region", (i) => ["NA", "EU"][i % 2], text, '# "NA" is text; with missing: ["NA"], nullable: true it is missing'],
  ["token", (i) => ["?", "x"][i % 2], text, '# "?" is text; with missing: ["?"], nullable: true it is missing'],
  ["area", (i) => (i % 8 ? `0${1 + (i % 7)}` : "NA"), feature("string", { nullable: true, missing: ["NA"] }), "# "],
  // Dates.
  ["when", (i) => `${1 + (i % 28)}/02/2024 10:0${i % 10}`, date("%d/%m/%Y %H:%M")],
  ["us", (i) => `2/${1 + (i % 12)}/24`, date("%d/%m/%y"), "# %m/%d/%y fits as well: check which comes first"],
  ["day", (i) => 20240101 + (i % 28), date("%Y%m%d")],
  ["january", (i) => `Jan ${1 + (i % 28)} 2024`, date("%b %d %Y")],
  ["may", (i) => `May ${1 + (i % 28)} 2024`, date("%b %d %Y")],
  ["full", (i) => `"January ${1 + (i % 28)}, 2024"`, date("%B %d, %Y")],
  ["capitals", (i) => `${1 + (i % 28)}-JAN-24`, date("%d-%b-%y")],
  ["american", (i) => `"1/${1 + (i % 28)}/2024, 1:05:09 PM"`, date("%m/%d/%Y, %I:%M:%S %p")],
  ["german", (i) => `"${1 + (i % 28)}.1.2024, 13:05"`, date("%d.%m.%Y, %H:%M")],
  twoDates("2024-05-01", "03/05/2024"),
  twoDates("3 May 2024", "2024.05.04"),
  // Numbers.
  ["price", (i) => `"${1 + (i % 7)},${100 + i}.50"`, feature("float", { format: "1,234.5" })],
  [
    "weight",
    (i) => (i % 5 === 0 ? "NA" : `"${i},25"`),
    feature("float", { nullable: true, format: "1234,5", missing: ["NA"] }),
  ],
  ["fee", (i) => `$${i}`, feature("int", { format: "$1234" })],
  [
    "steps",
    (i) => `"${1 + i},${200 + i}"`,
    feature("int", { format: "1,234.5" }),
    "# 1234,5 fits as well: check which character of 1,234.5 begins the decimals",
  ],
  ["share", (i) => `${i}.5%`, feature("float", { format: "1234.5%" })],
  ["size", (i) => `size${i % 3}`, text],
  ["changes with a sign", (i) => (i % 2 ? `+${i % 9}` : `-${i % 9}`), feature("int")],
  ["scientific notation", (i) => `${1 + (i % 9)}e${i % 5}`, feature("float")],
  ["decimals of one length", (i) => `${i % 9}.${i % 10}0`, feature("float")],
  ["zeros", (i) => i % 3, feature("int")],
  ["decimals below 1", (i) => `0.${1 + (i % 7)}`, feature("float")],
  [
    "same",
    (i) => ["1.5", "1.50", "2.25"][i % 3],
    feature("float"),
    '# "1.5" and "1.50" are one number; with type string they are two values',
  ],
  twoWays("$1", "2"),
  twoWays("12 %", "3"),
  twoWays("EUR 5", "$6"),
  twoWays("-$5", "€7"),
  // Digits that are no numbers.
  ["zip", (i) => `0${1067 + (i % 9)}`, text, "# digits with zeros in front, like a postal code; with type int"],
  // One value that is none.
  [
    "near",
    (i) => (i === 30 ? "oops" : i / 2),
    ignored("string"),
    '# 39 of 40 values are float, and "oops" is not: correct it, or add it to missing, and set type float',
  ],
  [
    "near day",
    (i) => (i % 9 === 8 && i > 30 ? "soon" : "2024-01-01"),
    text,
    '# 39 of 40 values are timestamp, and "soon" is not',
  ],
  [
    "near price",
    (i) => (i % 10 === 9 ? "k.A." : `"1.${200 + i},50"`),
    text,
    '# 36 of 40 values are float, and "k.A." is not: correct it, or add it to missing, and set type float, format: "1.234,5"',
  ],
  [
    "near date",
    (i) => (i === 3 ? "soon" : i === 4 ? "later" : `${1 + (i % 28)}.12.2024`),
    text,
    '# 38 of 40 values are timestamp, and "later", "soon" is not',
  ],
  ["sizes", (i) => ["M", "S", "L", i][i % 4], text],
];

describe("ringmaster datasets schema", () => {
  it("suggests for each column what a push accepts, and says what to check", async () => {
    const file = write("columns.csv", csvOf(columns));
    const suggested = await suggest(file, "y");
    const { columns: found, rows } = await accepted(file, suggested);
    expect([rows, found.at(-1)]).toEqual([40, { name: "y", type: "int", role: "label" }]);
    expect(found.slice(0, -1)).toEqual(columns.map(([name, , expected]) => ({ name, ...expected })));
    const lines = columns.map(([name]) => lineOf(suggested, name));
    expect(lines).toEqual(
      columns.map(([, , , note]) => {
        if (note === undefined) return expect.not.stringMatching(/\} +#/);
        return typeof note === "string" ? expect.stringContaining(note) : expect.stringMatching(note);
      }),
    );
    expect(suggested).not.toContain("\nmissing:");
  });

  it("suggests the same for JSON lines", async () => {
    const some = columns.slice(1, 8);
    const line = (i: number) => ({ ...Object.fromEntries(some.map(([name, value]) => [name, value(i)])), y: i % 2 });
    const text = range(40, (i) => JSON.stringify(line(i)).replaceAll(':""', ":null")).join("\n");
    const file = write("rows.jsonl", text);
    expect((await accepted(file, await suggest(file, "y"))).columns.slice(0, -1)).toEqual(
      some.map(([name, , expected]) => ({ name, ...expected })),
    );
  });

  it("predicts a number where the label has many values, also one with zeros in front or a format", async () => {
    const lines = range(40, (i) => `${100 + i},"${1 + (i % 7)},${100 + i}.50",00${i},0${i % 3}`);
    const file = write("labels.csv", ["total,price,amount,area", ...lines].join("\n"));
    expect(await suggest(file, "total")).toMatch(/name: total, type: float, role: label \} +# 40 values: predicted as/);
    expect(await suggest(file, "price")).toMatch(/name: price, type: float, role: label, format: "1,234.5"/);
    expect((await accepted(file, await suggest(file, "amount"))).columns).toContainEqual({
      ...{ name: "amount", type: "float", role: "label" },
    });
    const { columns } = await accepted(file, await suggest(file, "area"));
    expect(columns.at(-1)).toEqual({ name: "area", type: "string", role: "label" });
    expect(columns).toContainEqual({ name: "amount", ...ignored("string") });
  });

  it("reads NaN of JSON as a missing value", async () => {
    const line = (x: unknown, i: number) => `{"x":${x},"y":${i % 2}}`;
    const rows = range(40, (i) => line(i % 4 === 0 ? "NaN" : i / 8, i));
    const file = write("nan.jsonl", rows.join("\n"));
    expect(await accepted(file, await suggest(file, "y"))).toEqual({
      columns: [
        { name: "x", ...feature("float", { nullable: true, missing: ["NaN"] }) },
        { name: "y", type: "int", role: "label" },
      ],
      rows: 40,
    });
    const infinite = write("infinite.jsonl", [...rows, line("Infinity", 41)].join("\n"));
    await expect(accepted(infinite, await suggest(file, "y"))).rejects.toThrow("must be finite");
  });

  it("reads negative amounts, and a push does", async () => {
    const written: readonly (readonly [string, string, (i: number) => string])[] = [
      ["parentheses", "(1,234.5)", (i) => (i % 3 ? `"1,${100 + i}.50"` : `"(1,${100 + i}.50)"`)],
      ["without groups", "(1234.5)", (i) => (i % 3 ? `${i}.5` : `(${i}.5)`)],
      ["with a currency", "($1,234.5)", (i) => (i % 3 ? `"$1,${100 + i}.5"` : `"($1,${100 + i}.5)"`)],
      ["a minus at the end", "1.234,5-", (i) => `"1.${100 + i},50${i % 3 ? "" : "-"}"`],
    ];
    const file = write("amounts.csv", csvOf(written.map(([name, , value]) => [name, value])));
    const schema = parseDatasetSchema(await suggest(file, "y"));
    expect(schema.columns.slice(0, -1)).toEqual(
      written.map(([name, format]) => ({ name, ...feature("float", { format }) })),
    );
    const counted = written.map(([name]) => `count_if("${name}" < 0) * 100 + count_if("${name}" > 0) AS "${name}"`);
    const signs = await withDuckDb(async (session) => {
      await createSnapshot(session, { name: "toy", file, schema });
      return session.rows(`SELECT ${counted.join(", ")} FROM canonical`);
    });
    expect(signs).toEqual([Object.fromEntries(written.map(([name]) => [name, 1_426n]))]);
  });

  it("names the number format that a value breaks", async () => {
    const file = write("broken.csv", ["a,y", '"1,5",0', "1.5,1", '"2,5",1'].join("\n"));
    const schema = 'columns: [{name: a, type: float, format: "1234,5"}, {name: y, type: int, role: label}]';
    await expect(accepted(file, schema)).rejects.toThrow(
      /column a, row 2: "1.5" must be a number, written like 1234,5/,
    );
  });

  it("suggests tensors for lists with equally many numbers of JSON, and ignores other lists and objects", async () => {
    const tensor = (...shape: readonly number[]) => feature("tensor", { shape });
    const values: readonly (readonly [string, object, Value])[] = [
      ["flat lists", tensor(4), (i) => [i, 1, 2, 3]],
      ["nested lists of one shape", tensor(2, 3), (i) => [[i, 1.5, -2], [3, 4, 1e9]]], // biome-ignore format: a matrix
      ["lists whose nesting differs", tensor(4), (i) => (i % 2 === 0 ? [[i, 1], [2, 3]] : [[i, 1, 2, 3]])], // biome-ignore format: a matrix
      ["nested lists of different sizes", tensor(4), (i) => [[i], [1, 2, 3]]],
      ["tags", ignored("string"), (i) => ["a", `b${i % 3}`]],
      ["at", ignored("string"), (i) => ({ x: i })],
    ];
    const rows = range(40, (i) =>
      JSON.stringify({ ...Object.fromEntries(values.map(([name, , value]) => [name, value(i)])), y: i % 2 }),
    );
    const file = write("tensors.jsonl", rows.join("\n"));
    expect((await accepted(file, await suggest(file, "y"))).columns.slice(0, -1)).toEqual(
      values.map(([name, expected]) => ({ name, ...expected })),
    );
  });

  it("suggests for the types of Parquet, and omits columns whose type no schema has", async () => {
    const file = path.join(directory, "types.parquet");
    const nan = "CAST('nan' AS DOUBLE)";
    // A float would make different numbers of more than 53 bits equal.
    const select = [
      ...["9007199254740992 + i AS long", "9007199254740992 + i % 3 AS some_long"],
      ...[`CASE WHEN i % 5 = 0 THEN ${nan} ELSE i END AS some_nan`, `${nan} AS nan`],
      ...["i / 2 AS a", "{'b': i} AS part", "['x'] AS words", "TIME '10:00' AS at", "i % 2 AS y"],
    ];
    await withDuckDb((session) => session.run(`COPY (SELECT ${select.join(", ")} FROM range(40) t(i)) TO '${file}'`));
    const suggested = await suggest(file, "y");
    expect((await accepted(file, suggested)).columns.slice(0, -1)).toEqual([
      { name: "long", ...ignored("string") },
      { name: "some_long", ...text },
      { name: "some_nan", ...feature("float", { nullable: true }) },
      { name: "nan", ...ignored("string") },
      { name: "a", ...feature("float") },
    ]);
    expect(lineOf(suggested, "some_long")).toContain(
      "# whole numbers of more than 53 bits, which are not int; with type float they are rounded",
    );
    for (const name of ["part", "words", "at"])
      expect(suggested).toContain(`  # ${name} is omitted: its type is not supported for columns\n`);
  });

  it.each<readonly [string, (i: number) => string]>([
    ["a,y,,", (i) => `${i % 7},${i % 2},`],
    ['a,y,""', (i) => `${i % 7},${i % 2}`],
    ["a;;y", (i) => `${i % 7};;${i % 2}`],
  ])("omits a column without a name and a value: %s", async (header, row) => {
    const file = write("unnamed.csv", [header, ...range(40, row)].join("\n"));
    const { columns, rows } = await accepted(file, await suggest(file, "y"));
    expect([columns.map(({ name }) => name), rows]).toEqual([["a", "y"], 40]);
  });

  /** Columns of numbers, and a value of one row far down that would lose something as a number. */
  const codes: readonly (readonly [string, string, RegExp, (i: number) => string])[] = [
    ["padded", "0042", /digits with zeros in front, like a postal code; with type int/, (i) => `${100 + (i % 50)}`],
    ["negative", "-007", /digits with zeros in front/, (i) => `${-100 - (i % 50)}`],
    ["decimal", "0042", /digits with zeros in front, .* with type float/, (i) => `${(i % 50) / 4}`],
    ["hours", "08.30", /digits with zeros in front/, (i) => `${10 + (i % 9)}.${10 + (i % 40)}`],
    ["long", "9007199254740993", /more than 53 bits/, (i) => `${i % 50}`],
    ["long decimal", "9007199254740993", /more than 53 bits/, (i) => `${(i % 50) / 4}`],
    ["phone", "+4917012345678", /digits with \+ in front, like a telephone/, (i) => `${4917000000000 + (i % 50)}`],
    ["country", "+1", /digits with \+ in front/, (i) => `+${40 + (i % 50)}`],
    ["part", "1e5", /digits with an e, such as "1e5"/, (i) => `${100 + (i % 50)}`],
    ["grouped", "12_000", /digits with _ between them/, (i) => `${100 + (i % 50)}`],
    ["version", "1.10", /versions, such as 1.1 and 1.10/, (i) => `1.${i % 10}`],
  ];
  const header = [...codes.map(([name]) => name), "y"];
  const coded = range(400, (i) => [...codes.map(([, odd, , value]) => (i === 321 ? odd : value(i))), `${i % 2}`]);
  const codesCsv = [header, ...coded].map((row) => row.join(",")).join("\n");

  it.each(["csv", "parquet"])("keeps numbers as text where one of them would lose something: %s", async (format) => {
    const file = write(`codes.csv`, codesCsv).replace("csv", format);
    if (format === "parquet") {
      const read = `read_csv('${path.join(directory, "codes.csv")}', all_varchar = true, header = true)`;
      await withDuckDb((session) => session.run(`COPY (SELECT * FROM ${read}) TO '${file}'`));
    }
    const suggested = await suggest(file, "y");
    for (const [column, , note] of codes) {
      expect(lineOf(suggested, column)).toMatch(note);
      expect(lineOf(suggested, column)).toContain("type: string");
    }
    expect((await accepted(file, suggested)).rows).toBe(400);
  });

  it.each([
    ["lists of numbers", (i: number) => [1, i % 2]],
    ["objects", (i: number) => ({ a: i % 2 })],
    ["lists in some rows", (i: number) => (i % 5 === 0 ? ["a"] : "a")],
  ])("refuses a label of %s, and says what to write", async (_case, value) => {
    const file = write("lists.jsonl", range(40, (i) => JSON.stringify({ x: i % 7, y: value(i) })).join("\n"));
    const advice = "write a column with one value for each row, such as a bool for each class";
    const refusal = String(await suggest(file, "y").catch((error: unknown) => error));
    expect(refusal).toContain(`--label is "y", but must have one class or number in each row`);
    expect(refusal).toContain(advice);
    const schema = "columns: [{ name: x, type: int }, { name: y, type: string, role: label }]";
    await expect(accepted(file, schema)).rejects.toThrow(/column y, row \d+: .* must be one class: write a column/);
  });

  it("refuses a label of lists in Parquet, one of texts that do not repeat, and a file without rows", async () => {
    const parquet = path.join(directory, "lists.parquet");
    await withDuckDb((session) =>
      session.run(`COPY (SELECT i % 3 AS x, ['a'] AS y FROM range(40) t(i)) TO '${parquet}'`),
    );
    await expect(suggest(parquet, "y")).rejects.toThrow("and has lists or objects");
    const file = write("unlike.csv", ["y,x", ...range(40, (i) => `text ${i},${i % 7}`)].join("\n"));
    await expect(suggest(file, "y")).rejects.toThrow(
      "must have values that many rows share, and has 40 different texts in 40 rows, each a class of its own",
    );
    await expect(suggest(write("header.csv", "a,y\n"), "y")).rejects.toThrow(/header.csv must have rows/);
  });

  it("prints what a push would write", async () => {
    const args = ["datasets", "schema", write("few.csv", "a,y\n-,1\n2,0\nx,1\n"), "--label", "y", "--missing", "-,x"];
    const { out } = await runCli(args);
    expect(out).toContain(
      '{ name: a, type: int, nullable: true }\n  - { name: "y", type: int, role: label }\nmissing: ["-", "x"]\n',
    );
  });

  it.each([
    ["a label that is no column", "few.csv", "price", /--label is "price", but must be a column/],
    ["a file that does not exist", "absent.csv", "x", /must exist/],
  ])("refuses %s", async (_case, name, label, reason) => {
    write("few.csv", "a,y\n1,1\n2,0\n");
    const { code, out, err } = await runCli(["datasets", "schema", path.join(directory, name), "--label", label]);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toMatch(reason);
  });
});
