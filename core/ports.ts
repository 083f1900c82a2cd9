import type { ContentReference } from "./shapes";

/** The time, passed in so that tests control it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}

/** The port to the bucket. Keys are built only by `core/object-keys.ts`. */
export interface ObjectStore {
  /** Reads a whole object; rejects with `ObjectNotFoundError`. */
  get(key: string): Promise<Uint8Array>;
  /** Reads a whole object; `undefined` if there is none. */
  find(key: string): Promise<Uint8Array | undefined>;
  /** Reads bytes `[start, start + length)`; fewer at the object's end. */
  getRange(key: string, start: number, length: number): Promise<Uint8Array>;
  /** Returns the size in bytes; `undefined` if there is no object. */
  size(key: string): Promise<number | undefined>;
  put(key: string, body: Uint8Array | string, contentType?: string): Promise<void>;
  /** Creates an object exactly once (`If-None-Match: *`); returns false if it already exists. */
  putNew(key: string, body: Uint8Array | string, contentType?: string): Promise<boolean>;
  /**
   * Stores by content; returns the lower-case hex SHA-256. Sends nothing if the content exists, and replaces an object
   * with its name and other bytes.
   */
  putContent(body: Uint8Array | string, contentType?: string): Promise<ContentReference>;
  /**
   * Like `putContent`, for a body that need not fit in memory. `open` is called once to compute the digest and, if the
   * content does not exist yet, once more to send it. Both must give the same bytes; otherwise nothing becomes visible.
   * Each chunk is read before the next is requested.
   */
  putContentStream(open: () => AsyncIterable<Uint8Array>, contentType?: string): Promise<ContentReference>;
  /**
   * Tests whether the content exists. An object of its name with damaged or other bytes does not count. Reads the
   * object if the store has no checksum of all its bytes; `by-checksum` relies on the store's checksum of its parts
   * instead.
   */
  hasContent(reference: ContentReference, how?: "by-checksum"): Promise<boolean>;
  /** Reads by content and verifies the digest; rejects with `CorruptObjectError` if it differs. */
  getContent(sha256: string): Promise<Uint8Array>;
  /** Lists keys under a prefix, in lexical order. */
  list(prefix: string): Promise<readonly string[]>;
  delete(key: string): Promise<void>;
}

/** Returns the time as ISO 8601 in UTC with milliseconds; lexical order is the order of time. */
export function isoTime(clock: Clock): string {
  return new Date(clock.now()).toISOString();
}

/** A file on the client's disk, or bytes in its memory. */
export type UploadSource = { readonly path: string } | { readonly bytes: Uint8Array };

/** The port to the content store for a client's uploads. Content that the store has is never sent. */
export interface UploadPort {
  /** Returns the digests of content that the store lacks. */
  missing(references: readonly ContentReference[]): Promise<readonly string[]>;
  put(reference: ContentReference, source: UploadSource): Promise<void>;
}
