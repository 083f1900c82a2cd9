import type { DuckDBDataChunk } from "@duckdb/node-api";
import { type FoundRows, Replay } from "../../core/feature-store/replay";
import { type ViewWindows, WindowReplay } from "../../core/feature-store/windows";
import type { Enumeration } from "./as-of-keys";
import type { EntityLabels } from "./as-of-labels";
import { copyNumbers, rowsPerChunk } from "./number-columns";
import { visitChunks } from "./scalar-functions";
import type { DuckDbSession } from "./session";
import { windowSql } from "./view-rows";

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
  const rows = new SearchedRows(search);
  const starting = labels.then((known) => rows.start(known));
  // Rows are of no use without labels.
  starting.catch(() => rows.stop());
  const { query, width } = queryOf(search);
  const connection = await session.connect();
  try {
    await visitChunks(connection, query, width, (chunk) => rows.add(chunk));
  } finally {
    connection.closeSync();
  }
  await starting;
  return rows.end() ?? findValues(session, { ...search, isOrdered: false }, labels);
}

/** Returns the query of the rows: key, times and arrival, then the values, then the columns of windows. */
function queryOf(search: Search) {
  const { event, creation, view, values, isOrdered, windows } = search;
  const columns = [...timeColumns(search), ...values, ...(windows?.columns.map(windowSql) ?? [])];
  const order = isOrdered ? "" : `ORDER BY ${creation === undefined ? event : `greatest(${event}, ${creation})`}`;
  return { query: `SELECT ${columns.join(", ")} FROM ${view} ${order}`, width: columns.length };
}

/** Returns the columns of a row's key, event time, creation time if the view has one, and arrival if rows are sorted. */
function timeColumns({ key, event, creation, isOrdered }: Search): readonly string[] {
  return [
    ...[key, event],
    ...(creation === undefined ? [] : [creation]),
    ...(isOrdered ? [] : ['CAST("arrival#" AS DOUBLE)']),
  ];
}

/** The numbers of a chunk's rows. */
interface ChunkNumbers {
  /** The columns of `timeColumns`. */
  readonly times: readonly Float64Array[];
  /** Values, one row after another. */
  readonly values: Float64Array;
  /** Numbers for windows, one row after another. */
  readonly windows: Float64Array;
}

/** The rows of a view on their way to a replay. They are kept until the labels are known. */
class SearchedRows {
  private readonly times: number;
  private readonly windowColumns: number;
  private readonly early: { readonly count: number; readonly numbers: ChunkNumbers }[] = [];
  private started: { readonly replay: Replay; readonly labels: EntityLabels } | undefined;
  private readonly windowReplay: WindowReplay | undefined;
  /** Whether the rows so far came in order, and there may be labels. Otherwise further rows are of no use. */
  private isOfUse = true;
  // Arrays that are made once: DuckDB's chunks are many, and each array costs the collector of garbage.
  private readonly reused: ChunkNumbers;
  private readonly entities = new Int32Array(rowsPerChunk);

  constructor(private readonly search: Search) {
    this.times = timeColumns(search).length;
    this.windowColumns = search.windows?.columns.length ?? 0;
    this.windowReplay = search.windows && new WindowReplay(search.windows);
    this.reused = this.room();
  }

  private room(): ChunkNumbers {
    return {
      times: Array.from({ length: this.times }, () => new Float64Array(rowsPerChunk)),
      values: new Float64Array(rowsPerChunk * this.search.values.length),
      windows: new Float64Array(rowsPerChunk * this.windowColumns),
    };
  }

  start(labels: EntityLabels): void {
    const { viewRows, values, ttlMs } = this.search;
    this.started = { replay: new Replay(labels, viewRows, values.length, ttlMs), labels };
    for (const { count, numbers } of this.early.splice(0)) this.replay(count, numbers);
  }

  stop(): void {
    this.isOfUse = false;
  }

  add(chunk: DuckDBDataChunk): void {
    if (!this.isOfUse) return;
    const numbers = this.started ? this.reused : this.room();
    const [width, { times, windowColumns }] = [this.search.values.length, this];
    for (const [index, column] of numbers.times.entries()) copyNumbers(chunk, index, column);
    for (let k = 0; k < width; k += 1) copyNumbers(chunk, times + k, numbers.values, k, width);
    for (let k = 0; k < windowColumns; k += 1) {
      copyNumbers(chunk, times + width + k, numbers.windows, k, windowColumns);
    }
    if (this.started) this.replay(chunk.rowCount, numbers);
    else this.early.push({ count: chunk.rowCount, numbers });
  }

  private replay(count: number, { times, values, windows }: ChunkNumbers): void {
    if (!this.started || !this.isOfUse) return;
    const { entities } = this;
    const { replay, labels } = this.started;
    const { width } = replay;
    const [keys, eventTimes, ...rest] = times as [Float64Array, Float64Array, ...Float64Array[]];
    const creationTimes = this.search.creation === undefined ? undefined : rest.shift();
    const [arrivals] = rest;
    labels.numbers.ofAll(keys, count, entities);
    replay.values.set(count === rowsPerChunk ? values : values.subarray(0, count * width), replay.room(count) * width);
    this.isOfUse = replay.add({ count, entities, eventTimes, creationTimes, arrivals });
    this.windowReplay?.add({ count, entities, eventTimes, creationTimes, arrivals: arrivals! }, windows);
  }

  /** Returns what the labels have found; `undefined` if the rows did not come in order. */
  end(): FoundRows | undefined {
    if (!this.started || !this.isOfUse) return undefined;
    const found = this.started.replay.end();
    return this.windowReplay ? this.windowReplay.extend(found, this.started.labels) : found;
  }
}
