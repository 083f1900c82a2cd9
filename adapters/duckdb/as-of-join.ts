import { DOUBLE, DuckDBDataChunk, DuckDBTypeId, type DuckDBVector } from "@duckdb/node-api";
import { mapLimited } from "../../core/each-limited";
import { InvalidInputError, type Problem } from "../../core/errors";
import { compileFeatures } from "../../core/feature-store/features";
import { assertDistinct, namesIn } from "../../core/feature-store/online";
import { type Labels, OrderError, Replay } from "../../core/feature-store/replay";
import type { ViewVersion } from "../../core/feature-store/shapes";
import { selectFeatures } from "../../core/views/compile";
import { duckdb } from "../../core/views/dialects";
import { durationMs } from "../../core/views/shapes";
import { canonicalTypes, castTo } from "./cast";
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
 * DuckDB reads and writes; between them `Replay` finds the values of each view, so no join compares times. Texts stay in
 * DuckDB: they are joined by the arrival of the row that was found.
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
  const searches: (() => Promise<void>)[] = [];
  const [features, joins, textJoins]: [string[], string[], string[]] = [[], [], []];
  for (const [index, { version, fetch }] of views.entries()) {
    const shown = names[index]!;
    const files = await fetch(await daysOf(session, version.definition));
    if (files.length === 0) {
      for (const { name, type } of version.features) {
        features.push(`CAST(NULL AS ${canonicalTypes[type]}) AS ${quoteName(shown.get(name)!)}`);
      }
      continue;
    }
    const key = keyOf(entities[index]!);
    const labels = ordered.get(key) ?? (await orderLabels(session, rows, key));
    ordered.set(key, labels);
    const view = featuresOf(version, await arrivedRows(session, files, version.definition));
    const found = `found${index}`;
    const { numbers, texts } = partsOf(version);
    joins.push(`POSITIONAL JOIN ${found}`);
    if (texts.length > 0) {
      const columns = ['"arrival#"', ...texts.map(quoteName)];
      textJoins.push(`LEFT JOIN (SELECT ${columns.join(", ")} FROM ${view}) AS view${index}
        ON view${index}."arrival#" = ${found}."arrival#"`);
    }
    const isOrdered = files.length === 1 && version.definition.creationTime === undefined;
    searches.push(async () => {
      const values = await findValues(session, version, view, isOrdered, labels);
      await storeFound(
        session,
        found,
        numbers.map(({ name }) => name),
        rows,
        values,
      );
    });
    for (const { name } of version.features) {
      const number = numbers.find((one) => one.name === name);
      const value = number?.restored(`${found}.${quoteName(name)}`) ?? `view${index}.${quoteName(name)}`;
      features.push(`${value} AS ${quoteName(shown.get(name)!)}`);
    }
  }
  // DuckDB reads a result with one thread, so two views are read at a time.
  await mapLimited(searches, searchesAtOnce, (search) => search());
  const columns = [...own.map((name) => `labels.${quoteName(name)}`), ...features];
  const format = /\.csv$/i.test(output)
    ? "(FORMAT csv, HEADER)"
    : `(FORMAT parquet, COMPRESSION snappy, DICTIONARY_SIZE_LIMIT ${maxDictionary})`;
  // Only a join by values may change the order.
  const order = textJoins.length === 0 ? "" : 'ORDER BY labels."label#"';
  await session.run(
    `COPY (SELECT ${columns.join(", ")} FROM labels ${[...joins, ...textJoins].join(" ")} ${order})
     TO ${quoteText(output)} ${format}`,
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

/** Returns a table with `arrival#`, the columns and the features of a view's rows. */
function featuresOf({ definition }: ViewVersion, view: string): string {
  const { plan } = compileFeatures(definition);
  if (plan === undefined) return view;
  return `(${selectFeatures(plan, duckdb, `${view} AS view`, ["arrival#", ...Object.keys(definition.columns)])})`;
}

/** A value that a replay holds as a number. */
interface NumberColumn {
  readonly name: string;
  /** SQL of the number; NaN for a missing value, which no column has otherwise. */
  readonly number: string;
  /** Returns SQL of the value from that of the number. */
  restored(number: string): string;
}

/** Returns the features of a view that are numbers, and those that are texts. With texts, `arrival#` is a number too. */
function partsOf({ definition, features }: ViewVersion) {
  const ownColumns = new Set(compileFeatures(definition).columns);
  const texts = features.filter(({ type }) => type === "string").map(({ name }) => name);
  const numbers = features.flatMap(({ name, type }): readonly NumberColumn[] => {
    if (type === "string") return [];
    const column = quoteName(name);
    const value =
      type === "timestamp" ? `epoch_ms(${column})` : type === "bool" ? `CAST(${column} AS INTEGER)` : column;
    // The result of a step is an INTEGER or a DOUBLE.
    const target = type === "int" && !ownColumns.has(name) ? "INTEGER" : canonicalTypes[type];
    return [
      {
        name,
        number: `coalesce(CAST(${value} AS DOUBLE), ${missing})`,
        restored: (number) => {
          const known = `CASE WHEN NOT isnan(${number}) THEN ${number} END`;
          return type === "timestamp" ? `epoch_ms(CAST(${known} AS BIGINT))` : `CAST(${known} AS ${target})`;
        },
      },
    ];
  });
  if (texts.length === 0) return { numbers, texts };
  const arrival = { name: "arrival#", number: 'CAST("arrival#" AS DOUBLE)', restored: (number: string) => number };
  return { numbers: [arrival, ...numbers], texts };
}

const missing = "CAST('NaN' AS DOUBLE)";
const rowsPerChunk = 2_048;
const searchesAtOnce = 2;
/** Values of a column and row group up to which Parquet has a dictionary. Larger ones save few bytes and cost time. */
const maxDictionary = 2_000;

/** Stores a table with a row for each label, in their order. @param values `[rows, names]` */
async function storeFound(
  session: DuckDbSession,
  table: string,
  names: readonly string[],
  rows: number,
  values: Float64Array,
): Promise<void> {
  // A table has a column, also for a view without features.
  const columns = names.length === 0 ? ["none"] : names;
  await session.run(
    `CREATE OR REPLACE TEMP TABLE ${table} (${columns.map((name) => `${quoteName(name)} DOUBLE`).join(", ")})`,
  );
  const appender = await session.connection.createAppender(table, null, "temp");
  for (let first = 0; first < rows; first += rowsPerChunk) {
    const count = Math.min(rowsPerChunk, rows - first);
    const chunk = DuckDBDataChunk.create(
      columns.map(() => DOUBLE),
      count,
    );
    for (let index = 0; index < columns.length; index += 1) {
      const vector = chunk.getColumnVector(index);
      if (names.length > 0) writeVector(vector, count, values, first * names.length + index, names.length);
      vector.flush();
    }
    appender.appendDataChunk(chunk);
  }
  appender.closeSync();
}

/** A function of its own, because a loop in an asynchronous function is slow. */
function writeVector(vector: DuckDBVector, count: number, values: Float64Array, from: number, width: number): void {
  for (let row = 0, at = from; row < count; row += 1, at += width) vector.setItem(row, values[at]!);
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

/** Finds the values of a view for each row of `labels`. @returns `[labels, numbers]` by `label#` */
async function findValues(
  session: DuckDbSession,
  version: ViewVersion,
  view: string,
  isOrdered: boolean,
  labels: OrderedLabels,
): Promise<Float64Array> {
  const { ttl, eventTime, creationTime, entities, columns: types } = version.definition;
  const { numbers } = partsOf(version);
  const event = `CAST(epoch_ms(${quoteName(eventTime!)}) AS DOUBLE)`;
  const creation =
    creationTime === undefined ? event : `coalesce(CAST(epoch_ms(${quoteName(creationTime)}) AS DOUBLE), ${event})`;
  const columns = [
    keyOf(entities.map((name) => ({ column: name, type: types[name]! }))),
    event,
    ...(creationTime === undefined ? [] : [creation]),
    // The later of two equal rows counts, so rows in the order of their arrival need no number.
    ...(isOrdered ? [] : ['CAST("arrival#" AS DOUBLE)']),
    ...numbers.map(({ number }) => number),
  ];
  const order = isOrdered ? "" : `ORDER BY ${creationTime === undefined ? event : `greatest(${event}, ${creation})`}`;
  const replay = new Replay(labels, numbers.length, ttl === undefined ? undefined : durationMs(ttl));
  const connection = await session.connect();
  try {
    for await (const { keys, numbers } of readChunks(
      connection,
      `SELECT ${columns.join(", ")} FROM ${view} ${order}`,
    )) {
      const [events, ...values] = numbers;
      const creations = creationTime === undefined ? undefined : values.shift();
      const arrivals = isOrdered ? undefined : values.shift();
      replayRows(replay, labels.numbers, { keys, events: events!, creations, arrivals, values });
    }
  } catch (error) {
    if (!(error instanceof OrderError)) throw error;
    return await findValues(session, version, view, false, labels);
  } finally {
    connection.closeSync();
  }
  return replay.end();
}

interface ViewColumns {
  readonly keys: ArrayLike<unknown>;
  readonly events: Float64Array;
  /** Absent: rows were known at their event time. */
  readonly creations: Float64Array | undefined;
  /** Absent: rows come in the order of their arrival. */
  readonly arrivals: Float64Array | undefined;
  readonly values: readonly Float64Array[];
}

/** Replays the rows of a chunk. A loop in a function of its own, because one in an asynchronous function is slow. */
function replayRows(
  replay: Replay,
  numbers: EntityNumbers,
  { keys, events, creations = events, arrivals, values }: ViewColumns,
): void {
  const { latest } = replay;
  for (let row = 0; row < events.length; row += 1) {
    const entity = numbers.of(keys[row]);
    if (!replay.add(entity, events[row]!, creations[row]!, arrivals === undefined ? 0 : arrivals[row]!)) continue;
    const at = replay.at(entity);
    for (let k = 0; k < values.length; k += 1) latest[at + k] = values[k]![row]!;
  }
}

interface OrderedLabels extends Labels {
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
async function* readChunks(
  connection: DuckDbSession["connection"],
  sql: string,
): AsyncGenerator<{ readonly keys: ArrayLike<unknown>; readonly numbers: readonly Float64Array[] }> {
  const result = await connection.stream(sql);
  let next = result.fetchChunk();
  try {
    for (;;) {
      const chunk = await next;
      if (chunk === null || chunk.rowCount === 0) return;
      // DuckDB makes the next chunk while this one is processed.
      next = result.fetchChunk();
      const numbers = Array.from({ length: chunk.columnCount - 1 }, (_, index) => numbersIn(chunk, index + 1));
      const first = chunk.getColumnVector(0);
      const keys =
        first.type.typeId === DuckDBTypeId.DOUBLE
          ? numbersIn(chunk, 0)
          : Array.from({ length: chunk.rowCount }, (_, row) => first.getItem(row));
      yield { keys, numbers };
    }
  } finally {
    // The caller may close the connection, which must have no open call.
    await next;
  }
}

/** Returns the expression of an entity's value: a number for one whole number, NaN if it is missing; otherwise text. */
function keyOf(columns: readonly { readonly column: string; readonly type: string }[]): string {
  const [first] = columns;
  if (columns.length === 1) {
    const name = quoteName(first!.column);
    if (first!.type !== "int" && first!.type !== "timestamp") return `CAST(${name} AS VARCHAR)`;
    return `coalesce(CAST(${first!.type === "int" ? name : `epoch_ms(${name})`} AS DOUBLE), ${missing})`;
  }
  const names = columns.map(({ column }) => quoteName(column));
  const lacksOne = names.map((name) => `${name} IS NULL`).join(" OR ");
  // A list as JSON keeps ("a", "b,c") apart from ("a,b", "c").
  const text = `CAST(to_json([${names.map((name) => `CAST(${name} AS VARCHAR)`).join(", ")}]) AS VARCHAR)`;
  return `CASE WHEN NOT (${lacksOne}) THEN ${text} END`;
}
