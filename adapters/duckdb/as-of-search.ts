import { type Labels, Replay } from "../../core/feature-store/replay";
import { sortAscending } from "../../core/feature-store/time-order";
import { EntityNumbers } from "./entity-numbers";
import { copyNumbers, rowsPerChunk } from "./number-columns";
import { visitChunks } from "./scalar-functions";
import { type DuckDbSession, quoteName } from "./session";

/** Labels with the numbers of their entities. Their places are those in the file. The arrays are in shared memory. */
export interface EntityLabels extends Labels {
  readonly numbers: EntityNumbers;
}

/** Values that a search has found, one label after another. NaN: a missing value, or a label without a row. */
export interface FoundValues {
  readonly width: number;
  readonly values: Float64Array;
}

/** A search of a view, as plain data. */
export interface Search {
  /** SQL of the entity's number (`Keys`). */
  readonly key: string;
  /** SQL of the event time in milliseconds, of type DOUBLE. */
  readonly event: string;
  /** SQL of the creation time, if the view has one: the event time where it is missing. */
  readonly creation?: string;
  readonly ttlMs?: number;
  /** Table with `arrival#`, the columns and the features of the view's rows. */
  readonly view: string;
  readonly viewRows: number;
  /** SQL of the values that are wanted, of type DOUBLE. */
  readonly values: readonly string[];
  /** Whether the rows probably lie in the order in which they became available. */
  readonly isOrdered: boolean;
}

/**
 * Finds the values of a view's row for each label.
 *
 * @param session DuckDB with one thread, which reads rows in their order
 */
export async function findValues(
  session: Pick<DuckDbSession, "connect">,
  search: Search,
  labels: EntityLabels,
): Promise<FoundValues> {
  const { key, event, creation, ttlMs, view, viewRows, values, isOrdered } = search;
  const width = values.length;
  const columns = [
    ...[key, event],
    ...(creation === undefined ? [] : [creation]),
    ...(isOrdered ? [] : ['CAST("arrival#" AS DOUBLE)']),
  ];
  const order = isOrdered ? "" : `ORDER BY ${creation === undefined ? event : `greatest(${event}, ${creation})`}`;
  const replay = new Replay(labels, viewRows, width, ttlMs);
  const entities = new Int32Array(rowsPerChunk);
  // Arrays that are made once: DuckDB's chunks are many, and each array costs the collector of garbage.
  const numbers = columns.map(() => new Float64Array(rowsPerChunk));
  const [keys, eventTimes, ...rest] = numbers;
  const creationTimes = creation === undefined ? undefined : rest.shift();
  const rows = { entities, eventTimes: eventTimes!, creationTimes, arrivals: rest[0] };
  const query = `SELECT ${[...columns, ...values].join(", ")} FROM ${view} ${order}`;
  const connection = await session.connect();
  let isInOrder = true;
  try {
    await visitChunks(connection, query, columns.length + width, (chunk) => {
      if (!isInOrder) return;
      const count = chunk.rowCount;
      for (let index = 0; index < columns.length; index += 1) copyNumbers(chunk, index, numbers[index]!);
      labels.numbers.ofAll(keys!, count, entities);
      const first = replay.room(count) * width;
      for (let k = 0; k < width; k += 1) copyNumbers(chunk, columns.length + k, replay.values, first + k, width);
      isInOrder = replay.add({ count, ...rows });
    });
  } finally {
    connection.closeSync();
  }
  if (!isInOrder) return findValues(session, { ...search, isOrdered: false }, labels);
  replay.end();
  return { width, values: replay.valuesByPlace() };
}

/** Reads the labels. @param key SQL of the entity's number (`Keys`) */
export async function readLabels(session: DuckDbSession, rows: number, key: string): Promise<EntityLabels> {
  const [entities, times] = [new Int32Array(rows), new Float64Array(rows)];
  const numbers = new EntityNumbers();
  const [keys, labels, found] = [0, 1, 2].map(() => new Float64Array(rowsPerChunk));
  const read = new Int32Array(rowsPerChunk);
  const query = `SELECT ${key}, CAST("label#" AS DOUBLE), CAST("at#" AS DOUBLE) FROM labels`;
  await visitChunks(session.connection, query, 3, (chunk) => {
    for (const [column, to] of [keys!, labels!, found!].entries()) copyNumbers(chunk, column, to);
    numbers.addAll(keys!, chunk.rowCount, read);
    scatter(read, found!, chunk.rowCount, labels!, entities, times);
  });
  const { numbers: sorted, places } = sortAscending(times);
  return { places, numbers, entityCount: numbers.count, entities: gather(entities, places), times: sorted };
}

/** A function of its own, because a loop in an asynchronous function is slow. */
function gather(entities: Int32Array, places: Uint32Array): Int32Array {
  const gathered = new Int32Array(new SharedArrayBuffer(entities.byteLength));
  for (let at = 0; at < gathered.length; at += 1) gathered[at] = entities[places[at]!]!;
  return gathered;
}

/** Writes entities and times to the places of their labels. */
function scatter(
  entities: Int32Array,
  times: Float64Array,
  count: number,
  labels: Float64Array,
  toEntities: Int32Array,
  toTimes: Float64Array,
): void {
  for (let at = 0; at < count; at += 1) {
    const label = labels[at]!;
    toEntities[label] = entities[at]!;
    toTimes[label] = times[at]!;
  }
}

/** Columns of an entity. */
export type KeyColumns = readonly { readonly column: string; readonly type: string }[];

/** SQL of an entity as a number of type DOUBLE. It is NULL where the entity is missing, or is a text that no label has. */
export interface Keys {
  of(columns: KeyColumns): string;
  /** Whether the SQL needs a type of this session. */
  readonly isLocal: boolean;
}

/**
 * Returns the expressions of entities' numbers: one whole number is itself. Otherwise the texts of all labels become an
 * enumeration of DuckDB, which has a number for each, and finds it in less time than JavaScript takes to read the text.
 *
 * @param columns of the table `labels`
 * @param type name of the enumeration
 */
export async function createKeys(session: DuckDbSession, columns: KeyColumns, type: string): Promise<Keys> {
  if (columns.length === 1) {
    const [{ type: only }] = columns as readonly [KeyColumns[number]];
    if (only === "int") return { isLocal: false, of: ([one]) => `CAST(${quoteName(one!.column)} AS DOUBLE)` };
    if (only === "timestamp") {
      return { isLocal: false, of: ([one]) => `CAST(epoch_ms(${quoteName(one!.column)}) AS DOUBLE)` };
    }
  }
  const text = textOf(columns);
  await session.run(`DROP TYPE IF EXISTS ${type}`);
  await session.run(`CREATE TYPE ${type} AS ENUM (SELECT DISTINCT ${text} FROM labels WHERE ${text} IS NOT NULL)`);
  return { isLocal: true, of: (some) => `CAST(enum_code(TRY_CAST(${textOf(some)} AS ${type})) AS DOUBLE)` };
}

function textOf(columns: KeyColumns): string {
  const texts = columns.map(({ column }) => `CAST(${quoteName(column)} AS VARCHAR)`);
  if (texts.length === 1) return texts[0]!;
  const missing = columns.map(({ column }) => `${quoteName(column)} IS NULL`).join(" OR ");
  // A list as JSON keeps ("a", "b,c") apart from ("a,b", "c").
  return `CASE WHEN NOT (${missing}) THEN CAST(to_json([${texts.join(", ")}]) AS VARCHAR) END`;
}
