import fs from "node:fs";
import { DamagedDocumentError, openDocument, sealDocument } from "../../adapters/files/sealed-document";
import { DamagedFileError } from "./damage";
import { writeFlushed } from "./disk";

/** Writes and syncs a small JSON document with its checksum. */
export async function writeDocument(file: string, document: object): Promise<void> {
  await writeFlushed(file, sealDocument(document));
}

/**
 * Reads a document that `writeDocument` wrote. Returns undefined if the file does not exist.
 * @param member see `openDocument`
 * @throws DamagedFileError that names the file
 */
export function readDocument<T extends object>(file: string, member: keyof T & string): T | undefined {
  let text: string;
  try {
    // The check takes a tenth of the time of an exception.
    if (!fs.statSync(file, { throwIfNoEntry: false })) return undefined;
    text = fs.readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  try {
    return openDocument<T>(text, member);
  } catch (error) {
    throw error instanceof DamagedDocumentError ? new DamagedFileError(`${file}: ${error.message}`) : error;
  }
}
