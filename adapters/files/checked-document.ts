import { digestOf, sha256 } from "../../core/digest";

export class DamagedDocumentError extends Error {
  constructor(detail: string) {
    super(detail);
    this.name = "DamagedDocumentError";
  }
}

/** Returns a small document as JSON text with its digest. */
export function checkedDocument(content: object): string {
  // Removes what JSON omits, because the document is compared with what is read.
  const document = JSON.parse(JSON.stringify(content)) as object;
  return JSON.stringify({ sha256: digestOf(document), document }, null, 2);
}

/**
 * Reads the text of a document with its checksum.
 *
 * @param member a member that every such document has
 * @throws DamagedDocumentError
 */
export function openDocument<T extends object>(text: string, member: keyof T & string): T {
  const value = parseObject(text);
  const { sha256, document } = value as { readonly sha256?: unknown; readonly document?: unknown };
  if (sha256 === undefined || document === undefined) throw new DamagedDocumentError("it has no checksum");
  if (digestOf(document) !== sha256) throw new DamagedDocumentError("its content does not match its checksum");
  if (typeof document !== "object" || document === null || !(member in document)) {
    throw new DamagedDocumentError(`it is another document: it has no ${member}`);
  }
  return document as T;
}

function parseObject(text: string): object {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new DamagedDocumentError(`it is not JSON (${(error as Error).message})`);
  }
  if (value === null || typeof value !== "object") throw new DamagedDocumentError("it is not a JSON object");
  return value;
}

const digits = 8;

/** Adds a check value to a secret of 64 hexadecimal digits, so that a changed digit is detected. */
export function checkedSecret(secret: string): string {
  return `${secret}-${checkOf(secret)}`;
}

/** Returns the secret; `undefined` if the text is damaged. */
export function openSecret(text: string): string | undefined {
  const [, secret = "", check] = /^([0-9a-f]{64})-([0-9a-f]{8})$/.exec(text) ?? [];
  return check === checkOf(secret) ? secret : undefined;
}

const checkOf = (secret: string): string => sha256(`check of ${secret}`).slice(0, digits);
