import { readFileSync } from "node:fs";

/**
 * Returns the kernel's start time of a process, which distinguishes it from a later process with the same id. Returns
 * undefined on systems without /proc.
 */
export function processStart(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // Fields are counted after the name, which may contain anything. `starttime` is field 22 of the whole line.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined;
  }
}
