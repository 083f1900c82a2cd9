import { existsSync, readdirSync, readFileSync, rmSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";

/* What LevelDB does not do itself with its files after a power loss or a failed write. */

export interface LogEnd {
  readonly number: number;
  readonly bytes: number;
}

/**
 * Removes CURRENT from a database that a power loss interrupted before anything was written. LevelDB creates a database
 * if CURRENT is missing, and fails if CURRENT names an incomplete manifest. Returns a reason if CURRENT was lost.
 */
export function discardUnfinished(directory: string): string | undefined {
  const current = join(directory, "CURRENT");
  const content = readdirSync(directory).filter((name) => /^\d+\.(ldb|sst|log)$/.test(name));
  if (content.every((name) => statSync(join(directory, name)).size === 0)) rmSync(current, { force: true });
  else if (!existsSync(current)) return "its file CURRENT is missing";
  return undefined;
}

/**
 * Cuts off the zeros at the end of the manifest, and returns whether there were any. A power loss may leave the length of
 * an edit without all of its bytes. LevelDB ignores an incomplete edit, but fails if zeros complete it.
 */
export function cutZeros(directory: string): boolean {
  const manifest = join(directory, readFileSync(join(directory, "CURRENT"), "latin1").trim());
  if (!existsSync(manifest)) return false;
  const bytes = readFileSync(manifest);
  const end = bytes.findLastIndex((byte) => byte !== 0) + 1;
  if (end === bytes.length) return false;
  truncateSync(manifest, end);
  return true;
}

export function endOfLogs(directory: string): LogEnd {
  const number = Math.max(...logsIn(directory));
  return { number, bytes: logBytes(directory, number) };
}

export function logBytes(directory: string, number: number): number {
  return statSync(logPath(directory, number)).size;
}

export function cutLogs(directory: string, { number, bytes }: LogEnd): void {
  for (const log of logsIn(directory)) {
    if (log >= number) truncateSync(logPath(directory, log), log === number ? bytes : 0);
  }
}

function logsIn(directory: string): readonly number[] {
  return readdirSync(directory).flatMap((name) => (/^\d{6,}\.log$/.test(name) ? [Number.parseInt(name, 10)] : []));
}

function logPath(directory: string, number: number): string {
  return join(directory, `${String(number).padStart(6, "0")}.log`);
}
