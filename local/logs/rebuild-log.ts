import fs from "node:fs";
import path from "node:path";
import { LogFile } from "./log-file";
import { headerLine, recordLine, repairedReason } from "./log-record";
import { writeLogSeal } from "./log-seal";

/**
 * Replaces a damaged log by a log with all of its intact records, and copies the damaged file to `aside`. Notes replace
 * the lost records, so that readers still see the gaps. An interrupted call can be repeated.
 */
export function rebuildLog(file: string, aside: string): void {
  if (fs.existsSync(file)) {
    fs.mkdirSync(path.dirname(aside), { recursive: true });
    fs.copyFileSync(file, aside);
  }
  const log = LogFile.open(file);
  if (!log) return;
  const { name, created } = log.header;
  const lines: string[] = [];
  const add = (...fields: [number, number, number, string, string?]) =>
    lines.push(recordLine(file, lines.length + 1, ...fields));
  for (const { order, timestamp, ingested, message, damage } of log.forward(log.head)) {
    if (damage) add(damage.after, timestamp, ingested, "", repairedReason(damage.reason));
    if (message !== "") add(order, timestamp, ingested, message);
  }
  const header = { name, created, before: 0 };
  const unfinished = `${file}.tmp`;
  fs.writeFileSync(unfinished, Buffer.concat([headerLine(file, header), Buffer.from(lines.join(""))]), { mode: 0o600 });
  // The seal accepts both files until the new one is in place.
  writeLogSeal(file, { header, records: 0 });
  fs.renameSync(unfinished, file);
  writeLogSeal(file, { header, records: lines.length });
}
