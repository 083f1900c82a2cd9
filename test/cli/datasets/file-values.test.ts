import * as fs from "node:fs";
import * as path from "node:path";
import { createSnapshot } from "../../../adapters/duckdb/snapshot";
import { withDuckDb } from "../../../adapters/duckdb/workspace";
import { inferSchemaOf } from "../../../cli/datasets/schema-file";
import { schemaText } from "../../../cli/datasets/schema-text";
import { parseDatasetSchema } from "../../../core/datasets/schema";
import { temporaryFolder } from "../../support/temporary-folder";

describe("a suggested schema for files as people have them", () => {
  const directory = temporaryFolder("file-values-test");
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

  /** 40 rows of columns by their names, with a label y. */
  const csvOf = (columns: readonly (readonly [string, (i: number) => string])[]): string =>
    [
      [...columns.map(([name]) => name), "y"].join(","),
      ...Array.from({ length: 40 }, (_, i) => [...columns.map(([, value]) => value(i)), i % 2].join(",")),
    ].join("\n");

  it.each<readonly [string, string, (i: number) => string]>([
    ["an empty last name", "a,y,", (i) => `${i % 7},${i % 2},`],
    ["two of them, of which rows lack one", "a,y,,", (i) => `${i % 7},${i % 2},`],
    ["rows that lack the last value", 'a,y,""', (i) => `${i % 7},${i % 2}`],
    ["an empty name between others", "a;;y", (i) => `${i % 7};;${i % 2}`],
  ])("omits a column without a name and a value: %s", async (_case, header, row) => {
    const file = write("unnamed.csv", [header, ...Array.from({ length: 40 }, (_, i) => row(i))].join("\n"));
    const { columns, rows } = await accepted(file, await suggest(file, "y"));
    expect([columns.map(({ name }) => name), rows]).toEqual([["a", "y"], 40]);
  });

  it.each([
    [
      "last",
      "a,y,",
      "7,1,x",
      /line 42: .*"7,1,x", but must have 2 values, as the header has names, not 3; name the column/,
    ],
    [
      "other",
      "a,,y",
      "7,x,1",
      /the name of column 2 is empty, although row 41 has "x" in it; name it or remove the column/,
    ],
  ])("refuses a value in the %s column without a name", async (_case, header, row, reason) => {
    const rows = Array.from({ length: 40 }, (_, i) => (header.endsWith(",") ? `${i},${i % 2},` : `${i},,${i % 2}`));
    const file = write("named.csv", [header, ...rows, row].join("\n"));
    await expect(suggest(file, "y")).rejects.toThrow(reason);
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
  const coded = Array.from({ length: 2_500 }, (_, i) => [
    ...codes.map(([, odd, , value]) => (i === 2_321 ? odd : value(i))),
    `${i % 2}`,
  ]);
  const codesCsv = [header, ...coded].map((row) => row.join(",")).join("\n");

  it.each<readonly [string, string, string | undefined]>([
    ["CSV", "codes.csv", codesCsv],
    [
      "JSON lines",
      "codes.jsonl",
      coded.map((row) => JSON.stringify(Object.fromEntries(row.map((value, i) => [header[i], value])))).join("\n"),
    ],
    ["Parquet", "codes.parquet", undefined],
  ])("keeps numbers of %s as text where one of them would lose something", async (_format, name, content) => {
    const file = path.join(directory, name);
    if (content !== undefined) write(name, content);
    else {
      const csv = write("source.csv", codesCsv);
      const read = `read_csv('${csv}', all_varchar = true, header = true)`;
      await withDuckDb((session) => session.run(`COPY (SELECT * FROM ${read}) TO '${file}'`));
    }
    const text = await suggest(file, "y");
    for (const [column, , note] of codes) {
      const line = text.split("\n").find((one) => one.includes(`name: ${column},`) || one.includes(`"${column}"`));
      expect(line).toMatch(note);
      expect(line).toContain("type: string");
    }
    expect((await accepted(file, text)).rows).toBe(2_500);
  });

  it("takes for numbers what numbers are written like", async () => {
    const written: readonly (readonly [string, string, (i: number) => string])[] = [
      ["changes with a sign", "int", (i) => (i % 2 ? `+${i % 9}` : `-${i % 9}`)],
      ["scientific notation", "float", (i) => `${1 + (i % 9)}e${i % 5}`],
      ["decimals of one length", "float", (i) => `${i % 9}.${i % 10}0`],
      ["zeros", "int", (i) => `${i % 3}`],
      ["decimals below 1", "float", (i) => `0.${1 + (i % 7)}`],
    ];
    const file = write("numbers.csv", csvOf(written.map(([name, , value]) => [name, value])));
    expect((await accepted(file, await suggest(file, "y"))).columns.slice(0, -1)).toEqual(
      written.map(([name, type]) => ({ name, type, role: "feature" })),
    );
  });

  it("takes columns by any name, such as those that its queries use", async () => {
    const names = ["rows", "whole#", "raw#", "as int", "int"];
    const file = write("names.csv", csvOf(names.map((name) => [name, (i) => String(i / 4)] as const)));
    const { columns } = await accepted(file, await suggest(file, "y"));
    expect(columns.map(({ name, type }) => [name, type])).toEqual([
      ...names.map((name) => [name, "float"]),
      ["y", "int"],
    ]);
  });

  it("says which texts are one number", async () => {
    const rows = Array.from({ length: 40 }, (_, i) => `${["1.5", "1.50", "2.25"][i % 3]},${i % 2}`);
    expect(await suggest(write("same.csv", ["a,y", ...rows].join("\n")), "y")).toContain(
      '{ name: a, type: float }   # "1.5" and "1.50" are one number; with type string they are two values',
    );
  });

  it("reads the missing token of a column of codes", async () => {
    const rows = Array.from({ length: 40 }, (_, i) => `${i % 8 === 0 ? "NA" : `0${1 + (i % 7)}`},${i % 2}`);
    const file = write("codes-missing.csv", ["zip,y", ...rows].join("\n"));
    expect((await accepted(file, await suggest(file, "y"))).columns[0]).toEqual({
      ...{ name: "zip", type: "string", role: "feature", nullable: true, missing: ["NA"] },
    });
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
      written.map(([name, format]) => ({ name, type: "float", role: "feature", format })),
    );
    const counted = written.map(([name]) => `count_if("${name}" < 0) * 100 + count_if("${name}" > 0) AS "${name}"`);
    const signs = await withDuckDb(async (session) => {
      await createSnapshot(session, { name: "toy", file, schema });
      return session.rows(`SELECT ${counted.join(", ")} FROM canonical`);
    });
    expect(signs).toEqual([Object.fromEntries(written.map(([name]) => [name, 1_426n]))]);
  });

  it("says that numbers are written in different ways", async () => {
    const ways = [
      ["$1", "2"],
      ["12 %", "3"],
      ["EUR 5", "$6"],
      ["-$5", "€7"],
    ] as const;
    const file = write("ways.csv", csvOf(ways.map(([one, other], k) => [`c${k}`, (i) => (i % 2 ? one : other)])));
    const text = await suggest(file, "y");
    for (const k of ways.keys()) {
      expect(text).toMatch(
        new RegExp(
          `name: c${k}, type: string \\} +# numbers that are written in different ways \\("\\S.*" and "\\S.*"\\): write them alike`,
        ),
      );
    }
  });

  it("takes texts with several words for features, and texts like ids for none", async () => {
    const rows = Array.from(
      { length: 40 },
      (_, i) => `this is review ${i},user ${i},我非常喜欢这部电影的第${i}幕,${i % 2}`,
    );
    const file = write("texts.csv", ["review,user,chinese,y", ...rows].join("\n"));
    const text = await suggest(file, "y");
    expect((await accepted(file, text)).columns.map(({ role }) => role)).toEqual([
      "feature",
      "ignore",
      "feature",
      "label",
    ]);
    expect(text).toContain(
      "{ name: review, type: string }   # every row has a different text: a plan with ngrams reads them",
    );
  });

  it.each([
    ["lists of texts", (i: number) => ["a", `b${i % 2}`]],
    ["lists of numbers", (i: number) => [1, i % 2]],
    ["objects", (i: number) => ({ a: i % 2 })],
    ["lists in some rows", (i: number) => (i % 5 === 0 ? ["a"] : "a")],
  ])("refuses a label of %s, and says what to write", async (_case, value) => {
    const rows = Array.from({ length: 40 }, (_, i) => JSON.stringify({ x: i % 7, y: value(i) }));
    const file = write("lists.jsonl", rows.join("\n"));
    const advice = "write a column with one value for each row, such as a bool for each class";
    const refusal = String(await suggest(file, "y").catch((error: unknown) => error));
    expect(refusal).toContain(`--label is "y", but must have one class or number in each row`);
    expect(refusal).toContain(advice);
    const schema = "columns: [{ name: x, type: int }, { name: y, type: string, role: label }]";
    await expect(accepted(file, schema)).rejects.toThrow(/column y, row \d+: .* must be one class: write a column/);
  });

  it("refuses a label of lists in Parquet, and one of texts that do not repeat", async () => {
    const parquet = path.join(directory, "lists.parquet");
    await withDuckDb((session) =>
      session.run(`COPY (SELECT i % 3 AS x, ['a'] AS y FROM range(40) t(i)) TO '${parquet}'`),
    );
    await expect(suggest(parquet, "y")).rejects.toThrow("and has lists or objects");
    const rows = Array.from({ length: 40 }, (_, i) => `text ${i},${i % 7}`);
    const file = write("unlike.csv", ["y,x", ...rows].join("\n"));
    await expect(suggest(file, "y")).rejects.toThrow(
      "must have values that many rows share, and has 40 different texts in 40 rows, each a class of its own",
    );
  });
});
