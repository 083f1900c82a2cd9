import type { ContentReference } from "./shapes";

export type { ContentReference } from "./shapes";

/** Time, passed in so that tests own it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}

/** The bucket. Keys are made by `core/object-keys.ts` alone. */
export interface ObjectStore {
  /** Whole object; rejects with `ObjectNotFoundError`. */
  get(key: string): Promise<Uint8Array>;
  /** `undefined` where there is none. */
  find(key: string): Promise<Uint8Array | undefined>;
  /** Bytes `[start, start + length)`; shorter at the object's end. */
  getRange(key: string, start: number, length: number): Promise<Uint8Array>;
  /** Size in bytes, `undefined` where there is none. */
  size(key: string): Promise<number | undefined>;
  put(key: string, body: Uint8Array | string, contentType?: string): Promise<void>;
  /** Creates exactly once (`If-None-Match: *`); false where the object was there already. */
  putNew(key: string, body: Uint8Array | string, contentType?: string): Promise<boolean>;
  /**
   * Stores by content; returns the lowercase hex SHA-256. Sends nothing where the content is there already, and replaces what has its name
   * and other bytes.
   */
  putContent(body: Uint8Array | string, contentType?: string): Promise<ContentReference>;
  /**
   * `putContent` of a body that need not fit in memory: `open` is called once to find its digest and, where the content is not there
   * yet, once more to send it. Both must give the same bytes; else nothing becomes visible. A chunk is read before the next is asked for.
   */
  putContentStream(open: () => AsyncIterable<Uint8Array>, contentType?: string): Promise<ContentReference>;
  /**
   * Whether the content itself is there: an object of its name whose bytes are damaged or others is not it. Reads the object where the store
   * has no checksum of all its bytes; `by-checksum` relies on the store's checksum of its parts instead.
   */
  hasContent(reference: ContentReference, how?: "by-checksum"): Promise<boolean>;
  /** Fetches by content and checks the digest; rejects with `CorruptObjectError` on a difference. */
  getContent(sha256: string): Promise<Uint8Array>;
  /** Keys under a prefix, in lexical order. */
  list(prefix: string): Promise<readonly string[]>;
  delete(key: string): Promise<void>;
}
