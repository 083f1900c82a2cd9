import type { Page } from "../datasets/repository";
import type { Batch, Position, RowsState, ViewSummary, ViewVersion } from "./shapes";
import type { WindowRow } from "./windows";

export interface PageQuery {
  readonly limit: number;
  readonly nextToken?: string | undefined;
}

/** The port to a team's feature views; docs/access-patterns.md, "Feature store". */
export interface ViewRepository {
  /** Writes the version after `latest`; returns false if the newest version is another one. */
  register(version: ViewVersion): Promise<boolean>;
  find(name: string, version: number): Promise<ViewVersion | undefined>;
  findByDigest(name: string, digest: string): Promise<ViewVersion | undefined>;
  findNewest(name: string): Promise<ViewVersion | undefined>;
  /** Returns a version that is the newest, or was some seconds ago: online reads must not cost two more reads. */
  findRecent(name: string): Promise<ViewVersion | undefined>;
  list(query: PageQuery): Promise<Page<ViewSummary>>;
  listVersions(name: string, query: PageQuery): Promise<Page<ViewVersion>>;
}

/** The rows of one generation of a view. */
export interface RowsKey {
  readonly name: string;
  readonly generation: number;
}

/** The port to the batches of rows of views, in their order of arrival. */
export interface BatchLog {
  /**
   * Makes a batch visible, with the next sequence. Returns the batch that has the same digest, if there is one.
   *
   * @throws FEATURE_VIEW_BUSY
   */
  append(rows: RowsKey, batch: Omit<Batch, "sequence">): Promise<{ readonly created: boolean; readonly batch: Batch }>;
  state(rows: RowsKey): Promise<RowsState>;
  /** Lists batches after a sequence, in their order. */
  list(rows: RowsKey, query: PageQuery & { readonly after: number }): Promise<Page<Batch>>;
  /** Moves the position of the online store; returns false if it is no longer `from`. */
  advance(rows: RowsKey, from: Position, to: Position): Promise<boolean>;
}

/** The latest row of an entity, as the online store has it. */
export interface LatestRow {
  /** Identifies the entity: `entityKey`. */
  readonly key: string;
  /** `orderOf` of the row. */
  readonly order: string;
  /** Milliseconds since the epoch. */
  readonly eventTime: number;
  /** Values of all columns by name; times in milliseconds. */
  readonly values: Readonly<Record<string, string | number | boolean | null>>;
}

export interface OnlineStore {
  /** Stores each row unless the entity has a later one. Idempotent, in any order. */
  put(rows: RowsKey, latest: readonly LatestRow[]): Promise<void>;
  get(rows: RowsKey, keys: readonly string[]): Promise<readonly (LatestRow | undefined)[]>;
  /** Stores rows for windows, at least for `keptMs` from their event time on. Idempotent. */
  putWindowRows(rows: RowsKey, windowRows: readonly WindowRow[], keptMs: number): Promise<void>;
  /** Returns the entity's rows whose event time is at least `since`, the latest first: at most `limit`. */
  getWindowRows(rows: RowsKey, key: string, since: number, limit: number): Promise<readonly WindowRow[]>;
}

/** Reads the latest row of each entity from a stored file, some rows at a time. */
export type ReadLatest = (version: ViewVersion, batch: Batch, file: number) => AsyncIterable<readonly LatestRow[]>;

/** Reads the rows of a stored file for windows, some at a time: those whose event time is at least `since`. */
export type ReadWindowRows = (
  version: ViewVersion,
  batch: Batch,
  file: number,
  since: number,
) => AsyncIterable<readonly WindowRow[]>;

export interface BatchReader {
  readonly readLatest: ReadLatest;
  readonly readWindowRows: ReadWindowRows;
}

export interface FeatureRows {
  readonly at: string;
  readonly team: string;
  readonly view: string;
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

export interface ViewDue {
  readonly at: string;
  readonly team: string;
  readonly view: string;
}

/** The port to EventBridge. */
export interface ViewEvents {
  /** Resolves when the event was accepted. */
  publishFeatureRows(event: FeatureRows): Promise<void>;
  publishViewDue(event: ViewDue): Promise<void>;
}
