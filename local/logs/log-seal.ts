import fs from "node:fs";
import { openLine, sealLine } from "../storage/sealed-line";
import { type Header, ownerOf } from "./log-record";

/**
 * What a log file must hold at least. It lies next to the file, in `FILE.seal`, and shows that the file's end, its header
 * or the whole file is lost.
 */
export interface LogSeal {
  readonly header: Header;
  /** Number of the last record whose append has returned. */
  readonly records: number;
  /** The file is being removed: its absence is no damage. */
  readonly removed?: true;
}

export const sealEnding = ".seal";

export function readLogSeal(file: string): LogSeal | "damaged" | undefined {
  let text: string;
  try {
    text = fs.readFileSync(file + sealEnding, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  const end = text.indexOf("\n");
  const opened = end < 0 ? undefined : openLine(ownerOf(file + sealEnding), text.slice(0, end));
  return opened === undefined ? "damaged" : (JSON.parse(opened) as LogSeal);
}

/**
 * Overwrites in place, in one write within a page, so that a killed process leaves the old seal or the new one. A longer
 * line that was there before leaves its end behind the line feed.
 */
export function writeLogSeal(file: string, seal: LogSeal): void {
  const line = sealLine(ownerOf(file + sealEnding), JSON.stringify(seal));
  try {
    fs.writeFileSync(file + sealEnding, line, { flag: "r+" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    fs.writeFileSync(`${file}.tmp-seal`, line, { mode: 0o600 });
    fs.renameSync(`${file}.tmp-seal`, file + sealEnding);
  }
}

/** Removes a log file and its seal. A process that dies in between leaves a seal that says so. */
export function removeLog(file: string, header: Header): void {
  writeLogSeal(file, { header, records: 0, removed: true });
  fs.rmSync(file, { force: true });
  fs.rmSync(file + sealEnding, { force: true });
}
