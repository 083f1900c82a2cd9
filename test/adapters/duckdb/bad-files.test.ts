import * as fs from "node:fs";
import * as path from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip, gzipSync } from "node:zlib";
import { scanText } from "../../../adapters/duckdb/formats/text-scan";
import { inferSchema } from "../../../adapters/duckdb/infer-schema";
import type { DuckDbSession } from "../../../adapters/duckdb/session";
import { createSnapshot } from "../../../adapters/duckdb/snapshot";
import { withDuckDb } from "../../../adapters/duckdb/workspace";
import { parseDatasetSchema } from "../../../core/datasets/schema";
import type { RingmasterError } from "../../../core/errors";
import { temporaryFolder } from "../../support/temporary-folder";

const folder = temporaryFolder("bad-files");

type Content = string | Buffer | ((session: DuckDbSession, file: string) => Promise<void>);
const lines = (count: number, line: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => line(i)).join("");
const rows = lines(40, (i) => `${i},${i % 2}\n`);
const csv = `a,y\n${rows}`;
const objects = lines(40, (i) => `{"a": ${i}, "y": ${i % 2}}\n`);
/** Random enough to be compressed into several blocks. */
const many = `a,y\n${lines(200_000, (i) => `${i},${(i * 7_919) % 104_729}\n`)}`;
const long = "x".repeat(3 * 2 ** 20);
const parquet =
  (select: string, change: (bytes: Buffer) => Buffer = (bytes) => bytes): Content =>
  async (session, file) => {
    await session.run(`COPY (${select}) TO '${file}' (FORMAT parquet, ROW_GROUP_SIZE 2048, COMPRESSION zstd)`);
    fs.writeFileSync(file, change(fs.readFileSync(file)));
  };
const table = "SELECT i AS a, i % 2 AS y FROM range(10000) t(i)";
/** Far more levels than a recursive reader can read. */
const deepList = "[".repeat(100_000) + "]".repeat(100_000);
const deepObject = `${'{"b": '.repeat(100_000)}1${"}".repeat(100_000)}`;
const tooLong = /must have lines of at most 2\.1 MB, and this one is longer; write one row a line/;

const schema = parseDatasetSchema(`
columns: [{name: a, type: int}, {name: y, type: int, role: label}]
`);

async function push(files: readonly string[]): Promise<RingmasterError | undefined> {
  return withDuckDb(async (session) => {
    try {
      await createSnapshot(session, { name: "toy", file: files, schema });
      return undefined;
    } catch (error) {
      return error as RingmasterError;
    }
  });
}

const cut = (bytes: Buffer) => bytes.subarray(0, bytes.length / 2);
const damaged = (bytes: Buffer) => Buffer.from(bytes).fill(0xff, 5_000, 8_000);
const renamed = (bytes: Buffer) => Buffer.from(bytes.toString("latin1").replaceAll("b", "A"), "latin1");
const crlf = `a,y\r\n${rows.replaceAll("\n", "\r\n")}`;
const deepTable = `SELECT ${"[".repeat(50)}i${"]".repeat(50)} AS a, i % 2 AS y FROM range(40) t(i)`;
const deepRows = `[\n  {"a": "[", "y":\n 1},{"a": "\\"[", "y": 1},{"a": ${deepList}, "y": 1}]`;

