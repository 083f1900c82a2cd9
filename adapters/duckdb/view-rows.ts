import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { join } from "node:path";
import { EmptyDatasetError, InvalidRowsError } from "../../core/datasets/errors";
import type { ColumnSchema } from "../../core/datasets/shapes";
import { InvalidInputError, type Problem } from "../../core/errors";
import { futureRule, latestTime } from "../../core/feature-store/batches";
import { compileFeatures } from "../../core/feature-store/features";
import { orderOf } from "../../core/feature-store/latest";
import { entityKey } from "../../core/feature-store/online";
import type { BatchReader, LatestRow } from "../../core/feature-store/ports";
import {
  type Batch,
  type BatchDraft,
  type BatchFile,
  maxBatchFiles,
  type ViewVersion,
} from "../../core/feature-store/shapes";
import type { WindowRow } from "../../core/feature-store/windows";
import type { Clock, ObjectStore, UploadPort } from "../../core/ports";
import { canonicalTypes, castTo } from "./cast";
import { columnTypes, type DuckDbSession, quoteName, quoteText } from "./session";
import { openSource } from "./source";
import { findViolations } from "./violations";
import { withDuckDb } from "./workspace";

type Definition = ViewVersion["definition"];

/** Days with fewer rows share a file; a day with more rows has several. */
const rowsPerFile = 250_000;

/** A file of a batch on the local disk. */
export interface ViewFile extends BatchFile {
  readonly path: string;
}

/** Returns the columns of a view's rows as those of a dataset. Entities and the event time are never missing. */
export function rowColumns({ columns, entities, eventTime }: Definition): readonly ColumnSchema[] {
  return Object.entries(columns).map(([name, type]) => ({
    ...{ name, type, role: "feature" as const },
    nullable: name !== eventTime && !entities.includes(name),
  }));
}

/**
 * Reads a file of rows by the view's columns, and writes it as Parquet: by event time, in files of whole days. The same
 * rows give the same bytes in every format. Times are cut to milliseconds.
 *
 * @param options.clock refuses rows of its future, with column and row; without it, the registration refuses them
 * @throws InvalidInputError, EmptyDatasetError, InvalidRowsError
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
  const { rowCount, violations } = await source.reading(() =>
    findViolations(session, source.table, columns, source.types),
  );
  if (rowCount === 0) throw new EmptyDatasetError(file);
  if (violations.length > 0) throw new InvalidRowsError(file, violations);
  const casts = columns.map((column) => {
    const value = castTo(column, source.types.get(column.name)!);
    return `${column.type === "timestamp" ? `epoch_ms(epoch_ms(${value}))` : value} AS ${quoteName(column.name)}`;
  });
  const event = quoteName(definition.eventTime!);
  await source.reading(() =>
    session.run(
      `CREATE OR REPLACE TABLE arrived AS SELECT row_number() OVER () AS "row#", ${casts.join(", ")} FROM ${source.table}`,
    ),
  );
  const times = [definition.eventTime!, definition.creationTime].filter((name) => name !== undefined);
  if (clock) await assertPast(session, file, times, clock);
  await session.run(
    `CREATE OR REPLACE TABLE ordered AS
     SELECT row_number() OVER (ORDER BY ${event}, "row#") - 1 AS "place#", * EXCLUDE ("row#") FROM arrived`,
  );
  const days = await session.rows(
    `SELECT CAST(CAST(${event} AS DATE) AS VARCHAR) AS "day#", count(*)::DOUBLE AS "rows#" FROM ordered GROUP BY 1 ORDER BY min("place#")`,
  );
  const cuts = cutDays(
    days.map((row) => ({ day: String(row["day#"]), rows: Number(row["rows#"]) })),
    Math.max(maxRows, Math.ceil((2 * rowCount) / maxBatchFiles)),
  );
  const directory = join(session.directory, "view");
  fs.mkdirSync(directory, { recursive: true });
  const files: ViewFile[] = [];
  const names = columns.map(({ name }) => quoteName(name)).join(", ");
  let first = 0;
  for (const { rows, from, to } of cuts) {
    const target = join(directory, `${files.length}.parquet`);
    await session.run(
      `COPY (SELECT ${names} FROM ordered WHERE "place#" >= ${first} AND "place#" < ${first + rows} ORDER BY "place#")
       TO ${quoteText(target)} (FORMAT parquet, COMPRESSION zstd)`,
    );
    files.push({ ...(await referenceTo(target)), rows, from, to, path: target });
    first += rows;
  }
  const [found] = await session.rows(
    `SELECT greatest(${times.map((name) => `epoch_ms(max(${quoteName(name)}))`).join(", ")})::DOUBLE AS "latest#" FROM ordered`,
  );
  const draft = {
    ...{ generation, rows: rowCount, latestTime: new Date(Number(found!["latest#"])).toISOString() },
    files: files.map(({ path: _, ...reference }) => reference),
  };
  const ignoredColumns = [...source.types.keys()].filter((name) => !Object.hasOwn(definition.columns, name));
  return { draft, files, ignoredColumns };
}

/** Checks the times of the table `arrived`. @throws InvalidInputError with the first row of the future */
async function assertPast(session: DuckDbSession, file: string, times: readonly string[], clock: Clock): Promise<void> {
  const problems: Problem[] = [];
  for (const name of times) {
    const time = `epoch_ms(${quoteName(name)})`;
    const [found] = await session.rows(
      `SELECT "row#"::DOUBLE AS "row#", ${time}::DOUBLE AS "time#" FROM arrived WHERE ${time} > ${latestTime(clock)} ORDER BY "row#" LIMIT 1`,
    );
    if (!found) continue;
    const value = new Date(Number(found["time#"])).toISOString();
    problems.push({ path: `column ${name}, row ${found["row#"]}`, value, rule: futureRule });
  }
  if (problems.length > 0) throw new InvalidInputError(`${file} cannot be stored`, problems);
}

