import { digestOf } from "./digest";
import { CorruptObjectError, ObjectDiffersError } from "./object-errors";
import type { ObjectStore } from "./ports";

/** Reads a JSON document from the bucket. */
export async function findJson<T>(objects: Pick<ObjectStore, "find">, key: string): Promise<T | undefined> {
  const body = await objects.find(key);
  return body === undefined ? undefined : parseDocument<T>(key, body);
}

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
