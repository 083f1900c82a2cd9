import fs from "node:fs";
import { openLine, sealLine } from "../storage/sealed-line";
import { type Header, ownerOf } from "./log-record";

/**
 * The minimum content of a log file. It is stored next to the file, in `FILE.seal`, and shows that the file's end, its
 * header or the whole file is lost.
 */
export interface LogSeal {
  readonly header: Header;
  /** The number of the last record whose append has returned. */
  readonly records: number;
  /** Set while the file is being removed. Its absence is then no damage. */
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
 * Overwrites the seal in place. The write is within one page, so a kill leaves the old seal or the new one. The end of
 * a longer earlier line stays after the line feed.
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

/** Removes a log file and its seal. If the process dies in between, the remaining seal records the removal. */
export function removeLog(file: string, header: Header): void {
  writeLogSeal(file, { header, records: 0, removed: true });
  fs.rmSync(file, { force: true });
  fs.rmSync(file + sealEnding, { force: true });
}