export interface ViewIngest<Registered> {
  /** Path of a local CSV, Parquet or JSON file. */
  readonly file: string;
  readonly version: ViewVersion;
  readonly uploads: UploadPort;
  /** See `writeViewFiles`. */
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

async function referenceTo(file: string) {
  const hash = createHash("sha256");
  for await (const chunk of fs.createReadStream(file)) hash.update(chunk as Buffer);
  return { sha256: hash.digest("hex"), bytes: fs.statSync(file).size };
}

/**
 * Returns a table of a view's rows in stored files. Files of earlier versions lack columns, whose values are missing.
 * `file_index` and `file_row_number` are the place of a row.
 */
export async function viewTable(
  session: DuckDbSession,
  files: readonly string[],
  definition: Definition,
): Promise<string> {
  const table = `read_parquet([${files.map(quoteText).join(", ")}], union_by_name = true)`;
  const present = await columnTypes(session, table);
  const columns = rowColumns(definition).map(({ name, type }) =>
    present.has(name) ? quoteName(name) : `CAST(NULL AS ${canonicalTypes[type]}) AS ${quoteName(name)}`,
  );
  return `(SELECT ${columns.join(", ")}, file_index, file_row_number FROM ${table})`;
}

/**
 * Returns the terms that order an entity's rows: event time, creation time, arrival. The latest row comes last. They are
 * the parts of `orderOf`.
 */
export function orderTerms({ eventTime, creationTime }: Definition, arrival: string): readonly string[] {
  const event = quoteName(eventTime!);
  return [event, ...(creationTime === undefined ? [] : [`coalesce(${quoteName(creationTime)}, ${event})`]), arrival];
}

/** Creates a reader of stored batches; each file is on the local disk while it is read. */
export function createBatchReader(session: DuckDbSession, objects: Pick<ObjectStore, "getContent">): BatchReader {
  async function* read<Row>(
    { definition }: ViewVersion,
    { sequence, files }: Batch,
    index: number,
    rowsOf: (file: string, definition: Definition, place: FilePlace) => AsyncIterable<Row>,
  ) {
    const path = join(session.directory, `${files[index]!.sha256}.parquet`);
    fs.writeFileSync(path, await objects.getContent(files[index]!.sha256));
    const firstRow = files.slice(0, index).reduce((sum, { rows }) => sum + rows, 0);
    yield* rowsOf(path, definition, { sequence, firstRow });
    fs.rmSync(path, { force: true });
  }
  return {
    readLatest: (version, batch, file) =>
      read(version, batch, file, (path, ...rest) => readLatestRows(session, path, ...rest)),
    readWindowRows: (version, batch, file, since) =>
      read(version, batch, file, (path, ...rest) => readWindowRows(session, path, ...rest, since)),
  };
}

/** The place of a file's rows in the order of arrival. */
interface FilePlace {
  readonly sequence: number;
  /** Rows of the batch in earlier files. */
  readonly firstRow: number;
}

/** Returns SQL of a stored value: times in milliseconds, whole numbers as DOUBLE. */
function storedSql(name: string, type: Definition["columns"][string]): string {
  const column = quoteName(name);
  if (type === "timestamp") return `CAST(epoch_ms(${column}) AS DOUBLE)`;
  return type === "int" ? `CAST(${column} AS DOUBLE)` : column;
}

/** Reads the latest row of each entity of a file. */
export async function* readLatestRows(
  session: DuckDbSession,
  file: string,
  definition: Definition,
  place: FilePlace,
): AsyncGenerator<readonly LatestRow[]> {
  const columns = Object.entries(definition.columns);
  const selected = columns.map(([name, type]) => storedSql(name, type));
  const { entities, eventTime, creationTime } = definition;
  const latest = orderTerms(definition, "file_row_number").map((term) => `${term} DESC`);
  const query = `SELECT ${selected.join(", ")}, CAST(file_row_number AS DOUBLE) FROM ${await viewTable(session, [file], definition)}
     QUALIFY row_number() OVER (PARTITION BY ${entities.map(quoteName).join(", ")} ORDER BY ${latest.join(", ")}) = 1`;
  for await (const rows of streamRows(session, query, selected.length + 1)) {
    yield rows.map((row): LatestRow => {
      const values = Object.fromEntries(
        columns.map(([name], index) => [name, row[index] as LatestRow["values"][string]]),
      );
      const time = values[eventTime!] as number;
      const creation = creationTime === undefined ? null : (values[creationTime] as number | null);
      const order = orderAt(place, row[columns.length] as number, time, creation);
      return { key: entityKey(entities.map((name) => values[name])), order, eventTime: time, values };
    });
  }
}

/** Reads the rows of a file that a view's windows aggregate. @param since least event time */
export async function* readWindowRows(
  session: DuckDbSession,
  file: string,
  definition: Definition,
  place: FilePlace,
  since: number,
): AsyncGenerator<readonly WindowRow[]> {
  const { entities, eventTime, creationTime, columns } = definition;
  const event = storedSql(eventTime!, "timestamp");
  const creation = creationTime === undefined ? "NULL" : storedSql(creationTime, "timestamp");
  const values = compileFeatures(definition).windows!.columns.map(windowSql);
  const selected = [
    ...["CAST(file_row_number AS DOUBLE)", event, creation, ...values],
    ...entities.map((name) => storedSql(name, columns[name]!)),
  ];
  const query = `SELECT ${selected.join(", ")} FROM ${await viewTable(session, [file], definition)} WHERE ${event} >= ${since}`;
  for await (const rows of streamRows(session, query, selected.length)) {
    yield rows.map((row): WindowRow => {
      const [number, time, created, ...rest] = row as [number, number, number | null, ...unknown[]];
      return {
        key: entityKey(rest.slice(values.length)),
        order: orderAt(place, number, time, created),
        eventTime: time,
        values: rest.slice(0, values.length) as (number | null)[],
      };
    });
  }
}

/** Returns SQL of a number that a window aggregates, as a DOUBLE; NULL if it is not finite. */
export function windowSql(column: string): string {
  const value = `CAST(${quoteName(column)} AS DOUBLE)`;
  return `CASE WHEN isfinite(${value}) THEN ${value} END`;
}

function orderAt({ sequence, firstRow }: FilePlace, row: number, eventTime: number, creationTime: number | null) {
  return orderOf({ eventTime, creationTime, sequence, row: firstRow + row });
}

/** Reads rows as arrays, a chunk at a time. */
async function* streamRows(session: DuckDbSession, query: string, width: number): AsyncGenerator<unknown[][]> {
  const result = await session.connection.stream(query);
  for (;;) {
    const chunk = await result.fetchChunk();
    if (chunk === null || chunk.rowCount === 0) return;
    const vectors = Array.from({ length: width }, (_, index) => chunk.getColumnVector(index));
    yield Array.from({ length: chunk.rowCount }, (_, row) => vectors.map((vector) => vector.getItem(row)));
  }
}