it.each<[file: string, Content, RegExp]>([
  ["more-values.csv", `${csv}1,2,3\n`, /line 42: .*"1,2,3".* must have 2 values, as the header has names, not 3/],
  ["fewer-values.csv", `${csv}7\n`, /line 42: .*"7".* must have 2 values, as the header has names, not 1/],
  [
    "other-ends.csv",
    `${crlf}"1\n2",0\r\n7,1\n`,
    /line 44: .*must end like the first line, with CR LF; convert the file: sed 's\/\\r\$\/\/' \S+ends\.csv > lf-other-ends\.csv/,
  ],
  ["lists.ndjson", "[1, 2]\n[3, 4]\n", /line 1: .*must be an object|line 1.*object/i],
  ["workbook.csv", "PK\u0003\u0004rest", /must be text, and is a ZIP archive or an Excel workbook/],
  ["arrow.csv", "ARROW1rest", /must be text, and is Arrow; convert it to Parquet/],
  ["numbers-as-names.csv", "0,1,0\n1,2,0\n", /its first line has only numbers; add a line of names/],
  ["empty-list.json", "[]", /empty-list\.json must have rows/],
  ["open-quote.csv", `${csv}"1,2\n3,4\n`, /line 42: .*unterminated quote/],
  ["another-type.csv", `${csv}red,0\n`, /column a, row 41: "red" must be a whole number/],
  ["another-type.ndjson", `${objects}{"a": {"b": 1}, "y": 1}\n`, /column a, row 41: .* must be a whole number/],
  ["unnamed.csv", `a,,y\n1,2,3\n`, /the name of column 2 is empty, although row 1 has "2" in it; name it/],
  ["name-twice.csv", "a,y,a\n1,0,2\n", /columns must name each column once, and has "a" twice/],
  ["case.csv", "a,y,A\n1,0,2\n", /must have names that differ in more than case, and has "a" and "A"/],
  ["case.parquet", parquet(`SELECT 1 AS a, 2 AS y, 3 AS b`, renamed), /has "a" and "A"; rename one of them/],
  ["case.ndjson", '{"a": 1, "A": 2, "y": 0}\n', /has "a" and "A"; rename one of them/],
  ["key-twice.ndjson", `${objects}{"a": 1, "a": 2, "y": 0}\n`, /line 41: column a must be once in each object/],
  ["open-object.ndjson", `${objects}{"a": 1, "y":\n`, /row 41 must be JSON|line 41 must be JSON/],
  ["list.ndjson", `${objects}[1, 2]\n`, /line 41 must be an object with a key for each column, and is ARRAY/],
  [
    "utf16.csv",
    Buffer.from(`\ufeff${csv}`, "utf16le"),
    /must be UTF-8, and it begins with its byte order mark \(UTF-16LE\); convert it: iconv -f UTF-16LE -t UTF-8/,
  ],
  ["utf16-without-mark.csv", Buffer.from(csv, "utf16le"), /line 1: .*zero byte: it is UTF-16/],
  [
    "latin1.csv",
    Buffer.from(`${csv}1,caf\u00e9\n`, "latin1"),
    /line 42: column y must be UTF-8, and it has the byte 0xE9: it looks like Latin-1 .*iconv -f WINDOWS-1252/,
  ],
  ["latin1.ndjson", Buffer.from(`${objects}{"a": "\u00e9", "y": 1}\n`, "latin1"), /line 41: .*0xE9/],
  ["cut-character.csv", Buffer.from(`${csv}1,é`).subarray(0, -1), /line 42: column y must be UTF-8/],
  ["long-header.csv", `a,${long}\n1,1\n`, new RegExp(`line 1: \\(document\\) ${tooLong.source}`)],
  ["long-last-line.csv", `${csv}2,${long}`, new RegExp(`line 42: .*${tooLong.source}`)],
  ["one-line.json", `[${'{"a":1,"y":1},'.repeat(200_000)}{"a":1}]`, new RegExp(`line 1: .*${tooLong.source}`)],
  ["cut.csv.gz", gzipSync(many).subarray(0, 300_000), /must be a complete gzip file: unexpected end of file/],
  ["text.csv.gz", "text", /must be a complete gzip file: incorrect header check/],
  ["deep-list.ndjson", `${objects}{"a": ${deepList}, "y": 1}\n`, /row 41 must have at most 64 levels of lists/],
  ["deep-object.ndjson", `${objects}{"a": ${deepObject}, "y": 1}\n`, /row 41 must have at most 64 levels/],
  ["deep-unknown-key.ndjson", `${objects}{"a": 1, "b": ${deepList}}\n`, /row 41 must have at most/],
  ["deep-list-of-rows.json", deepRows, /row 3 must have at most 64 levels/],
  ["deep-list.ndjson.gz", gzipSync(`${objects}${deepList}\n`), /row 41 must have at most 64 levels/],
  [
    "deep.parquet",
    parquet(deepTable),
    /columns\.a is .* at most 8 levels of lists or structs; write its values in col/,
  ],
  ["cut.parquet", parquet(table, cut), /must be a complete Parquet file, and its footer is missing/],
  [
    "damaged-page.parquet",
    parquet(table, damaged),
    /column [ay] must be readable, and is damaged in the rows \d+ to \d/,
  ],
])("a push names the file and the place of the problem: %s", async (name, content, message) => {
  const file = path.join(folder, name);
  if (typeof content === "function") await withDuckDb((session) => content(session, file));
  else fs.writeFileSync(file, content);
  const error = await push([file]);
  expect(error?.message).toMatch(message);
  expect(error?.message).toContain(file);
  expect(error?.httpStatus).toBe(400);
});

