import { InvalidInputError, type Problem } from "../../core/errors";
import { selectFeatures } from "../../core/feature-plans/compile";
import { duckdb } from "../../core/feature-plans/dialects";
import { durationMs } from "../../core/feature-plans/shapes";
import { compileFeatures } from "../../core/feature-store/features";
import { assertDistinct } from "../../core/feature-store/online";
import { namesIn, type ViewDefinition, type ViewVersion } from "../../core/feature-store/shapes";
import { aggregateRows, type ViewWindows } from "../../core/feature-store/windows";
import { canonicalTypes, castTo } from "./cast";
import { originsOption } from "./column-origins";
import { numbersIn } from "./row-reader";
import { type DuckDbSession, quoteName, quoteText } from "./session";
import { openSource } from "./source";
import { viewTable, windowSql } from "./view-rows";

interface LabelFile {
  /** CSV, Parquet or JSON. */
  readonly file: string;
  /** Column of the time at which a row's features are wanted. */
  readonly time: string;
  readonly definitions: readonly ViewDefinition[];
}

function entityColumns({ entities, columns }: ViewDefinition): readonly string[] {
  return entities.map((name) => `${name} ${columns[name]}#`);
}

/** Returns SQL of an entity's value: times in milliseconds. */
function entitySql(type: string, value: string): string {
  return type === "timestamp" ? `epoch_ms(${value})` : value;
}

/**
 * Creates the table `labels`: the file's own columns, `at#` in milliseconds, the columns of the views' entities, and `label#`,
 * the number of the row from 0. Returns the own columns, the number of labels, and the first and the last time.
 *
 * @throws InvalidInputError if the file lacks a column or has values of other types
 */
export async function createLabels(session: DuckDbSession, { file, time, definitions }: LabelFile) {
  const fields = [...(await openSource(session, file, [])).types.keys()];
  refuseReservedNames(file, fields);
  const names = [...new Set([...fields, time, ...definitions.flatMap(({ entities }) => entities)])];
  const feature = "feature" as const;
  const { table, types, reading } = await openSource(
    session,
    file,
    names.map((name) => ({ name, type: "string", role: feature })),
  );
  const at = castTo({ name: time, type: "timestamp", role: feature }, types.get(time)!);
  const selected = new Map([["at#", `epoch_ms(${at})`]]);
  const checks: Check[] = [
    { name: time, cast: "at#", rule: "must be a date or time in ISO 8601, and not missing", optional: false },
  ];
  for (const definition of definitions) {
    for (const [index, cast] of entityColumns(definition).entries()) {
      const name = definition.entities[index]!;
      const type = definition.columns[name]!;
      selected.set(cast, entitySql(type, castTo({ name, type, role: feature }, types.get(name)!)));
      checks.push({ name, cast, rule: `must be of type ${type}`, optional: true });
    }
  }
  const columns = [...fields.map(quoteName), ...[...selected].map(([name, sql]) => `${sql} AS ${quoteName(name)}`)];
  await reading(() =>
    session.run(
      `CREATE OR REPLACE TABLE labels AS SELECT ${columns.join(", ")}, row_number() OVER () - 1 AS "label#" FROM ${table}`,
    ),
  );
  const [row] = await session.rows(
    `SELECT count(*)::DOUBLE AS "rows#", min("at#")::DOUBLE AS "first#", max("at#")::DOUBLE AS "last#",
       count_if(${checks.map(isUnfit).join(" OR ")})::DOUBLE AS "unfit#" FROM labels`,
  );
  if (row!["unfit#"] !== 0) await refuseUnfit(session, file, checks);
  return { own: fields, rows: Number(row!["rows#"]), first: Number(row!["first#"]), last: Number(row!["last#"]) };
}

function refuseReservedNames(file: string, names: readonly string[]): void {
  const reserved = names.filter((name) => name.endsWith("#"));
  if (reserved.length === 0) return;
  const problems = reserved.map((name): Problem => ({ path: name, rule: "must not end in #; rename the column" }));
  throw new InvalidInputError(`${file} cannot be joined`, problems);
}

