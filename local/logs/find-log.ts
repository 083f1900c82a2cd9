import fs from "node:fs";
import path from "node:path";
import { endOfLastLine, readLines } from "./file-lines";
import { type Header, parseHeader } from "./log-record";
import { type LogSeal, readLogSeal, removeLog } from "./log-seal";

/** The name of the file that makes a directory a group. */
export const groupFile = "group.json";

/** The state of a log file before it is opened. */
export interface Found {
  readonly header: Header;
  readonly legacy: boolean;
  /** The start of the events. Undefined if the file or its header is missing. */
  readonly head: number | undefined;
  readonly fileSize: number;
  /** The end of the last complete line. */
  readonly end: number;
  readonly seal: LogSeal | undefined;
  /** Damage that is not visible as a gap in the numbers. */
  readonly reason?: string;
}

/** Examines a log file and its seal without changing them. Returns undefined if there is no log. */
export function findLog(file: string): Found | undefined {
  const read = readLogSeal(file);
  const seal = read === "damaged" ? undefined : read;
  if (seal?.removed) return undefined;
  const fileSize = fs.statSync(file, { throwIfNoEntry: false })?.size;
  const [first] = fileSize === undefined ? [] : readLines(file, 0, fileSize);
  if (fileSize === undefined || !first) {
    return seal && { header: seal.header, legacy: false, head: undefined, fileSize: 0, end: 0, seal };
  }
  const parsed = parseHeader(file, first.text);
  const header = parsed?.header ?? seal?.header ?? { name: nameOf(file), created: 0 };
  const legacy = parsed?.legacy ?? false;
  const end = endOfLastLine(file, fileSize);
  // A process that dies while it creates a file leaves a header without a seal.
  const reason = parsed && end === first.end ? undefined : reasonOf(read, parsed !== undefined, legacy);
  return { header, legacy, head: first.end, fileSize, end, seal, ...(reason === undefined ? {} : { reason }) };
}

function reasonOf(seal: LogSeal | "damaged" | undefined, header: boolean, legacy: boolean): string | undefined {
  if (seal === "damaged") return "its seal is damaged, and records at its end may be missing";
  if (seal !== undefined) return undefined;
  if (!header) return "its header is damaged, and records at its end may be missing";
  return legacy ? undefined : "its seal is missing, and records at its end may be missing";
}

/** Decodes the name of a stream or group with a lost header. */
function nameOf(file: string): string {
  const base = path.basename(file);
  const encoded = base === groupFile ? path.basename(path.dirname(file)) : base.replace(/\.jsonl$/, "");
  const bytes = encoded.replace(/%([0-9a-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1").toString();
}

/** Removes the files of a process that died while it created or removed a log. */
export function discardRemains(file: string): void {
  const seal = readLogSeal(file);
  if (seal !== undefined && seal !== "damaged" && seal.removed) removeLog(file, seal.header);
  else fs.rmSync(file, { force: true });
}
