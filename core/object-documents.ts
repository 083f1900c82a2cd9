import { digestOf } from "./digest";
import { RingmasterError } from "./errors";
import type { ObjectStore } from "./ports";

/** Reads a JSON document from the bucket. */
export async function findJson<T>(objects: Pick<ObjectStore, "find">, key: string): Promise<T | undefined> {
  const body = await objects.find(key);
  return body === undefined ? undefined : parseDocument<T>(key, body);
}

/** Reads a JSON document that must exist. @throws ObjectNotFoundError, CorruptObjectError */
export async function getJson<T>(objects: Pick<ObjectStore, "get">, key: string): Promise<T> {
  return parseDocument<T>(key, await objects.get(key));
}

/** @throws CorruptObjectError if the object is not JSON */
export function parseDocument<T>(key: string, body: Uint8Array | string): T {
  try {
    return JSON.parse(typeof body === "string" ? body : new TextDecoder().decode(body)) as T;
  } catch (error) {
    throw new CorruptObjectError(key, "a JSON document", `something else (${(error as Error).message})`, error);
  }
}

/**
 * Stores a JSON document under a name that is written once. An existing document must have the same content.
 *
 * @param options.essence the part that must be equal; by default the whole document, whatever the order of its keys
 * @returns the stored document, and whether this call stored it
 * @throws ObjectDiffersError
 */
export async function createJson<T>(
  objects: Pick<ObjectStore, "putNew" | "find">,
  key: string,
  document: T,
  options: { readonly essence?: (document: T) => unknown; readonly indent?: number } = {},
): Promise<{ readonly created: boolean; readonly document: T }> {
  const { essence = (whole: T): unknown => whole, indent } = options;
  if (await objects.putNew(key, JSON.stringify(document, null, indent), "application/json")) {
    return { created: true, document };
  }
  const stored = parsed<T>((await objects.find(key)) ?? new Uint8Array(0));
  const expected = digestOf(essence(document));
  const found = stored && digestOf(essence(stored));
  if (stored === undefined || found !== expected) throw new ObjectDiffersError(key, expected, found ?? "no JSON");
  return { created: false, document: stored };
}

function parsed<T>(body: Uint8Array): T | undefined {
  try {
    const document: unknown = JSON.parse(new TextDecoder().decode(body));
    return document !== null && typeof document === "object" ? (document as T) : undefined;
  } catch {
    return undefined;
  }
}

/** Thrown when there is no object under the key. */
export class ObjectNotFoundError extends RingmasterError {
  constructor(
    readonly key: string,
    cause?: unknown,
  ) {
    super(`There is no object ${key}. Check the id that the key was made from, or that its writer has finished.`, {
      code: "OBJECT_NOT_FOUND",
      httpStatus: 404,
      details: { key },
      cause,
    });
  }
}

/** Thrown when an object's content does not match its name or its manifest. */
export class CorruptObjectError extends RingmasterError {
  constructor(
    readonly key: string,
    expected: string,
    actual: string,
    cause?: unknown,
  ) {
    super(
      `Object ${key} is corrupt: expected ${expected}, but it is ${actual}. ` +
        "Store its content again: that replaces it. A checkpoint falls back to the one before it.",
      { code: "CORRUPT_OBJECT", httpStatus: 500, details: { key, expected, actual }, cause },
    );
  }
}

/** Thrown when an object that is written once already exists with other content. */
export class ObjectDiffersError extends RingmasterError {
  constructor(
    readonly key: string,
    expected: string,
    actual: string,
  ) {
    super(
      `Object ${key} is written once, but it is there already with other content: its digest is ${actual}, that of the content to store is ${expected}. ` +
        "Nothing was stored. Find out who wrote it; remove it if it is wrong, then try again.",
      { code: "OBJECT_DIFFERS", httpStatus: 409, details: { key, expected, actual } },
    );
  }
}

/** Thrown when the store has no room left. Nothing of the object was stored. */
export class StorageFullError extends RingmasterError {
  constructor(key: string, cause?: unknown) {
    super(`No room to store object ${key}: the store is full. Free some space, then try again; nothing was lost.`, {
      code: "STORAGE_FULL",
      httpStatus: 507,
      retryable: true,
      details: { key },
      cause,
    });
  }
}
