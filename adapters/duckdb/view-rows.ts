import * as fs from "node:fs";
import { join } from "node:path";
import type { ColumnSchema } from "../../core/datasets/shapes";
import { compileFeatures } from "../../core/feature-store/features";
import { entityKey, orderOf } from "../../core/feature-store/online";
import type { BatchReader, LatestRow } from "../../core/feature-store/ports";
import type { Batch, ViewVersion } from "../../core/feature-store/shapes";
import type { WindowRow } from "../../core/feature-store/windows";
import type { ObjectStore } from "../../core/ports";
import { canonicalTypes } from "./cast";
import { columnTypes, type DuckDbSession, quoteName, quoteText } from "./session";

type Definition = ViewVersion["definition"];

export function rowColumns({ columns, entities, eventTime }: Definition): readonly ColumnSchema[] {
  return Object.entries(columns).map(([name, type]) => ({
    ...{ name, type, role: "feature" as const },
    nullable: name !== eventTime && !entities.includes(name),
  }));
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
