import * as fs from "node:fs";
import * as path from "node:path";
import { InvalidInputError } from "../../core/errors";
import { formatBytes } from "../../core/quantities";
import { messageOf } from "./errors";
import { problemOfNames } from "./formats/csv-header";
import { quoteName, quoteText } from "./session";
import { withDuckDb } from "./workspace";

/** A column that a database sent as text. */
export interface SentColumn {
  readonly name: string;
  /** Its type in DuckDB; `list` for numbers in braces, which are kept as a text in brackets. */
  readonly type: string;
}

/** The maximum length of a row as text. DuckDB has two buffers of twice that size; its own default is sixteen times. */
const maxRowBytes = 16 * 1024 * 1024;

/**
 * Converts the rows of a database from CSV without a header, where only values are quoted, to Parquet with their types.
 * The CSV file is removed.
 *
 * @param rows number of rows that the database sent
 * @returns the file's path
 * @throws InvalidInputError if a name is used twice, or a value does not fit its type
 */
export async function writeSentRows(
  csv: string,
  columns: readonly SentColumn[],
  rows: number,
  folder: string,
): Promise<string> {
  const refused = (rule: string, place = "columns") =>
    new InvalidInputError("the query's rows cannot be read", [{ path: place, rule }]);
  const names = problemOfNames(columns.map(({ name }) => name));
  if (names !== undefined) throw refused(`${names}; name them with AS`);
  const file = path.join(folder, "rows.parquet");
  const declared = columns.map(({ name }) => `${quoteText(name)}: 'VARCHAR'`).join(", ");
  const read = `read_csv(${quoteText(csv)}, columns = {${declared}}, auto_detect = false, header = false, delim = ',',
    quote = '"', escape = '"', nullstr = '', allow_quoted_nulls = false, max_line_size = ${maxRowBytes}, buffer_size = ${2 * maxRowBytes})`;
  const tooLong = `must have at most ${formatBytes(maxRowBytes)} a row; select fewer columns`;
  try {
    const written = await withDuckDb(async (session) => {
      const [found] = await session.rows(
        `COPY (SELECT ${columns.map(selected).join(", ")} FROM ${read}) TO ${quoteText(file)} (FORMAT parquet)`,
      );
      return Number(found!["Count"]);
    });
    if (written !== rows) throw refused(tooLong, "rows");
  } catch (error) {
    const [text = ""] = messageOf(error).split("\n");
    if (/Maximum line size/i.test(messageOf(error))) throw refused(tooLong, "rows");
    if (/^Conversion Error|^Invalid Input Error/.test(text)) throw refused(`${text}; cast the column to text`, "rows");
    throw error;
  }
  fs.rmSync(csv);
  return file;
}

function selected({ name, type }: SentColumn): string {
  const column = quoteName(name);
  if (type === "VARCHAR") return column;
  if (/^(DATE|TIMESTAMP)/.test(type)) {
    // DuckDB omits an era that it does not know.
    const refused = `error('a date before the year 1 cannot be read: ' || ${column})`;
    return `CAST(CASE WHEN ${column} LIKE '% BC' THEN ${refused} ELSE ${column} END AS ${type}) AS ${column}`;
  }
  if (type !== "list") return `CAST(${column} AS ${type}) AS ${column}`;
  // Bounds of an array that does not begin at 1 precede its values: [0:1]={1,2}.
  return `translate(regexp_replace(${column}, '^\\[.*\\]=', ''), '{}', '[]') AS ${column}`;
}
