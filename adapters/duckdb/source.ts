import * as fs from "node:fs";
import * as path from "node:path";
import type { ColumnSchema } from "../../core/datasets/shapes";
import { InvalidInputError, type Problem, RingmasterError } from "../../core/errors";
import { parseCsvHeader } from "./csv-header";
import { messageOf } from "./errors";
import { problemOfEnd } from "./file-end";
import { type DuckDbSession, quoteName, quoteText } from "./session";

/** A file of rows as a table. */
export interface SourceFile {
  /** A table expression. Each use reads the file again, in its order. */
  readonly table: string;
  /** The DuckDB types of the columns, in the file's order. Values of CSV and JSON are always text. */
  readonly types: ReadonlyMap<string, string>;
}

type Format = "csv" | "parquet" | "json";

const formats: Readonly<Record<string, Format>> = {
  ".csv": "csv",
  ".tsv": "csv",
  ".parquet": "parquet",
  ".pq": "parquet",
  ".json": "json",
  ".ndjson": "json",
  ".jsonl": "json",
};

/**
 * Opens a file as a table.
 * @throws InvalidInputError if the file cannot be read or lacks columns
 */
export async function openSource(
  session: DuckDbSession,
  file: string,
  columns: readonly ColumnSchema[],
): Promise<SourceFile> {
  const format = formats[path.extname(file.replace(/\.(gz|zst)$/, "")).toLowerCase()];
  if (format === undefined) throw unusable(file, `must end in one of ${Object.keys(formats).join(", ")}`);
  const stat = fs.statSync(file, { throwIfNoEntry: false });
  if (!stat?.isFile()) throw unusable(file, stat === undefined ? "must exist" : "must be a file");
  if (stat.size === 0) throw unusable(file, "must not be empty: it has 0 bytes");
  const atEnd = format === "parquet" ? undefined : await problemOfEnd(file);
  if (atEnd !== undefined) throw unusable(file, atEnd);
  const { table, types } = await reading(file, () =>
    format === "csv" ? openCsv(session, file) : describe(session, file, format),
  );
  const lacking = columns.filter(({ name }) => !types.has(name));
  if (lacking.length > 0) {
    const there = [...types.keys()];
    throw new InvalidInputError(
      `${file} does not fit the schema`,
      lacking.map(({ name }) => ({
        path: `columns.${name}`,
        rule: `must be in the file, whose columns are ${there.slice(0, 30).join(", ")}${there.length > 30 ? ", …" : ""}`,
      })),
    );
  }
  if (format !== "json") return { table, types };
  // Values are read as text, so that a 5 in JSON and a 5 in CSV are treated alike.
  const declared = columns.map(({ name }) => `${quoteText(name)}: 'JSON'`).join(", ");
  const texts = columns.map(({ name }) => `${quoteName(name)} ->> '$' AS ${quoteName(name)}`).join(", ");
  return {
    table: `(SELECT ${texts} FROM read_json(${quoteText(file)}, columns = {${declared}}))`,
    types: new Map([...types.keys()].map((name) => [name, "VARCHAR"])),
  };
}

async function describe(session: DuckDbSession, file: string, format: "parquet" | "json"): Promise<SourceFile> {
  const table = `read_${format}(${quoteText(file)})`;
  const found = await session.rows(`DESCRIBE SELECT * FROM ${table}`);
  return { table, types: new Map(found.map((row) => [String(row["column_name"]), String(row["column_type"])])) };
}

async function openCsv(session: DuckDbSession, file: string): Promise<SourceFile> {
  const name = quoteText(file);
  const [first] = await session.rows(
    `SELECT line FROM read_csv(${name}, columns = {'line': 'VARCHAR'}, delim = '\x01', quote = '', escape = '',
                               header = false, auto_detect = false) LIMIT 1`,
  );
  const { delimiter, names } = parseCsvHeader(String(first?.["line"] ?? ""));
  const twice = names.find((column, index) => names.indexOf(column) !== index);
  if (twice !== undefined)
    throw unusable(file, `must name each column once, and its header has ${JSON.stringify(twice)} twice`);
  const columns = names.map((column) => `${quoteText(column)}: 'VARCHAR'`).join(", ");
  const table =
    `read_csv(${name}, columns = {${columns}}, delim = ${quoteText(delimiter)}, quote = '"', escape = '"', ` +
    "header = true, auto_detect = false)";
  return { table, types: new Map(names.map((column) => [column, "VARCHAR"])) };
}

/**
 * Runs a read and converts DuckDB's errors to input errors. Malformed lines and pages are only found by reading them.
 */
export async function reading<Result>(file: string, read: () => Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (cause) {
    const message = messageOf(cause);
    if (cause instanceof RingmasterError || !/CSV|JSON|Parquet|Invalid Input/i.test(message)) throw cause;
    throw new InvalidInputError(`${file} cannot be read`, [problemOf(message)], cause);
  }
}

function problemOf(message: string): Problem {
  const text = message.split("\n");
  const line = /Error on Line: (\d+)/.exec(text[0]!)?.[1];
  if (line === undefined) return { path: "", rule: text[0]! };
  const value = /Original Line: ?([\s\S]*?)\n(?:\n|Expected|Invalid|Value)/.exec(message)?.[1]?.trim().slice(0, 200);
  const counts = /Expected Number of Columns: (\d+) Found: (\d+)/.exec(message);
  const rule = counts
    ? `must have ${counts[1]} values, as the header has, not ${counts[2]}`
    : (text.slice(1).find((part) => /^(Invalid|Value|Maximum)/.test(part)) ??
      text.slice(2).find((part) => part !== "") ??
      message);
  return { path: "", value, rule, line: Number(line) };
}

function unusable(file: string, rule: string): InvalidInputError {
  return new InvalidInputError("the data file cannot be used", [{ path: "file", value: file, rule }]);
}
