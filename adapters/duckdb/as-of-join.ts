import { DOUBLE, DuckDBDataChunk, DuckDBTypeId } from "@duckdb/node-api";
import { mapLimited } from "../../core/each-limited";
import { InvalidInputError, type Problem } from "../../core/errors";
import { compileFeatures } from "../../core/feature-store/features";
import { assertDistinct, namesIn } from "../../core/feature-store/online";
import { type Labels, Replay } from "../../core/feature-store/replay";
import type { ViewVersion } from "../../core/feature-store/shapes";
import { selectFeatures } from "../../core/views/compile";
import { duckdb } from "../../core/views/dialects";
import { durationMs } from "../../core/views/shapes";
import { canonicalTypes, castTo } from "./cast";
import { originsOption } from "./column-origins";
import { EntityNumbers } from "./entity-numbers";
import { numbersIn } from "./number-columns";
import { type DuckDbSession, quoteName, quoteText } from "./session";
import { openSource } from "./source";
import { viewTable } from "./view-rows";

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

export interface AsOfJoin {
  /** CSV, Parquet or JSON with the rows for which features are wanted. */
  readonly labels: string;
  /** Column of the time at which a row's features are wanted. */
  readonly time: string;
  readonly views: readonly StoredView[];
  readonly fullNames?: boolean;
  /** Path of a Parquet or CSV file. */
  readonly output: string;
}

/**
 * Joins each row of a file with the features that were known at its time, and writes all its columns and the features.
 * DuckDB reads and writes; between them `Replay` finds the row of each view, so no join compares times.
 *
 * @returns the number of rows
 * @throws InvalidInputError if the file lacks a column or has values of other types
 */
export async function joinAsOf(session: DuckDbSession, join: AsOfJoin): Promise<number> {
  const { views, fullNames = false, output } = join;
  const source = await openSource(session, join.labels, []);
  const { own, entities } = await openLabels(session, join, [...source.types.keys()]);
  const names = views.map(({ version }) => namesIn(version, fullNames));
  assertDistinct(
    views.map(({ version }) => version),
    names,
    own,
  );
  const [counted] = await session.rows('SELECT count(*)::DOUBLE AS "rows#" FROM labels');
  const rows = Number(counted!["rows#"]);
  const ordered = new Map<string, OrderedLabels>();
  const searches: (() => Promise<Float64Array>)[] = [];
  const [features, joins]: [string[], string[]] = [[], []];
  for (const [index, { version, fetch }] of views.entries()) {
    const files = await fetch(await daysOf(session, version.definition));
    if (files.length === 0) {
      for (const { name, type } of version.features) {
        features.push(`CAST(NULL AS ${canonicalTypes[type]}) AS ${quoteName(names[index]!.get(name)!)}`);
      }
      continue;
    }
    const key = keyOf(entities[index]!);
    const labels = ordered.get(key) ?? (await orderLabels(session, rows, key));
    ordered.set(key, labels);
    const view = await arrivedRows(session, files, version.definition);
    const isOrdered = files.length === 1 && version.definition.creationTime === undefined;
    joins.push(`LEFT JOIN ${featuresOf(version, view)} AS view${index}
      ON view${index}."arrival#" = found.view${searches.length}`);
    searches.push(() => findRows(session, version.definition, view, isOrdered, labels));
    for (const [name, shown] of names[index]!) {
      features.push(`view${index}.${quoteName(name)} AS ${quoteName(shown)}`);
    }
  }
  // DuckDB reads a result with one thread, so two views are read at a time.
  await storeFound(session, rows, await mapLimited(searches, searchesAtOnce, (search) => search()));
  const columns = [...own.map((name) => `labels.${quoteName(name)}`), ...features];
  const format = /\.csv$/i.test(output)
    ? "(FORMAT csv, HEADER)"
    : `(FORMAT parquet, COMPRESSION snappy, DICTIONARY_SIZE_LIMIT ${maxDictionary}, ${originsOption(
        views.map(({ version }) => version),
        fullNames,
      )})`;
  await session.run(
    `COPY (SELECT ${columns.join(", ")} FROM labels POSITIONAL JOIN found ${joins.join(" ")}
           ORDER BY labels."label#") TO ${quoteText(output)} ${format}`,
  );
  return rows;
}

