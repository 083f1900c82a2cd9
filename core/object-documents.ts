import type * as z from "zod";
import { digestOf } from "./digest";
import { conflict, describeProblem, type Problem, RingmasterError } from "./errors";
import { documentLimits, parseJson } from "./json-text";
import { objectKeys } from "./object-keys";
import type { ObjectStore } from "./ports";
import { problemsOf } from "./problems";

/**
 * A kind of JSON document in the bucket. Its schema is its type: a document that user code may have written is read by
 * no other way than through it.
 */
export interface DocumentKind<Content> {
  /** With its article: `a training result`. */
  readonly name: string;
  readonly schema: z.ZodType<Content>;
  /** A larger object is refused before it is read. */
  readonly maxBytes: number;
}

/** Reads a JSON document from the bucket. @throws CorruptObjectError if it is no document of its kind */
export async function findJson<Content>(
  objects: Pick<ObjectStore, "find">,
  key: string,
  kind: DocumentKind<Content>,
): Promise<Content | undefined> {
  const body = await objects.find(key, kind.maxBytes);
  return body === undefined ? undefined : parseDocument(key, body, kind);
}

/** Reads a JSON document that must exist. @throws ObjectNotFoundError, CorruptObjectError */
export async function getJson<Content>(
  objects: Pick<ObjectStore, "find">,
  key: string,
  kind: DocumentKind<Content>,
): Promise<Content> {
  const document = await findJson(objects, key, kind);
  if (document === undefined) throw new ObjectNotFoundError(key);
  return document;
}

/** Reads a JSON document from the content store. @throws ObjectNotFoundError, CorruptObjectError */
export async function getJsonContent<Content>(
  objects: Pick<ObjectStore, "getContent">,
  sha256: string,
  kind: DocumentKind<Content>,
): Promise<Content> {
  return parseDocument(objectKeys.content(sha256), await objects.getContent(sha256), kind);
}

const maxProblems = 5;

/** @throws CorruptObjectError that names the fields and their rules */
export function parseDocument<Content>(
  key: string,
  body: Uint8Array | string,
  { name, schema, maxBytes }: DocumentKind<Content>,
): Content {
  const refuse = (actual: string, cause?: unknown): never => {
    throw new CorruptObjectError(key, name, actual, cause);
  };
  if (body.length > maxBytes) return refuse(`larger than ${maxBytes} bytes`);
  let parsed: z.ZodSafeParseResult<Content>;
  try {
    const value = parseJson(typeof body === "string" ? body : new TextDecoder().decode(body), documentLimits);
    parsed = schema.safeParse(value, { reportInput: true });
  } catch (error) {
    return refuse(`no JSON of a document (${(error as Error).message})`, error);
  }
  if (parsed.success) return parsed.data;
  return refuse(`another document: ${problemText(problemsOf(parsed.error))}`, parsed.error);
}

export function problemText(problems: readonly Problem[]): string {
  const more = problems.length - maxProblems;
  const first = problems.slice(0, maxProblems).map(describeProblem).join("; ");
  return more > 0 ? `${first}; and ${more} more` : first;
}

/**
 * Stores a JSON document under a name that is written once. An existing document must have the same content.
 *
 * @param options.essence the part that must be equal; by default the whole document, whatever the order of its keys
 * @returns the stored document, and whether this call stored it
 * @throws OBJECT_DIFFERS
 */
export async function createJson<Content>(
  objects: Pick<ObjectStore, "putNew" | "find">,
  key: string,
  kind: DocumentKind<Content>,
  document: Content,
  options: { readonly essence?: (document: Content) => unknown; readonly indent?: number } = {},
): Promise<{ readonly created: boolean; readonly document: Content }> {
  const { essence = (whole: Content): unknown => whole, indent } = options;
  if (await objects.putNew(key, JSON.stringify(document, null, indent), "application/json")) {
    return { created: true, document };
  }
  const stored = await storedDocument(objects, key, kind);
  const expected = digestOf(essence(parseDocument(key, JSON.stringify(document), kind)));
  const digest = stored && digestOf(essence(stored));
  if (stored === undefined || digest !== expected)
    throw objectDiffers(key, expected, digest ?? `not that of ${kind.name}`);
  return { created: false, document: stored };
}

/** Returns the stored document; `undefined` if it is none of its kind. */
async function storedDocument<Content>(
  objects: Pick<ObjectStore, "find">,
  key: string,
  kind: DocumentKind<Content>,
): Promise<Content | undefined> {
  try {
    return await findJson(objects, key, kind);
  } catch (error) {
    if (error instanceof CorruptObjectError) return undefined;
    throw error;
  }
}

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

export const objectDiffers = (key: string, expected: string, actual: string) =>
  conflict(
    "OBJECT_DIFFERS",
    `Object ${key} is written once, but it is there already with other content: its digest is ${actual}, that of the content to store is ${expected}. ` +
      "Nothing was stored. Find out who wrote it; remove it if it is wrong, then try again.",
    { key, expected, actual },
  );

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
