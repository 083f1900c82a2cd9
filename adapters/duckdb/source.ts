import * as fs from "node:fs";
import * as path from "node:path";
import type { ColumnSchema } from "../../core/datasets/manifest";
import { InvalidInputError } from "../../core/errors";
import { type DuckDbSession, quoteName, quoteText } from "./session";

/** A file of rows, as something to select from. */
export interface SourceFile {
  /** A table expression; each call reads the file anew, in its order. */
  readonly table: string;
  /** Column → DuckDB type, in the file's order. CSV and JSON values come as text, whatever they look like. */
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

/** @throws InvalidInputError where the file cannot be read or lacks columns. */
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
  const types = await describe(session, file, format);
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
  if (format !== "json") return { table: reader(file, format), types };
  // Values as their text, so that JSON's 5 and CSV's 5 go one way.
  const declared = columns.map(({ name }) => `${quoteText(name)}: 'JSON'`).join(", ");
  const texts = columns.map(({ name }) => `${quoteName(name)} ->> '$' AS ${quoteName(name)}`).join(", ");
  return {
    table: `(SELECT ${texts} FROM read_json(${quoteText(file)}, columns = {${declared}}))`,
    types: new Map([...types.keys()].map((name) => [name, "VARCHAR"])),
  };
}

function reader(file: string, format: Format): string {
  const name = quoteText(file);
  if (format === "parquet") return `read_parquet(${name})`;
  if (format === "json") return `read_json(${name})`;
  return `read_csv(${name}, header = true, all_varchar = true)`;
}

async function describe(session: DuckDbSession, file: string, format: Format): Promise<ReadonlyMap<string, string>> {
  try {
    const found = await session.rows(`DESCRIBE SELECT * FROM ${reader(file, format)}`);
    return new Map(found.map((row) => [String(row["column_name"]), String(row["column_type"])]));
  } catch (cause) {
    throw unreadable(file, cause);
  }
}

/** DuckDB's complaint about a malformed file, as a problem of the input. */
export function unreadable(file: string, cause: unknown): InvalidInputError {
  const message = cause instanceof Error ? cause.message.split("\n").slice(0, 3).join(" ") : String(cause);
  return new InvalidInputError(`${file} cannot be read`, [{ path: "", rule: message }], cause);
}

function unusable(file: string, rule: string): InvalidInputError {
  return new InvalidInputError("the data file cannot be used", [{ path: "file", value: file, rule }]);
}