/** Returns a table of a view's rows with `arrival#`, their place in the order of arrival. */
async function arrivedRows(
  session: DuckDbSession,
  files: readonly string[],
  definition: ViewVersion["definition"],
): Promise<string> {
  const stored = await viewTable(session, files, definition);
  const [found] = await session.rows(`SELECT max(file_row_number)::DOUBLE AS "last#" FROM ${stored}`);
  const arrival = `file_index * ${Number(found!["last#"]) + 1} + file_row_number`;
  return `(SELECT *, ${arrival} AS "arrival#" FROM ${stored})`;
}

/** Returns a table with `arrival#` and the features of a view's rows. */
function featuresOf({ definition }: ViewVersion, view: string): string {
  const { plan, columns } = compileFeatures(definition);
  if (plan === undefined) return `(SELECT "arrival#", ${columns.map(quoteName).join(", ")} FROM ${view})`;
  return `(${selectFeatures(plan, duckdb, `${view} AS view`, ["arrival#", ...columns])})`;
}

const rowsPerChunk = 2_048;
const searchesAtOnce = 2;
/** Values of a column and row group up to which Parquet has a dictionary. Larger ones save few bytes and cost time. */
const maxDictionary = 2_000;

/** Stores the table `found`: a row for each label in their order, with the arrivals of its rows, -1 for none. */
async function storeFound(session: DuckDbSession, rows: number, found: readonly Float64Array[]): Promise<void> {
  const columns = ['"label#" BIGINT', ...found.map((_, index) => `view${index} BIGINT`)];
  await session.run(`CREATE OR REPLACE TEMP TABLE found (${columns.join(", ")})`);
  const appender = await session.connection.createAppender("found", null, "temp");
  for (let first = 0; first < rows; first += rowsPerChunk) {
    const count = Math.min(rowsPerChunk, rows - first);
    const chunk = DuckDBDataChunk.create([DOUBLE, ...found.map(() => DOUBLE)], count);
    const places = chunk.getColumnVector(0);
    for (let row = 0; row < count; row += 1) places.setItem(row, first + row);
    places.flush();
    for (const [index, arrivals] of found.entries()) {
      const vector = chunk.getColumnVector(index + 1);
      for (let row = 0; row < count; row += 1) vector.setItem(row, arrivals[first + row]!);
      vector.flush();
    }
    appender.appendDataChunk(chunk);
  }
  appender.closeSync();
}

/**
 * Reads the file into the table `labels`: its own columns, `label#`, `at#` in milliseconds, and a column for each entity
 * column and type.
 */
async function openLabels(session: DuckDbSession, { labels: file, time, views }: AsOfJoin, own: readonly string[]) {
  const reserved = own.filter((name) => name.endsWith("#"));
  if (reserved.length > 0) {
    const problems = reserved.map((name): Problem => ({ path: name, rule: "must not end in #; rename the column" }));
    throw new InvalidInputError(`${file} cannot be joined`, problems);
  }
  const keys = views.map(({ version: { definition } }) =>
    definition.entities.map((name) => ({ name, type: definition.columns[name]! })),
  );
  const all = [...new Set([...own, time, ...keys.flat().map(({ name }) => name)])];
  const source = await openSource(
    session,
    file,
    all.map((name) => ({ name, type: "string", role: "feature" })),
  );
  const { table, types } = source;
  const casts = new Map<string, string>();
  const nameOf = ({ name, type }: { name: string; type: string }) => `${name} ${type}#`;
  for (const key of keys.flat()) {
    const column = { ...key, role: "feature" as const };
    casts.set(nameOf(key), castTo(column, types.get(key.name)!));
  }
  const at = `epoch_ms(${castTo({ name: time, type: "timestamp", role: "feature" }, types.get(time)!)})`;
  const selected = [...casts].map(([name, sql]) => `${sql} AS ${quoteName(name)}`);
  await source.reading(() =>
    session.run(
      `CREATE OR REPLACE TEMP TABLE labels AS
       SELECT row_number() OVER () - 1 AS "label#", ${[...own.map(quoteName), `${at} AS "at#"`, ...selected].join(", ")} FROM ${table}`,
    ),
  );
  await refuseUnfit(session, file, [
    { name: time, cast: "at#", rule: "must be a date or time in ISO 8601, and not missing" },
    ...keys
      .flat()
      .map((key) => ({ name: key.name, cast: nameOf(key), rule: `must be of type ${key.type}`, optional: true })),
  ]);
  return { own, entities: keys.map((some) => some.map((key) => ({ column: nameOf(key), type: key.type }))) };
}

