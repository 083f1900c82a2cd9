import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { processStart } from "../files/process-start";

/** Machine, process id, start time of the process, and mkdtemp's random part. */
const pattern = /^ringmaster-(?:duckdb|sources)-([0-9a-f]{8})-(\d+)-(\d+)-[^-]+$/;

/**
 * Creates a temporary folder whose name states its owner: this process. A process that is killed leaves its folder; the
 * next process that creates one removes it.
 */
export function makeTemporaryFolder(kind: "duckdb" | "sources" = "duckdb", parent = os.tmpdir()): string {
  const owner = `${machine()}-${process.pid}-${startOf(process.pid)}`;
  const folder = fs.mkdtempSync(path.join(parent, `ringmaster-${kind}-${owner}-`));
  removeAbandonedFolders(parent);
  return folder;
}

/**
 * Removes the folders of this user whose process on this machine has ended. Another machine or container may share the
 * parent folder, and its processes cannot be seen from here. Their folders are kept, like any that cannot be removed.
 */
export function removeAbandonedFolders(parent = os.tmpdir()): void {
  for (const name of fs.readdirSync(parent)) {
    const [, host, pid, start] = pattern.exec(name) ?? [];
    if (host !== machine() || isAlive(Number(pid), start!)) continue;
    const folder = path.join(parent, name);
    try {
      const stat = fs.lstatSync(folder);
      if (stat.isDirectory() && stat.uid === (process.getuid?.() ?? stat.uid)) {
        fs.rmSync(folder, { recursive: true, force: true });
      }
    } catch {
      // Another process removes it at the same time, or this one may not.
    }
  }
}

/** A process with the same id and another start time is a later one. Systems without /proc show no start time. */
function isAlive(pid: number, start: string): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
  }
  return startOf(pid) === start;
}

function startOf(pid: number): string {
  return processStart(pid) ?? "0";
}

/** Identifies the host and the namespace of process ids. */
function machine(): string {
  let namespace = "";
  try {
    namespace = fs.readlinkSync("/proc/self/ns/pid");
  } catch {
    // Only Linux has it.
  }
  return createHash("sha256").update(`${os.hostname()} ${namespace}`).digest("hex").slice(0, 8);
}
