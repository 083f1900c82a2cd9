import * as fs from "node:fs";
import { join } from "node:path";
import { emptyDataset, invalidRows } from "../../core/datasets/errors";
import type { ColumnSchema } from "../../core/datasets/shapes";
import { InvalidInputError, type Problem } from "../../core/errors";
import { type BatchDraft, type BatchFile, maxBatchFiles, type ViewVersion } from "../../core/feature-store/shapes";
import { futureRule, latestTime } from "../../core/feature-store/stream";
import type { Clock, UploadPort } from "../../core/ports";
import { referenceOf } from "../files/reference";
import { castTo } from "./cast";
import { type DuckDbSession, quoteName, quoteText } from "./session";
import { openSource, type Source } from "./source";
import { rowColumns } from "./view-rows";
import { findViolations } from "./violations";
import { withDuckDb } from "./workspace";

type Definition = ViewVersion["definition"];

/** Days with fewer rows share a file; a day with more rows has several. */
const rowsPerFile = 250_000;

export interface ViewFile extends BatchFile {
  readonly path: string;
}

/**
 * Reads a file of rows by the view's columns, and writes it as Parquet: by event time, in files of whole days. The same
 * rows give the same bytes in every format. Times are cut to milliseconds.
 *
 * @param options.clock refuses rows of its future, with column and row; without it, the registration refuses them
 * @throws InvalidInputError, EMPTY_DATASET, INVALID_ROWS
 */
export async function writeViewFiles(
  session: DuckDbSession,
  file: string,
  { definition, generation }: Pick<ViewVersion, "definition" | "generation">,
  { maxRows = rowsPerFile, clock }: { readonly maxRows?: number; readonly clock?: Clock | undefined } = {},
): Promise<{
  readonly draft: BatchDraft;
  readonly files: readonly ViewFile[];
  readonly ignoredColumns: readonly string[];
}> {
  const columns = rowColumns(definition);
  const source = await openSource(session, file, columns);
  const rows = await importRows(session, file, source, columns);
  const times = [definition.eventTime!, definition.creationTime].filter((name) => name !== undefined);
  if (clock) await assertPast(session, file, times, clock);
  const files = await writeDays(session, definition, Math.max(maxRows, Math.ceil((2 * rows) / maxBatchFiles)));
  const [row] = await session.rows(
    `SELECT greatest(${times.map((name) => `epoch_ms(max(${quoteName(name)}))`).join(", ")})::DOUBLE AS "latest#" FROM arrived`,
  );
  const draft = {
    ...{ generation, rows, latestTime: new Date(Number(row!["latest#"])).toISOString() },
    files: files.map(({ path: _, ...reference }) => reference),
  };
  const ignoredColumns = [...source.types.keys()].filter((name) => !Object.hasOwn(definition.columns, name));
  return { draft, files, ignoredColumns };
}

/**
 * Creates the table `arrived`: the rows of a file with `row#`, their place in it from 1. Returns their number.
 *
 * @throws EMPTY_DATASET, INVALID_ROWS
 */
async function importRows(
  session: DuckDbSession,
  file: string,
  source: Source,
  columns: readonly ColumnSchema[],
): Promise<number> {
  const { table, types } = source;
  const { rowCount, violations } = await source.reading(() => findViolations(session, table, columns, types));
  if (rowCount === 0) throw emptyDataset(file);
  if (violations.length > 0) throw invalidRows(file, violations);
  const casts = columns.map((column) => {
    const value = castTo(column, types.get(column.name)!);
    return `${column.type === "timestamp" ? `epoch_ms(epoch_ms(${value}))` : value} AS ${quoteName(column.name)}`;
  });
  await source.reading(() =>
    session.run(
      `CREATE OR REPLACE TABLE arrived AS SELECT row_number() OVER () AS "row#", ${casts.join(", ")} FROM ${table}`,
    ),
  );
  return rowCount;
}