/** `RINGMASTER_LINE_BYTES=1073741824` writes lines of 1 GiB; a campaign does. */
const lineBytes = Number(process.env["RINGMASTER_LINE_BYTES"] ?? 16 * 2 ** 20);

it.each([
  ["line.csv", `${csv}2,`, "\n1,1\n", new RegExp(`line 42: column y ${tooLong.source}`)],
  ["line.csv.gz", `${csv}2,`, "\n1,1\n", new RegExp(`line 42: column y ${tooLong.source}`)],
  ["line.ndjson", `${objects}{"a": "`, '", "y": 1}\n', new RegExp(`line 41: \\(document\\) ${tooLong.source}`)],
  ["line.txt", "", "", /must have at most (?:67\.1 MB|262 KB of text)/],
])("refuses a line of any length in bounded memory: %s", async (name, before, after, message) => {
  const file = path.join(folder, name);
  const piece = "x".repeat(2 ** 20);
  function* pieces(): Generator<string> {
    yield before;
    for (let bytes = 0; bytes < lineBytes; bytes += piece.length) yield piece;
    yield after;
  }
  const output = fs.createWriteStream(file);
  await (name.endsWith(".gz") ? pipeline(pieces, createGzip({ level: 1 }), output) : pipeline(pieces, output));
  const residentBefore = process.resourceUsage().maxRSS;
  const error = await push([file]);
  expect(error?.message).toMatch(message);
  expect(error?.message).toContain(file);
  // In kibibytes.
  expect(process.resourceUsage().maxRSS - residentBefore).toBeLessThan(300 * 1_024);
  fs.rmSync(file);
});

/** Parquet of PyArrow: 40 rows with `a`, a decimal(50, 2) from 0 to 39, and the numbers `b` and `y`. */
const wide = [
  "UEFSMRUEFZANFeYCTBVQFQASAAAotS/9YEgCTQUAQkcbKIBNGgNbMkVhwDSKgCYG8HAKYYhJBQNFYcA0ioDAJ5tssrfce++9dwqH6k8dUgfUMd",
  "QJ6hBdQhfQNdOL6dGcMifMOfKGvLRbdsPuiT/iG7/AEXDQO/IOvDNuhVvUnrQH7Q2bwSatK+vCurPjAycQAN7whje84Q1veMMb3vCGN7zhDW94",
  "wxve8IY3vOENb3jDG97whje84Q1veMMb3vCGN7zh4QQrsRUAFUwVXiwVUBUQFQYVBhwAAAAotS/9ICYxAQACAAAAUAEGC0AgDERhHEiiLEzjPF",
  "AkTVRlXVimbVznfWAojmRpnhUEFcACFZABTBVQFQASAAAotS/9IKD9AQACyg4LEFi+Gfygy+cRSgFvnPHFFU8c8cMNL5zwwQUPHPDv3rtz3649",
  "O/br1qtTny49OvTnzpszX648OfLjAwAVABVMFV4sFVAVEBUGFQYcAAAAKLUv/SAmMQEAAgAAAFABBgtAIAxEYRxIoixM4zxQJE1UZV1Ypm1c53",
  "1gKI5kaZ4VBBUQFSJMFQQVABIAACi1L/0gCEEAAAAAAAABAAAAFQAVGhUsLBVQFRAVBhUGHAAAACi1L/0gDWkAAAIAAABQAQELqqqqqqoVBBlM",
  "NQAYBnNjaGVtYRUGABUOFSoVAhgBYSUKFQQVZCxcFQQVZAAAABUCJQIYAWIlHkysEwgRAAAAFQIlAhgBeSUeTKwTCBEAAAAWUBkcGTwmABwVDh",
  "k1AAYQGRgBYRUMFlAWog4WigQmjgMmCCksFQQVABUCABUAFRAVAgA8KQYZJgBQAAAAJgAcFQIZNQAGEBkYAWIVDBZQFtIDFrQCJsIFJpIEKSwV",
  "BBUAFQIAFQAVEBUCADwpBhkmAFAAAAAmABwVAhk1AAYQGRgBeRUMFlAWbBaQASaEBybGBiksFQQVABUCABUAFRAVAgA8KQYZJgBQAAAAFuASFl",
  "AmCBbOBwAoIHBhcnF1ZXQtY3BwLWFycm93IHZlcnNpb24gMjUuMC4xGTwcAAAcAAAcAAAAMAEAAFBBUjE=",
].join("");

