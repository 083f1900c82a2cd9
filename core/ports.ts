import type { ContentReference } from "./shapes";

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}

/** The port to the bucket. Keys are built only by `core/object-keys.ts`. */
export interface ObjectStore {
  /** Reads a whole object; rejects with `ObjectNotFoundError`. */
  get(key: string): Promise<Uint8Array>;
  /** Reads an object, if there is one. Rejects with `CorruptObjectError`, unread, if it is larger than `maxBytes`. */
  find(key: string, maxBytes?: number): Promise<Uint8Array | undefined>;
  /** Reads bytes `[start, start + length)`; fewer at the object's end. */
  getRange(key: string, start: number, length: number): Promise<Uint8Array>;
  /** Returns the size in bytes; `undefined` if there is no object. */
  size(key: string): Promise<number | undefined>;
  put(key: string, body: Uint8Array | string, contentType?: string): Promise<void>;
  /** Creates an object exactly once (`If-None-Match: *`); returns false if it already exists. */
  putNew(key: string, body: Uint8Array | string, contentType?: string): Promise<boolean>;
  /**
   * Stores by content; returns the lower-case hex SHA-256. Sends nothing if the content exists, and replaces an object
   * with its name and other bytes. Reclamation leaves the content alone for a day.
   */
  putContent(body: Uint8Array | string, contentType?: string): Promise<ContentReference>;
  /**
   * Like `putContent`, for a body that need not fit in memory. `open` is called once to compute the digest and, if the
   * content does not exist yet, once more to send it. Both must give the same bytes; otherwise nothing becomes visible.
   * Each chunk is read before the next is requested.
   */
  putContentStream(
    open: () => AsyncIterable<Uint8Array>,
    contentType?: string,
    place?: ContentPlace,
  ): Promise<ContentReference>;
  /**
   * Tests whether the content exists, under its name or under `key`. An object with damaged or other bytes does not
   * count. Reads the object if the store has no checksum of all its bytes; `by-checksum` relies on the store's checksum
   * of its parts instead.
   */
  hasContent(reference: ContentReference & { readonly key?: string }, how?: "by-checksum"): Promise<boolean>;
  /**
   * Returns the size of content to which the caller will refer; `undefined` if it is missing. Reclamation leaves it alone
   * for a day: content that has not been written for a day is written again.
   */
  claimContent(sha256: string): Promise<number | undefined>;
  /** Reads content, under its name or under `key`, and verifies the digest; rejects with `CorruptObjectError`. */
  getContent(sha256: string, key?: string): Promise<Uint8Array>;
  /**
   * Copies content from another key of the team to its name, within the store, unless the content exists. Returns false
   * if the object at that key does not exist or has other bytes.
   */
  copyContent(content: ContentReference, from: string): Promise<boolean>;
  /** Lists keys under a prefix, in lexical order. */
  list(prefix: string): Promise<readonly string[]>;
  delete(key: string): Promise<void>;
  /** Deletes an object permanently: also in a bucket that keeps deleted objects for some days. */
  erase(key: string): Promise<void>;
}

/**
 * Chooses the key of content other than its name. With `stored`, the object at that key has the content, and nothing is
 * sent.
 */
export type ContentPlace = (content: ContentReference) => Promise<{ readonly key: string; readonly stored: boolean }>;

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
