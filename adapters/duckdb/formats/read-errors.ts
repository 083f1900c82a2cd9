import { InvalidInputError, type Problem, RingmasterError } from "../../../core/errors";
import { messageOf } from "../errors";
import { type DuckDbSession, quoteName, quoteText } from "../session";
import { nameOfFiles } from "./source-files";
import { findOtherEnd } from "./text-scan";

/** Errors that a damaged file causes. */
const signsOfDamage =
  /CSV|JSON|Parquet|Invalid Input|Invalid Error|Out of Range Error|TProtocol|ZSTD|Snappy|Out of Memory/i;

/**
 * Runs a read and converts DuckDB's errors to input errors with file, line and column. Malformed lines and pages are only
 * found by reading them.
 */
export async function reading<Result>(
  session: DuckDbSession,
  files: readonly string[],
  read: () => Promise<Result>,
): Promise<Result> {
  try {
    return await read();
  } catch (cause) {
    const message = messageOf(cause);
    if (cause instanceof RingmasterError || !signsOfDamage.test(message)) throw cause;
    const file = files.find((one) => message.includes(`"${one}"`) || message.includes(`file = ${one}\n`));
    const named = file ?? nameOfFiles(files);
    const suspects = file === undefined ? files : [file];
    const damage = (await findDamage(session, suspects)) ?? (await findMixedEnds(suspects, message));
    const problem = damage ?? problemOf(message);
    throw new InvalidInputError(`${damage?.file ?? named} cannot be read`, [problem], cause);
  }
}

/** Finds the line of a CSV file that ends differently, where DuckDB only says that it cannot read the file. */
async function findMixedEnds(
  files: readonly string[],
  message: string,
): Promise<(Problem & { readonly file: string }) | undefined> {
  if (!message.includes("CSV Parser state machine reached an invalid state")) return undefined;
  for (const file of files) {
    const problem = await findOtherEnd(file);
    if (problem) return { file, ...problem };
  }
  return undefined;
}

function problemOf(message: string): Problem {
  const text = message.split("\n");
  if (/No magic bytes|too small to be a Parquet/.test(text[0]!)) {
    const rule =
      "must be a complete Parquet file, and its footer is missing: the file is cut, or is no Parquet; copy or write it again";
    return { path: "", rule };
  }
  const json = problemOfJson(message);
  if (json) return json;
  const line = /Error on Line: (\d+)/.exec(text[0]!)?.[1];
  if (line === undefined) return { path: "", rule: text[0]! };
  const value = /Original Line: ?([\s\S]*?)\n(?:\n|Expected|Invalid|Value)/.exec(message)?.[1]?.trim().slice(0, 200);
  const counts = /Expected Number of Columns: (\d+) Found: (\d+)/.exec(message);
  const rule = counts
    ? `must have ${counts[1]} values, as the header has names, not ${counts[2]}${Number(counts[2]) > Number(counts[1]) ? "; name the column in the header, or remove its values" : ""}`
    : (text.slice(1).find((part) => /^(Invalid|Value|Maximum)/.test(part)) ??
      text.slice(2).find((part) => part !== "") ??
      message);
  return { path: "", value, rule, line: Number(line) };
}

function problemOfJson(message: string): Problem | undefined {
  const twice = /in (?:line|record\/value) (\d+): Object [\s\S]* has duplicate key "([^"]*)"/.exec(message);
  if (twice)
    return {
      path: `column ${twice[2]}`,
      rule: "must be once in each object; remove one of them",
      line: Number(twice[1]),
    };
  const [, byte, unit, number, what] =
    /Malformed JSON .*at byte (\d+) in (line|record\/value) (\d+): ([^\n.]*)/.exec(message) ?? [];
  if (what !== undefined) {
    // DuckDB counts malformed lines from 2.
    const place = `${unit === "line" ? "line" : "row"} ${Number(number) - 1}`;
    return { path: place, rule: `must be JSON, and at byte ${byte} it is not: ${what.trim()}; correct it` };
  }
  const [, place, type] =
    /JSON transform error in file .*in ((?:line|record\/value) \d+): Expected OBJECT, but got (\w+)/.exec(message) ??
    [];
  if (place === undefined) return undefined;
  return {
    path: place.replace("record/value", "row"),
    rule: `must be an object with a key for each column, and is ${type}; correct it`,
  };
}

/** Finds the column and the rows of a damaged Parquet file. Returns undefined for files of another format. */
async function findDamage(
  session: DuckDbSession,
  files: readonly string[],
): Promise<(Problem & { readonly file: string }) | undefined> {
  for (const file of files) {
    if (!/\.(parquet|pq)$/i.test(file)) return undefined;
    try {
      const problem = await findDamagedGroup(session, file);
      if (problem) return { file, ...problem };
    } catch {
      // Not even the metadata can be read, so DuckDB's own message says more.
      return undefined;
    }
  }
  return undefined;
}

/** Reads each row group of each column of a Parquet file, until one cannot be read. */
async function findDamagedGroup(session: DuckDbSession, file: string): Promise<Problem | undefined> {
  const groups = await session.rows(
    `SELECT DISTINCT row_group_id AS id, row_group_num_rows AS count FROM parquet_metadata(${quoteText(file)}) ORDER BY id`,
  );
  const columns = await session.rows(`DESCRIBE SELECT * FROM read_parquet(${quoteText(file)})`);
  let first = 0;
  for (const group of groups) {
    const last = first + Number(group["count"]) - 1;
    for (const described of columns) {
      const name = String(described["column_name"]);
      const rows = `file_row_number BETWEEN ${first} AND ${last}`;
      const from = `read_parquet(${quoteText(file)}, file_row_number = true)`;
      try {
        await session.rows(`SELECT max(hash(${quoteName(name)})) FROM ${from} WHERE ${rows}`);
      } catch (cause) {
        const place = `in the rows ${first + 1} to ${last + 1}`;
        const rule = /Out of Memory/i.test(messageOf(cause))
          ? `must expand to less, and takes more memory than there is ${place}; write the file with smaller row groups`
          : `must be readable, and is damaged ${place}; copy or write the file again`;
        return { path: `column ${name}`, rule };
      }
    }
    first = last + 1;
  }
  return undefined;
}
