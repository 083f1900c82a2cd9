/** The newest version of an object, in a listing. */
export interface ListedObject {
  /** With the team's prefix. */
  readonly key: string;
  readonly version: string;
  readonly bytes: number;
  /** Milliseconds since the epoch. */
  readonly modified: number;
}

/** The objects of all teams. */
export interface ReclamationObjects {
  /** Lists up to a thousand objects after a key, in lexical order. An empty list is the end. */
  list(after: string): Promise<readonly ListedObject[]>;
  /** Reads an object; `undefined` if it is missing. A caller that stops early reads little more than it has used. */
  read(key: string): Promise<AsyncIterable<Uint8Array> | undefined>;
  has(key: string): Promise<boolean>;
  /** Deletes these versions permanently. A newer version of a key stays. */
  erase(objects: readonly ListedObject[]): Promise<void>;
}

/** The rows of all teams that may refer to objects. */
export interface ReclamationRows {
  /** Reads the next rows. The text contains every digest of the rows, also those of compressed attributes. */
  scan(position: string | undefined): Promise<{ readonly text: Uint8Array; readonly next: string | undefined }>;
}

/** Keeps a cycle between two invocations. */
export interface ReclamationMemory {
  load(): Promise<SavedCycle | undefined>;
  /** Saves a state. Returns false if another invocation has saved one since this state was loaded. */
  save(saved: SavedCycle): Promise<boolean>;
}

export type Phase = "rows" | "documents" | "contents" | "sweep" | "done";

export interface Usage {
  readonly objects: number;
  readonly bytes: number;
}

export interface CycleState {
  /** Number of saves. */
  readonly revision: number;
  readonly cycle: number;
  readonly phase: Phase;
  /** The position in the rows, or the last key of the listing. */
  readonly position: string | undefined;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly finishedAt?: number;
  /** References that were found, repetitions included. The next cycle's set of digests has room for as many. */
  readonly references: number;
  /** Objects that nothing refers to. The next cycle deletes those that it finds again. */
  readonly unreferenced: Usage;
  readonly deleted: Usage;
  /** The objects of each team. */
  readonly teams: Readonly<Record<string, Usage>>;
}

export interface SavedCycle {
  readonly state: CycleState;
  /** The bits of the set of digests that something refers to. */
  readonly marks: Uint8Array;
  /**
   * References of objects that do not change, by an id of the object: digests without separators. `known` is from the
   * previous cycle. `used` is what this cycle has needed, which the next one knows.
   */
  readonly known: ReadonlyMap<string, string>;
  readonly used: ReadonlyMap<string, string>;
  /** Keys of objects that nothing referred to, in the previous cycle and in this one. */
  readonly before: ReadonlySet<string>;
  readonly now: ReadonlySet<string>;
}