async function refuseUnfit(
  session: DuckDbSession,
  file: string,
  checks: readonly {
    readonly name: string;
    readonly cast: string;
    readonly rule: string;
    readonly optional?: boolean;
  }[],
): Promise<void> {
  const problems: Problem[] = [];
  for (const { name, cast, rule, optional } of checks) {
    const given = `CAST(${quoteName(name)} AS VARCHAR)`;
    const [found] = await session.rows(
      `SELECT "label#"::DOUBLE + 1 AS "row#", ${given} AS "value#" FROM labels
       WHERE ${quoteName(cast)} IS NULL ${optional ? `AND ${given} IS NOT NULL` : ""} LIMIT 1`,
    );
    if (found) problems.push({ path: `column ${name}, row ${found["row#"]}`, value: found["value#"], rule });
  }
  if (problems.length > 0) throw new InvalidInputError(`${file} cannot be joined`, problems);
}

/** Returns the days whose rows may count for a row of `labels`. */
async function daysOf(session: DuckDbSession, { ttl }: ViewVersion["definition"]): Promise<Days> {
  const [found] = await session.rows(
    'SELECT min("at#")::DOUBLE AS "first#", max("at#")::DOUBLE AS "last#" FROM labels',
  );
  const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10);
  const from = ttl === undefined ? "0000-01-01" : dayOf(Number(found!["first#"]) - durationMs(ttl));
  return { from, to: dayOf(Number(found!["last#"])) };
}

/** Finds the row of a view for each row of `labels`. @returns arrivals by `label#`, -1 for none */
async function findRows(
  session: DuckDbSession,
  definition: ViewVersion["definition"],
  view: string,
  isOrdered: boolean,
  labels: OrderedLabels,
): Promise<Float64Array> {
  const { ttl, eventTime, creationTime, entities } = definition;
  const event = `CAST(epoch_ms(${quoteName(eventTime!)}) AS DOUBLE)`;
  const creation =
    creationTime === undefined ? event : `coalesce(CAST(epoch_ms(${quoteName(creationTime)}) AS DOUBLE), ${event})`;
  const times = creationTime === undefined ? [event] : [event, creation];
  const columns = [
    keyOf(entities.map((name) => ({ column: name, type: definition.columns[name]! }))),
    'CAST("arrival#" AS DOUBLE)',
    ...times,
  ];
  const order = isOrdered ? "" : `ORDER BY ${creationTime === undefined ? event : `greatest(${event}, ${creation})`}`;
  const replay = new Replay(labels, ttl === undefined ? undefined : durationMs(ttl));
  const connection = await session.connect();
  try {
    const query = `SELECT ${columns.join(", ")} FROM ${view} ${order}`;
    for await (const { keys, numbers } of readChunks(connection, query)) {
      const [arrivals, events, creations = events] = numbers;
      if (!replayRows(replay, labels.numbers, keys, arrivals!, events!, creations!)) {
        return await findRows(session, definition, view, false, labels);
      }
    }
  } finally {
    connection.closeSync();
  }
  const found = replay.end();
  const byLabel = new Float64Array(found.length);
  for (let at = 0; at < found.length; at += 1) byLabel[labels.places[at]!] = found[at]!;
  return byLabel;
}

