import { join } from "node:path";
import { type FoundRows, type Labels, Replay } from "../../core/feature-store/replay";
import { sortAscending } from "../../core/feature-store/time-order";
import { type ViewWindows, WindowReplay } from "../../core/feature-store/windows";
import { EntityNumbers } from "./entity-numbers";
import { copyNumbers, rowsPerChunk } from "./number-columns";
import { visitChunks } from "./scalar-functions";
import { type DuckDbSession, quoteName, quoteText } from "./session";
import { windowSql } from "./view-rows";

/** Labels with the numbers of their entities. Their places are those in the file. The arrays are in shared memory. */
export interface EntityLabels extends Labels {
  readonly numbers: EntityNumbers;
}

/** An enumeration of texts, which a DuckDB creates from a Parquet file. */
export interface Enumeration {
  readonly name: string;
  readonly file: string;
}

/** A search of a view, as plain data. */
export interface Search {
  /** SQL of the entity's number (`Keys`). */
  readonly key: string;
  /** Enumeration that the SQL of `key` needs. The thread that reads the labels has it. */
  readonly enumeration?: Enumeration | undefined;
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
  /** Whether the rows probably lie in the order in which they became available. False for a view with windows. */
  readonly isOrdered: boolean;
  /** The view's windows, which are further values of each label. */
  readonly windows?: ViewWindows | undefined;
}

/**
 * Finds the values of a view's row for each label. Reads rows before the labels are known, and keeps them until then.
 *
 * @param session DuckDB with one thread, which reads rows in their order
 */
export async function findValues(
  session: Pick<DuckDbSession, "connect">,
  search: Search,
  labels: Promise<EntityLabels>,
): Promise<FoundRows> {
  const { key, event, creation, ttlMs, view, viewRows, values, isOrdered, windows } = search;
  const width = values.length;
  const columns = [
    ...[key, event],
    ...(creation === undefined ? [] : [creation]),
    ...(isOrdered ? [] : ['CAST("arrival#" AS DOUBLE)']),
  ];
  const order = isOrdered ? "" : `ORDER BY ${creation === undefined ? event : `greatest(${event}, ${creation})`}`;
  const windowed = windows?.columns.map(windowSql) ?? [];
  const query = `SELECT ${[...columns, ...values, ...windowed].join(", ")} FROM ${view} ${order}`;
  const entities = new Int32Array(rowsPerChunk);
  // Arrays that are made once: DuckDB's chunks are many, and each array costs the collector of garbage.
  const read = roomFor(columns.length, width, windowed.length);
  let known: { readonly replay: Replay; readonly numbers: EntityNumbers; readonly labels: Labels } | undefined;
  const windowReplay = windows && new WindowReplay(windows);
  const early: RowsRead[] = [];
  let isInOrder = true;
  const add = ({ count, numbers, wanted, ofWindows }: RowsRead) => {
    if (known === undefined || !isInOrder) return;
    const { replay, numbers: ofEntities } = known;
    const [keys, eventTimes, ...rest] = numbers as [Float64Array, Float64Array, ...Float64Array[]];
    const creationTimes = creation === undefined ? undefined : rest.shift();
    ofEntities.ofAll(keys, count, entities);
    replay.values.set(count === rowsPerChunk ? wanted : wanted.subarray(0, count * width), replay.room(count) * width);
    isInOrder = replay.add({ count, entities, eventTimes, creationTimes, arrivals: rest[0] });
    windowReplay?.add({ count, entities, eventTimes, creationTimes, arrivals: rest[0]! }, ofWindows);
  };
  const starting = labels.then(({ numbers, ...some }) => {
    known = { replay: new Replay(some, viewRows, width, ttlMs), numbers, labels: some };
    for (const rows of early.splice(0)) add(rows);
    return known;
  });
  // Rows are of no use without labels.
  starting.catch(() => {
    isInOrder = false;
  });
  const connection = await session.connect();
  try {
    await visitChunks(connection, query, columns.length + width + windowed.length, (chunk) => {
      if (!isInOrder) return;
      const { numbers, wanted, ofWindows } =
        known === undefined ? roomFor(columns.length, width, windowed.length) : read;
      for (const [index, column] of numbers.entries()) copyNumbers(chunk, index, column);
      for (let k = 0; k < width; k += 1) copyNumbers(chunk, columns.length + k, wanted, k, width);
      for (let k = 0; k < windowed.length; k += 1) {
        copyNumbers(chunk, columns.length + width + k, ofWindows, k, windowed.length);
      }
      const rows = { count: chunk.rowCount, numbers, wanted, ofWindows };
      if (known === undefined) early.push(rows);
      else add(rows);
    });
  } finally {
    connection.closeSync();
  }
  const started = await starting;
  if (!isInOrder) return findValues(session, { ...search, isOrdered: false }, labels);
  const found = started.replay.end();
  return windowReplay ? windowReplay.extend(found, started.labels) : found;
}

/** Rows of a chunk. */
interface RowsRead {
  readonly count: number;
  /** Columns of keys and times. */
  readonly numbers: readonly Float64Array[];
  /** Values, one row after another. */
  readonly wanted: Float64Array;
  /** Numbers for windows, one row after another. */
  readonly ofWindows: Float64Array;
}