/** A column and its value of another type, which is missing for a value that does not fit. */
interface Check {
  readonly name: string;
  readonly cast: string;
  readonly rule: string;
  readonly optional: boolean;
}

function isUnfit({ name, cast, optional }: Check): string {
  return `(${quoteName(cast)} IS NULL${optional ? ` AND ${quoteName(name)} IS NOT NULL` : ""})`;
}

/** @throws InvalidInputError with a row of each column that has an unfit value */
async function refuseUnfit(session: DuckDbSession, file: string, checks: readonly Check[]): Promise<void> {
  const problems: Problem[] = [];
  for (const check of checks) {
    const [example] = await session.rows(
      `SELECT "label#"::DOUBLE + 1 AS "row#", CAST(${quoteName(check.name)} AS VARCHAR) AS "value#" FROM labels
       WHERE ${isUnfit(check)} ORDER BY "label#" LIMIT 1`,
    );
    const { name, rule } = check;
    if (example) problems.push({ path: `column ${name}, row ${example["row#"]}`, value: example["value#"], rule });
  }
  if (problems.length > 0) throw new InvalidInputError(`${file} cannot be joined`, problems);
}

/** The features of a view as SQL, for the as-of join. */

/**
 * Returns a query with `label#` and the features of a view, for the labels that have a row at their time.
 *
 * @param files with rows of the view, in the order of their arrival
 * @param windowTable name of the table that is created for the view's windows, if it has any
 */
async function featuresOfLabels(
  session: DuckDbSession,
  definition: ViewDefinition,
  files: readonly string[],
  windowTable: string,
): Promise<string> {
  const { columns, plan, windows } = compileFeatures(definition);
  const entities = entityColumns(definition).map(quoteName);
  const rows = await arrivedRows(session, definition, files);
  if (windows) await createWindows(session, windowTable, { windows, entities, rows });
  const names = windows?.all.map(({ name }) => name) ?? [];
  const isSame = entities.map((name) => `labels.${name} = view.${name}`).join(" AND ");
  const values = ["view.*", ...names.map((name) => `${windowTable}.${quoteName(name)}`)].join(", ");
  const query = `SELECT labels."label#", ${values}
    FROM labels ASOF JOIN ${latestRows(rows, entities)} AS view ON ${isSame} AND labels."at#" >= view."available#"
    ${windows ? `JOIN ${windowTable} ON ${windowTable}."label#" = labels."label#"` : ""}
    ${definition.ttl === undefined ? "" : `WHERE view."event#" >= labels."at#" - ${durationMs(definition.ttl)}`}`;
  if (plan === undefined) return query;
  const planWithWindows = {
    columns: [...plan.columns, ...names.map((name) => ({ name, type: "float" as const }))],
    intermediates: plan.intermediates.filter(({ name }) => !names.includes(name)),
    outputs: plan.outputs,
  };
  return selectFeatures(planWithWindows, duckdb, `(${query}) AS found`, ["label#", ...columns]);
}

/**
 * Returns a table of a view's rows with the columns of their entities, `event#`, `creation#` and `available#` in milliseconds,
 * and `arrival#`, their place in the order of arrival.
 */
async function arrivedRows(
  session: DuckDbSession,
  definition: ViewDefinition,
  files: readonly string[],
): Promise<string> {
  const { entities, columns, eventTime, creationTime } = definition;
  const names = entityColumns(definition);
  const keys = entities.map(
    (name, index) => `${entitySql(columns[name]!, quoteName(name))} AS ${quoteName(names[index]!)}`,
  );
  const creation = creationTime === undefined ? "NULL" : `epoch_ms(${quoteName(creationTime)})`;
  const [row] = await session.rows(
    `SELECT max(num_rows)::DOUBLE AS "most#" FROM parquet_file_metadata([${files.map(quoteText).join(", ")}])`,
  );
  return `(SELECT *, ${keys.join(", ")}, epoch_ms(${quoteName(eventTime!)}) AS "event#",
    coalesce(${creation}, "event#") AS "creation#", greatest("event#", "creation#") AS "available#",
    file_index * ${Number(row!["most#"])} + file_row_number AS "arrival#"
    FROM ${await viewTable(session, files, definition)})`;
}