/** Replays the rows of a chunk. A loop in a function of its own, because one in an asynchronous function is slow. */
function replayRows(
  replay: Replay,
  numbers: EntityNumbers,
  keys: ArrayLike<unknown>,
  arrivals: Float64Array,
  events: Float64Array,
  creations: Float64Array,
): boolean {
  for (let row = 0; row < events.length; row += 1) {
    if (!replay.add(numbers.of(keys[row]), events[row]!, creations[row]!, arrivals[row]!)) return false;
  }
  return true;
}

interface OrderedLabels extends Labels {
  /** Number of each label in the file, from 0. */
  readonly places: Float64Array;
  readonly numbers: EntityNumbers;
}

/** Reads the labels in the order of their times, with the numbers of their entities. */
async function orderLabels(session: DuckDbSession, rows: number, key: string): Promise<OrderedLabels> {
  const [entities, times, places] = [new Int32Array(rows), new Float64Array(rows), new Float64Array(rows)];
  const numbers = new EntityNumbers();
  const query = `SELECT ${key}, CAST("at#" AS DOUBLE), CAST("label#" AS DOUBLE) FROM labels ORDER BY "at#"`;
  let at = 0;
  for await (const { keys, numbers: read } of readChunks(session.connection, query)) {
    const [ats, labels] = read as readonly [Float64Array, Float64Array];
    times.set(ats, at);
    places.set(labels, at);
    for (let row = 0; row < ats.length; row += 1) entities[at + row] = numbers.add(keys[row]);
    at += ats.length;
  }
  return { entities, times, places, numbers, entityCount: numbers.count };
}

/** Reads a query's result by chunks: keys (`keyOf`), and columns of type DOUBLE without NULL. */
async function* readChunks(connection: DuckDbSession["connection"], sql: string): AsyncGenerator<ChunkColumns> {
  const result = await connection.stream(sql);
  let next = result.fetchChunk();
  try {
    for (;;) {
      const chunk = await next;
      if (chunk === null || chunk.rowCount === 0) return;
      // DuckDB makes the next chunk while this one is processed.
      next = result.fetchChunk();
      yield columnsIn(chunk);
    }
  } finally {
    // The caller may close the connection, which must have no open call.
    await next;
  }
}

interface ChunkColumns {
  readonly keys: ArrayLike<unknown>;
  readonly numbers: readonly Float64Array[];
}

function columnsIn(chunk: DuckDBDataChunk): ChunkColumns {
  const numbers = Array.from({ length: chunk.columnCount - 1 }, (_, index) => numbersIn(chunk, index + 1));
  const first = chunk.getColumnVector(0);
  if (first.type.typeId === DuckDBTypeId.DOUBLE) return { keys: numbersIn(chunk, 0), numbers };
  return { keys: Array.from({ length: chunk.rowCount }, (_, row) => first.getItem(row)), numbers };
}

/** Returns the expression of an entity's value: a number for one whole number, NaN if it is missing; otherwise text. */
function keyOf(columns: readonly { readonly column: string; readonly type: string }[]): string {
  const [first] = columns;
  if (columns.length === 1) {
    const name = quoteName(first!.column);
    if (first!.type !== "int" && first!.type !== "timestamp") return `CAST(${name} AS VARCHAR)`;
    return `coalesce(CAST(${first!.type === "int" ? name : `epoch_ms(${name})`} AS DOUBLE), CAST('NaN' AS DOUBLE))`;
  }
  const names = columns.map(({ column }) => quoteName(column));
  const missing = names.map((name) => `${name} IS NULL`).join(" OR ");
  // A list as JSON keeps ("a", "b,c") apart from ("a,b", "c").
  const text = `CAST(to_json([${names.map((name) => `CAST(${name} AS VARCHAR)`).join(", ")}]) AS VARCHAR)`;
  return `CASE WHEN NOT (${missing}) THEN ${text} END`;
}
