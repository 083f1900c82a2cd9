import { teamsPrefix } from "../object-keys";

/** The newest version of an object, in a listing. */
export interface ListedObject {
  /** With the team's prefix. */
  readonly key: string;
  readonly version: string;
  readonly bytes: number;
  /** Milliseconds since the epoch. */
  readonly modified: number;
}

export interface ReclamationObjects {
  /** Lists up to a thousand objects after a key, in lexical order. An empty list is the end. */
  list(after: string): Promise<readonly ListedObject[]>;
  /** Reads an object; `undefined` if it is missing. A caller that stops early reads little more than it has used. */
  read(key: string): Promise<AsyncIterable<Uint8Array> | undefined>;
  has(key: string): Promise<boolean>;
  /** Deletes these versions permanently. A newer version of a key stays. */
  erase(objects: readonly ListedObject[]): Promise<void>;
}

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

type ObjectKind =
  /** Content and tensors, named by their digest. Nothing but a reference to the digest keeps them. */
  | { readonly kind: "content"; readonly digest: string }
  | { readonly kind: "tensors"; readonly digest: string }
  /** A file of the result of a training or of an evaluation by a job. It is no longer needed once its content is in the content store. */
  | { readonly kind: "result-file"; readonly contentKey: string }
  /** Raw files, uploads and the state of reclamation, which refer to nothing. */
  | { readonly kind: "opaque" }
  /** Everything else. It stays, and may refer to content. */
  | { readonly kind: "document" };

const digest = "([0-9a-f]{64})";
const content = new RegExp(`^[^/]+/cas/sha256/${digest}$`);
const tensors = new RegExp(`^[^/]+/runs/[^/]+/tensors/[^/]+/${digest}$`);
const resultFile = new RegExp(`^([^/]+)/(?:runs/[^/]+/training|evaluations/[^/]+)/files/${digest}$`);
const opaque = /^(?:\.|[^/]+\/inbox\/)/;

/** @param key with the team's prefix */
export function kindOf(key: string): ObjectKind {
  if (!key.startsWith(teamsPrefix)) return { kind: "opaque" };
  const name = key.slice(teamsPrefix.length);
  const ofContent = content.exec(name)?.[1];
  if (ofContent !== undefined) return { kind: "content", digest: ofContent };
  const ofTensors = tensors.exec(name)?.[1];
  if (ofTensors !== undefined) return { kind: "tensors", digest: ofTensors };
  const [, team, ofFile] = resultFile.exec(name) ?? [];
  if (ofFile !== undefined) return { kind: "result-file", contentKey: `${teamsPrefix}${team}/cas/sha256/${ofFile}` };
  return { kind: opaque.test(name) ? "opaque" : "document" };
}

export function teamOf(key: string): string | undefined {
  const name = key.startsWith(teamsPrefix) ? key.slice(teamsPrefix.length) : ".";
  return name.startsWith(".") ? undefined : name.slice(0, name.indexOf("/"));
}

const dayMs = 24 * 60 * 60 * 1000;

/**
 * For this long after a writer has stored or found content, reclamation leaves it alone. A writer must store its
 * reference within this time; the slowest ones are functions, which run for 15 minutes at most.
 */
export const claimedMs = dayMs;

/**
 * The age below which reclamation deletes no object. A writer that finds content older than `claimedMs` writes it again.
 * So an object of this age was found by no writer in the last day. The other half is for a writer that has found
 * content just before it became that old.
 */
export const graceMs = 2 * dayMs;
