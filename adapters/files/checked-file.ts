import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { link, open, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { RingmasterError } from "../../core/errors";
import { checkedDocument, DamagedDocumentError, openDocument } from "./checked-document";

export class DamagedFileError extends RingmasterError {
  constructor(file: string, damage: string, remedy: string, cause?: unknown) {
    super(`${file} is damaged: ${damage}. ${remedy}`, {
      code: "CORRUPT_OBJECT",
      httpStatus: 500,
      details: { file },
      cause,
    });
  }
}

/**
 * Reads a document with its checksum. Returns undefined if the file does not exist.
 * @param member see `openDocument`
 * @param remedy the next step if the file is damaged
 * @throws DamagedFileError
 */
export function readCheckedFile<T extends object>(
  file: string,
  member: keyof T & string,
  remedy: string,
): T | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return openDocument<T>(readFileSync(file, "utf8"), member);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined; // The file was removed in the meantime.
    throw error instanceof DamagedDocumentError ? new DamagedFileError(file, error.message, remedy, error) : error;
  }
}

/** Creates a document with its checksum that only its owner can read. Atomic, and durable when it returns. @throws EEXIST */
export function createCheckedFile(file: string, document: object): Promise<void> {
  return createFile(file, checkedDocument(document));
}

/** Creates a file. Atomic, and durable when it returns. @throws EEXIST */
export async function createFile(file: string, content: string): Promise<void> {
  const unfinished = `${file}.${randomUUID()}.tmp`;
  try {
    const handle = await open(unfinished, "wx", 0o600);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await link(unfinished, file);
  } finally {
    await rm(unfinished, { force: true });
  }
  await syncDirectory(dirname(file));
}

/** Syncs the directory, which makes created, renamed and removed entries durable. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
