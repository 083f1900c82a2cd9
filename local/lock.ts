import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";

/** Another stack has these data. */
export class DataInUseError extends Error {
  constructor(data: string, pid: number) {
    super(
      `${data} is in use by the stack with pid ${pid}: stop it with \`ringmaster down --data ${data}\`, or choose another directory with --data DIRECTORY`,
    );
    this.name = "DataInUseError";
  }
}

/**
 * One stack a data directory: a lock file with the owner's pid, taken over from the dead. It comes into being with its content, by a link: an
 * empty one would look like a dead owner's to whoever starts in the same moment.
 */
export function lock(data: string): () => void {
  const path = `${data}/stack.lock`;
  const own = `${path}.${process.pid}`;
  const aside = `${own}.aside`;
  writeFileSync(own, String(process.pid));
  try {
    for (;;) {
      if (links(own, path)) return () => rmSync(path, { force: true });
      const owner = ownerOf(path);
      if (owner !== undefined) throw new DataInUseError(data, owner);
      // Several processes may find a dead owner; one moves its file aside. A late process that moved a living owner's file puts it back.
      if (!moves(path, aside)) continue;
      if (ownerOf(aside) !== undefined) links(aside, path);
      rmSync(aside, { force: true });
    }
  } finally {
    rmSync(own, { force: true });
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

/** The pid in a lock file, if that process lives and is a stack. */
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

/** Pids are used again: where the system can tell, ask what the process is. */
function isStack(pid: number): boolean {
  try {
    return /stack\.js|ringmaster/.test(readFileSync(`/proc/${pid}/cmdline`, "utf8"));
  } catch {
    return true;
  }
}