it("refuses decimals of more than 38 digits, which DuckDB reads as other numbers, and suggests no column for them", async () => {
  const file = path.join(folder, "wide.parquet");
  fs.writeFileSync(file, Buffer.from(wide, "base64"));
  expect((await push([file]))?.message).toMatch(
    /columns\.a is "WIDE DECIMAL\(50\)", but must have at most 38 digits, .*; write it as DOUBLE/,
  );
  const { columns } = await withDuckDb((session) => inferSchema(session, file, "y"));
  expect(columns.map(({ name, omitted }) => [name, omitted ?? false])).toEqual([
    ["a", true],
    ["b", false],
    ["y", false],
  ]);
  await expect(withDuckDb((session) => inferSchema(session, file, "a"))).rejects.toThrow(/must have at most 38 digits/);
});

it("reads values of 64 levels, and texts with any brackets", async () => {
  const file = path.join(folder, "levels.ndjson");
  const levels = "[".repeat(63) + "]".repeat(63);
  fs.writeFileSync(file, `${objects}{"a": 1, "y": 1, "b": ${levels}, "c": ${JSON.stringify(deepList)}}\n`);
  expect(await push([file])).toBeUndefined();
});

it("suggests no column for values of many levels", async () => {
  const file = path.join(folder, "many-levels.parquet");
  await withDuckDb(async (session) => {
    const nested = (levels: number): string => `${"STRUCT_PACK(b := ".repeat(levels)}i${")".repeat(levels)}`;
    await session.run(
      `COPY (SELECT i AS x, i % 2 AS y, ${"[".repeat(50)}i${"]".repeat(50)} AS a, ${nested(50)} AS s
       FROM range(40) t(i)) TO '${file}'`,
    );
    const { columns } = await inferSchema(session, file, "y");
    expect(columns.filter(({ omitted }) => omitted).map(({ name, note }) => [name, note])).toEqual([
      ["a", expect.stringContaining("must have at most 8 levels")],
      ["s", expect.stringContaining("must have at most 8 levels")],
    ]);
  });
});

it("refuses a gzip file that expands too far, before it is read to its end", async () => {
  const file = path.join(folder, "bomb.csv.gz");
  const zeros = gzipSync(Buffer.alloc(8 * 2 ** 20, "1,1\n"));
  fs.writeFileSync(file, Buffer.concat([gzipSync("a,y\n"), ...Array.from({ length: 8 }, () => zeros)]));
  const limits = { ratio: 100, freeBytes: 2 ** 20 };
  expect((await scanText(file, "csv", limits))?.rule).toMatch(
    /must expand to at most .* \(100 times its .*\): .* set RINGMASTER_MAX_EXPANSION to a larger ratio/,
  );
  expect(await scanText(file, "csv")).toBeUndefined();
});

it.each([
  ["ends in a newline", "good.csv", csv],
  ["has no last newline", "open.csv", "a,y\n1,1"],
  ["is compressed", "good.csv.gz", gzipSync(many)],
  ["has characters across its chunks", "wide.csv", `a,y\n${"é€😀\n".repeat(300_000)}`],
])("finds no problem in a file that %s", async (_case, name, content) => {
  const file = path.join(folder, name);
  fs.writeFileSync(file, content);
  expect(await scanText(file, "csv")).toBeUndefined();
});

describe("several files", () => {
  const write = (name: string, content: string): string => {
    const file = path.join(folder, "several", name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, content);
    return file;
  };

  it("name the file and the column that differs", async () => {
    const files = [write("a.csv", csv), write("b.csv", "y,b\n1,2\n")];
    const error = await push(files);
    expect(error?.message).toMatch(
      /b\.csv has other columns: column a must be in every file, as it is in .*a\.csv; column b must be in every file, and is not in .*a\.csv/,
    );
  });

  it("name the file of a wrong row", async () => {
    const files = [write("a.csv", csv), write("c.csv", "y;a\n1;2\nred;3\n")];
    expect((await push(files))?.message).toMatch(/column y, row 2 of .*c\.csv: "red" must be a whole number/);
  });

  it("have one format", async () => {
    const files = [write("a.csv", csv), write("d.ndjson", objects)];
    expect((await push(files))?.message).toMatch(/d\.ndjson.* must have the format of .*a\.csv/);
    expect((await push([path.join(folder, "several", "*.parquet")]))?.message).toMatch(/must match at least one file/);
  });
});