/** Writes the table `arrived` by event time, in files of about `maxRows` rows and whole days. */
async function writeDays(
  session: DuckDbSession,
  definition: Definition,
  maxRows: number,
): Promise<readonly ViewFile[]> {
  const event = quoteName(definition.eventTime!);
  await session.run(
    `CREATE OR REPLACE TABLE ordered AS
     SELECT row_number() OVER (ORDER BY ${event}, "row#") - 1 AS "place#", * EXCLUDE ("row#") FROM arrived`,
  );
  const dayRows = await session.rows(
    `SELECT CAST(CAST(${event} AS DATE) AS VARCHAR) AS "day#", count(*)::DOUBLE AS "rows#" FROM ordered GROUP BY 1 ORDER BY min("place#")`,
  );
  const days = dayRows.map((row) => ({ day: String(row["day#"]), rows: Number(row["rows#"]) }));
  const directory = join(session.directory, "view");
  fs.mkdirSync(directory, { recursive: true });
  const files: ViewFile[] = [];
  const names = Object.keys(definition.columns).map(quoteName).join(", ");
  let first = 0;
  for (const { rows, from, to } of cutDays(days, maxRows)) {
    const target = join(directory, `${files.length}.parquet`);
    await session.run(
      `COPY (SELECT ${names} FROM ordered WHERE "place#" >= ${first} AND "place#" < ${first + rows} ORDER BY "place#")
       TO ${quoteText(target)} (FORMAT parquet, COMPRESSION zstd)`,
    );
    files.push({ ...(await referenceOf(target)), rows, from, to, path: target });
    first += rows;
  }
  return files;
}

/** Checks the times of the table `arrived`. @throws InvalidInputError with the first row of the future */
async function assertPast(session: DuckDbSession, file: string, times: readonly string[], clock: Clock): Promise<void> {
  const problems: Problem[] = [];
  for (const name of times) {
    const time = `epoch_ms(${quoteName(name)})`;
    const [example] = await session.rows(
      `SELECT "row#"::DOUBLE AS "row#", ${time}::DOUBLE AS "time#" FROM arrived WHERE ${time} > ${latestTime(clock)} ORDER BY "row#" LIMIT 1`,
    );
    if (!example) continue;
    const value = new Date(Number(example["time#"])).toISOString();
    problems.push({ path: `column ${name}, row ${example["row#"]}`, value, rule: futureRule });
  }
  if (problems.length > 0) throw new InvalidInputError(`${file} cannot be stored`, problems);
}

export interface ViewIngest<Registered> {
  readonly file: string;
  readonly version: ViewVersion;
  readonly uploads: UploadPort;
  readonly clock?: Clock;
  /** Is called with the file's columns that the view lacks, if there are any. */
  readonly onIgnoredColumns?: (names: readonly string[]) => void;
  /** Makes the uploaded rows visible, or finds the batch that has them. */
  readonly register: (draft: BatchDraft) => Promise<Registered>;
}

/**
 * Stores a file's rows as a batch: writes them as Parquet, uploads what the store lacks, and registers the batch last. An
 * interrupted call can be repeated; no row is visible before the batch is registered.
 *
 * @throws the errors of `writeViewFiles`, `uploads` and `register`
 */
export function ingestViewRows<Registered>(ingest: ViewIngest<Registered>): Promise<Registered> {
  return withDuckDb(async (session) => {
    const { file, version, clock } = ingest;
    const { draft, files, ignoredColumns } = await writeViewFiles(session, file, version, { clock });
    if (ignoredColumns.length > 0) ingest.onIgnoredColumns?.(ignoredColumns);
    const paths = new Map(files.map((file) => [file.sha256, file.path]));
    const distinct = [...new Map(draft.files.map(({ sha256, bytes }) => [sha256, { sha256, bytes }])).values()];
    const missing = new Set(await ingest.uploads.missing(distinct));
    for (const reference of distinct) {
      if (missing.has(reference.sha256)) await ingest.uploads.put(reference, { path: paths.get(reference.sha256)! });
    }
    return ingest.register(draft);
  });
}

/** Cuts rows in the order of their days into files of at most `maxRows`, at the ends of days where possible. */
export function cutDays(
  days: readonly { readonly day: string; readonly rows: number }[],
  maxRows: number,
): readonly Pick<BatchFile, "rows" | "from" | "to">[] {
  const cuts: { rows: number; from: string; to: string }[] = [];
  for (const { day, rows } of days) {
    const last = cuts.at(-1);
    if (last && last.rows + rows <= maxRows) {
      last.rows += rows;
      last.to = day;
      continue;
    }
    for (let left = rows; left > 0; left -= maxRows) cuts.push({ rows: Math.min(left, maxRows), from: day, to: day });
  }
  return cuts;
}