function roomFor(columns: number, width: number, windowed: number) {
  const numbers = Array.from({ length: columns }, () => new Float64Array(rowsPerChunk));
  const [wanted, ofWindows] = [width, windowed].map((count) => new Float64Array(rowsPerChunk * count)) as [
    Float64Array,
    Float64Array,
  ];
  return { numbers, wanted, ofWindows };
}

/**
 * Reads the labels.
 *
 * @param keys SQL of the entities' numbers (`Keys`)
 * @returns the labels with the entities of each key
 */
export async function readLabels(
  session: DuckDbSession,
  rows: number,
  keys: readonly string[],
): Promise<readonly EntityLabels[]> {
  const times = new Float64Array(rows);
  const entities = keys.map(() => ({ numbers: new EntityNumbers(), ofLabels: new Int32Array(rows) }));
  const read = new Float64Array(rowsPerChunk);
  const [entitiesRead, labelsRead] = [new Int32Array(rowsPerChunk), new Int32Array(rowsPerChunk)];
  const columns = ['"label#"', '"at#"', ...keys].map((column) => `CAST(${column} AS DOUBLE)`);
  await visitChunks(session.connection, `SELECT ${columns.join(", ")} FROM labels`, columns.length, (chunk) => {
    const count = chunk.rowCount;
    copyNumbers(chunk, 0, labelsRead);
    copyNumbers(chunk, 1, read);
    scatter(read, count, labelsRead, times);
    for (const [index, { numbers, ofLabels }] of entities.entries()) {
      copyNumbers(chunk, 2 + index, read);
      numbers.addAll(read, count, entitiesRead);
      scatter(entitiesRead, count, labelsRead, ofLabels);
    }
  });
  const { numbers: sorted, places } = sortAscending(times);
  return entities.map(({ numbers, ofLabels }) => ({
    ...{ numbers, entityCount: numbers.count, entities: gather(ofLabels, places), times: sorted, places },
  }));
}

/** A function of its own, because a loop in an asynchronous function is slow. */
function gather(entities: Int32Array, places: Uint32Array): Int32Array {
  const gathered = new Int32Array(new SharedArrayBuffer(entities.byteLength));
  for (let at = 0; at < gathered.length; at += 1) gathered[at] = entities[places[at]!]!;
  return gathered;
}

function scatter<To extends Float64Array | Int32Array>(from: To, count: number, places: Int32Array, to: To): void {
  for (let at = 0; at < count; at += 1) to[places[at]!] = from[at]!;
}

/** Columns of an entity. */
export type KeyColumns = readonly { readonly column: string; readonly type: string }[];

/** SQL of an entity as a number of type DOUBLE. It is NULL where the entity is missing, or is a text that no label has. */
export interface Keys {
  of(columns: KeyColumns): string;
  readonly enumeration?: Enumeration | undefined;
  /** Whether only this session can have the enumeration. */
  readonly isLocal: boolean;
}

/** Texts of an enumeration up to which each thread has its own. A text takes about 100 bytes. */
const maxSharedTexts = 1 << 20;

/**
 * Returns the expressions of entities' numbers: one whole number is itself. Otherwise the texts of all labels become an
 * enumeration of DuckDB, which has a number for each, and finds it in less time than JavaScript takes to read the text.
 *
 * @param columns of the table `labels`
 * @param name of the enumeration
 */
export async function createKeys(session: DuckDbSession, columns: KeyColumns, name: string): Promise<Keys> {
  if (columns.length === 1) {
    const [{ type: only }] = columns as readonly [KeyColumns[number]];
    if (only === "int") return { isLocal: false, of: ([one]) => `CAST(${quoteName(one!.column)} AS DOUBLE)` };
    if (only === "timestamp") {
      return { isLocal: false, of: ([one]) => `CAST(epoch_ms(${quoteName(one!.column)}) AS DOUBLE)` };
    }
  }
  const text = textOf(columns);
  const file = join(session.directory, `${name}.parquet`);
  await session.run(
    `COPY (SELECT DISTINCT ${text} AS text FROM labels WHERE ${text} IS NOT NULL) TO ${quoteText(file)} (FORMAT parquet)`,
  );
  await createEnumeration(session, { name, file });
  const [found] = await session.rows(`SELECT count(*)::DOUBLE AS "texts#" FROM ${quoteText(file)}`);
  return {
    enumeration: { name, file },
    isLocal: Number(found!["texts#"]) > maxSharedTexts,
    of: (some) => `CAST(enum_code(TRY_CAST(${textOf(some)} AS ${name})) AS DOUBLE)`,
  };
}

/**
 * Creates the enumeration, and removes that of an earlier join, which may still be in the session's files. The texts have
 * the same numbers in each session.
 */
export async function createEnumeration(session: DuckDbSession, { name, file }: Enumeration): Promise<void> {
  await session.run(`DROP TYPE IF EXISTS ${name}`);
  await session.run(`CREATE TYPE ${name} AS ENUM (SELECT text FROM ${quoteText(file)})`);
}

function textOf(columns: KeyColumns): string {
  const texts = columns.map(({ column }) => `CAST(${quoteName(column)} AS VARCHAR)`);
  if (texts.length === 1) return texts[0]!;
  const missing = columns.map(({ column }) => `${quoteName(column)} IS NULL`).join(" OR ");
  // A list as JSON keeps ("a", "b,c") apart from ("a,b", "c").
  return `CASE WHEN NOT (${missing}) THEN CAST(to_json([${texts.join(", ")}]) AS VARCHAR) END`;
}
