import { aggregateRows, type ViewWindows } from "../../core/feature-store/windows";
import { numbersIn } from "./number-columns";
import { type DuckDbSession, quoteName } from "./session";
import { windowSql } from "./view-rows";

export interface WindowSource {
  readonly windows: ViewWindows;
  /** SQL of the columns of an entity, in `labels` and in the view. */
  readonly entities: readonly string[];
  /** Table of the view's rows (`arrivedRows`). */
  readonly rows: string;
}

interface Row {
  readonly eventTime: number;
  readonly creationTime: number;
  readonly values: readonly number[];
}

/**
 * Creates a table with `label#` and a view's windows, for the labels that have an entity. The online store's function
 * aggregates the rows, so sums have the same bits. Rows and labels come by entity and time: the rows of one entity and the
 * windows of all labels are in memory.
 */
export async function createWindows(session: DuckDbSession, table: string, source: WindowSource): Promise<void> {
  const { all, maxOverMs } = source.windows;
  const windows: (number | null)[][] = [];
  let current = 0;
  let rows: Row[] = [];
  for await (const { entity, time, label, creationTime, values } of readByEntity(session, source)) {
    if (entity !== current) rows = [];
    current = entity;
    if (Number.isNaN(label)) {
      rows.push({ eventTime: time, creationTime, values });
      continue;
    }
    const available: Row[] = [];
    for (let at = rows.length - 1; at >= 0 && rows[at]!.eventTime >= time - maxOverMs; at -= 1) {
      if (rows[at]!.creationTime <= time) available.push(rows[at]!);
    }
    const aggregates = aggregateRows(source.windows, available, time);
    windows.push([label, ...all.map(({ name }) => aggregates[name]!)]);
  }
  const columns = ["label#", ...all.map(({ name }) => name)].map((name) => `${quoteName(name)} DOUBLE`);
  await session.run(`CREATE OR REPLACE TABLE ${table} (${columns.join(", ")})`);
  const appender = await session.connection.createAppender(table);
  for (const row of windows) {
    for (const value of row) value === null ? appender.appendNull() : appender.appendDouble(value);
    appender.endRow();
  }
  appender.closeSync();
}

/** Reads the rows of the labels' entities, and the labels, by entity and time: rows first, in the order of `orderOf`. */
async function* readByEntity(session: DuckDbSession, { windows, entities, rows }: WindowSource) {
  const keys = entities.join(", ");
  const labelValues = ["NULL", "NULL", ...windows.columns.map(() => "NULL")].join(", ");
  const rowValues = ['"creation#"', '"arrival#"', ...windows.columns.map(windowSql)].join(", ");
  const result = await session.connection.stream(
    `WITH numbered AS MATERIALIZED (SELECT *, row_number() OVER () AS "entity#" FROM (SELECT DISTINCT ${keys} FROM labels))
     SELECT COLUMNS(*)::DOUBLE FROM (
       SELECT "entity#", "event#" AS "time#", NULL AS "label#", ${rowValues} FROM ${rows} JOIN numbered USING (${keys})
       UNION ALL
       SELECT "entity#", "at#", "label#", ${labelValues} FROM labels JOIN numbered USING (${keys})
     ) ORDER BY "entity#", "time#", "label#" NULLS FIRST, "creation#", "arrival#"`,
  );
  for (;;) {
    const chunk = await result.fetchChunk();
    if (chunk === null || chunk.rowCount === 0) return;
    const columns = Array.from({ length: chunk.columnCount }, (_, column) => numbersIn(chunk, column));
    for (let row = 0; row < chunk.rowCount; row += 1) {
      const [entity, time, label, creationTime, , ...values] = columns.map((column) => column[row]!);
      yield { entity: entity!, time: time!, label: label!, creationTime: creationTime!, values };
    }
  }
}
