import { type Labels, Replay, sharedNumbers } from "../../core/feature-store/replay";
import { ascendingOrder } from "../../core/feature-store/time-order";
import { EntityNumbers } from "./entity-numbers";
import { copyNumbers, numbersIn } from "./number-columns";
import { visitChunks } from "./scalar-functions";
import { type DuckDbSession, quoteName } from "./session";

/** Rows of DuckDB's chunks, at most. */
const rowsPerChunk = 2_048;

/** Labels with the numbers of their entities. The arrays are in shared memory. */
export interface EntityLabels extends Labels {
  readonly numbers: EntityNumbers;
  /** Number of each label in the file, from 0, in the order of times. */
  readonly order: Uint32Array;
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
 * Finds the row of a view for each label.
 *
 * @param session DuckDB with one thread, which reads rows in their order
 * @returns columns of its values, by the number of the label; NaN for a missing value, and for a label without a row
 */
export async function findValues(
  session: Pick<DuckDbSession, "connect">,
  search: Search,
  labels: EntityLabels,
): Promise<readonly Float64Array[]> {
  const { key, event, creation, ttlMs, view, viewRows, values, isOrdered } = search;
  const columns = [
    ...[key, event],
    ...(creation === undefined ? [] : [creation]),
    ...(isOrdered ? [] : ['CAST("arrival#" AS DOUBLE)']),
  ];
  const order = isOrdered ? "" : `ORDER BY ${creation === undefined ? event : `greatest(${event}, ${creation})`}`;
  const replay = new Replay(labels, viewRows, values.length, ttlMs);
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
    await visitChunks(connection, query, columns.length + values.length, (chunk) => {
      if (!isInOrder) return;
      const count = chunk.rowCount;
      for (let index = 0; index < columns.length; index += 1) copyNumbers(chunk, index, numbers[index]!, 0);
      labels.numbers.ofAll(keys!, count, entities);
      const first = replay.room(count);
      for (const [k, column] of replay.values.entries()) copyNumbers(chunk, columns.length + k, column, first);
      isInOrder = replay.add({ count, ...rows });
    });
  } finally {
    connection.closeSync();
  }
  if (!isInOrder) return findValues(session, { ...search, isOrdered: false }, labels);
  replay.end();
  return valuesByLabel(replay, labels.order);
}

function valuesByLabel({ values, found }: Replay, order: Uint32Array): readonly Float64Array[] {
  const rows = new Int32Array(found.length);
  for (let at = 0; at < found.length; at += 1) rows[order[at]!] = found[at]!;
  return values.map((column) => valuesOf(column, rows));
}

/** A function of its own for one type of arrays each, which V8 makes twice as fast as for several. */
function valuesOf(column: Float64Array, rows: Int32Array): Float64Array {
  const values = sharedNumbers(rows.length);
  for (let label = 0; label < rows.length; label += 1) values[label] = column[rows[label]!]!;
  return values;
}

/** Reads the labels. @param key SQL of the entity's number (`Keys`) */
export async function readLabels(session: DuckDbSession, rows: number, key: string): Promise<EntityLabels> {
  const [entities, times] = [new Int32Array(rows), new Float64Array(rows)];
  const numbers = new EntityNumbers();
  const read = new Int32Array(rowsPerChunk);
  const query = `SELECT ${key}, CAST(rowid AS DOUBLE), CAST("at#" AS DOUBLE) FROM labels`;
  await visitChunks(session.connection, query, 3, (chunk) => {
    const labels = numbersIn(chunk, 1);
    numbers.addAll(numbersIn(chunk, 0), chunk.rowCount, read);
    scatter(read, labels, entities);
    scatter(numbersIn(chunk, 2), labels, times);
  });
  const order = new Uint32Array(new SharedArrayBuffer(rows * Uint32Array.BYTES_PER_ELEMENT));
  order.set(ascendingOrder(times));
  return {
    ...{ order, numbers, entityCount: numbers.count },
    entities: gather(entities, order, new Int32Array(new SharedArrayBuffer(entities.byteLength))),
    times: gather(times, order, sharedNumbers(rows)),
  };
}

type Values = Float64Array | Int32Array;
type Places = Float64Array | Int32Array | Uint32Array;

/** A function of its own, because a loop in an asynchronous function is slow. */
function gather<To extends Values>(from: Values, places: Places, to: To): To {
  for (let at = 0; at < places.length; at += 1) to[at] = from[places[at]!]!;
  return to;
}

function scatter<To extends Values>(from: To, places: Places, to: To): void {
  for (let at = 0; at < places.length; at += 1) to[places[at]!] = from[at]!;
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