/**
 * Returns a table of the rows that are the latest of their entity when they become available, one for each such time. Of rows
 * with one event time, a later creation time never becomes available earlier, so only event times are compared.
 */
function latestRows(rows: string, entities: readonly string[]): string {
  return `(SELECT * FROM ${rows}
    WINDOW history AS (PARTITION BY ${entities.join(", ")} ORDER BY "available#", "event#", "creation#", "arrival#"
      ROWS UNBOUNDED PRECEDING)
    QUALIFY lead("available#") OVER history IS DISTINCT FROM "available#" AND "event#" = max("event#") OVER history)`;
}

interface WindowSource {
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
async function createWindows(session: DuckDbSession, table: string, source: WindowSource): Promise<void> {
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

/** Days of event times (UTC), both inclusive. */
export interface Days {
  readonly from: string;
  readonly to: string;
}

export interface StoredView {
  readonly version: ViewVersion;
  /** Returns local files that have the rows of the days, in the order of their arrival. */
  fetch(days: Days): Promise<readonly string[]>;
}

interface AsOfJoin {
  /** CSV, Parquet or JSON with the rows for which features are wanted. */
  readonly labels: string;
  /** Column of the time at which a row's features are wanted. */
  readonly time: string;
  readonly views: readonly StoredView[];
  readonly fullNames?: boolean;
  /** Path of a Parquet or CSV file. */
  readonly output: string;
}

/** Values of a column and row group up to which Parquet has a dictionary. Larger ones save few bytes and cost time. */
const maxDictionary = 2_000;

/**
 * Joins each row of a file with the features that were known at its time, and writes all its columns and the features, in
 * the order of the file.
 *
 * @returns the number of rows
 * @throws InvalidInputError if the file lacks a column or has values of other types
 */
export async function joinAsOf(session: DuckDbSession, join: AsOfJoin): Promise<number> {
  const { labels, time, views, fullNames = false, output } = join;
  const versions = views.map(({ version }) => version);
  const definitions = versions.map(({ definition }) => definition);
  const { own, rows, first, last } = await createLabels(session, { file: labels, time, definitions });
  const names = versions.map((version) => namesIn(version, fullNames));
  assertDistinct(versions, names, own);
  const columns = own.map((name) => `labels.${quoteName(name)}`);
  const joins: string[] = [];
  for (const [index, { version, fetch }] of views.entries()) {
    const { definition, features } = version;
    const view = `view${index}`;
    const files = await fetch(daysOf(definition, first, last));
    for (const { name, type } of features) {
      const value = files.length === 0 ? `CAST(NULL AS ${canonicalTypes[type]})` : `${view}.${quoteName(name)}`;
      columns.push(`${value} AS ${quoteName(names[index]!.get(name)!)}`);
    }
    if (files.length === 0) continue;
    const query = await featuresOfLabels(session, definition, files, `windows${index}`);
    joins.push(`LEFT JOIN (${query}) AS ${view} ON ${view}."label#" = labels."label#"`);
  }
  const format = /\.csv$/i.test(output)
    ? "FORMAT csv, HEADER"
    : `FORMAT parquet, COMPRESSION snappy, DICTIONARY_SIZE_LIMIT ${maxDictionary}, WRITE_BLOOM_FILTER false, ${originsOption(versions, fullNames, time)}`;
  await session.run(
    `COPY (SELECT ${columns.join(", ")} FROM labels ${joins.join(" ")} ORDER BY labels."label#") TO ${quoteText(output)} (${format})`,
  );
  return rows;
}

/** Returns the days whose rows may count for labels of these times. */
function daysOf(definition: ViewVersion["definition"], first: number, last: number): Days {
  const { ttl } = definition;
  const { maxOverMs = 0 } = compileFeatures(definition).windows ?? {};
  const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10);
  return {
    from: ttl === undefined ? "0000-01-01" : dayOf(first - Math.max(durationMs(ttl), maxOverMs)),
    to: dayOf(last),
  };
}
