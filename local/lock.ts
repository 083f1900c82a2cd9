import { existsSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";

export class DataInUseError extends Error {
  constructor(data: string, pid: number) {
    super(
      `${data} is in use by the stack with pid ${pid}: stop it with \`ringmaster down --data ${data}\`, or choose another directory with --data DIRECTORY`,
    );
    this.name = "DataInUseError";
  }
}

/** Time in which a stack that was killed disappears. */
const endingMs = 1_000;
const pollMs = 20;

/**
 * Locks a data directory for one stack. The lock file holds the owner's pid. If the owner is dead, or dies within a
 * second, the lock is taken over. The file is created by a link with its content in it, because a process that starts at
 * the same time would take an empty file for a dead owner's.
 */
export function lock(data: string): () => void {
  const path = `${data}/stack.lock`;
  const claim = `${path}.${process.pid}`;
  const aside = `${claim}.aside`;
  const deadline = performance.now() + endingMs;
  writeFileSync(claim, String(process.pid));
  try {
    for (;;) {
      if (links(claim, path)) return () => rmSync(path, { force: true });
      const owner = ownerOf(path);
      if (owner !== undefined) {
        if (performance.now() > deadline) throw new DataInUseError(data, owner);
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pollMs);
        continue;
      }
      // Several processes may find a dead owner. One of them moves its file away. If a late process has moved the file
      // of a living owner, it moves it back.
      if (!moves(path, aside)) continue;
      if (ownerOf(aside) !== undefined) links(aside, path);
      rmSync(aside, { force: true });
    }
  } finally {
    rmSync(claim, { force: true });
  }
}

function links(from: string, to: string): boolean {
  return succeeds(() => linkSync(from, to), "EEXIST");
}

function moves(from: string, to: string): boolean {
  return succeeds(() => renameSync(from, to), "ENOENT");
}

function succeeds(action: () => void, expected: string): boolean {
  try {
    action();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === expected) return false;
    throw error;
  }
}

/** Returns the pid in a lock file if that process is alive and is a stack. */
function ownerOf(path: string): number | undefined {
  let pid = 0;
  succeeds(() => {
    pid = Number(readFileSync(path, "utf8"));
  }, "ENOENT");
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return undefined;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM" ? pid : undefined;
  }
  return isStack(pid) ? pid : undefined;
}

/**
 * Returns whether the process is a stack. The system reuses pids, so this reads the command line where the system shows
 * it. A process that ends in the meantime has none.
 */
function isStack(pid: number): boolean {
  try {
    return /stack\.js|ringmaster/.test(readFileSync(`/proc/${pid}/cmdline`, "utf8"));
  } catch {
    return !existsSync("/proc/self/cmdline");
  }
}
