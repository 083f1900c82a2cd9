import { readdirSync, readFileSync } from "node:fs";

/** Ticks of a second in /proc: 100 on every Linux that Node runs on. */
const ticksPerSecond = 100;

/** Milliseconds of processor time that a process has taken; `undefined` where there is no /proc, or no such process. */
export function processTimeOf(pid: number): number | undefined {
  try {
    // The name, in parentheses, may have spaces.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /, "")
      .split(" ");
    return ((Number(fields[11]) + Number(fields[12])) / ticksPerSecond) * 1_000;
  } catch {
    return undefined;
  }
}

/** The same of a process and all that it has started that still run; 0 where there is no /proc. */
export function cpuMsOf(pid: number): number {
  return childrenOf(pid).reduce((sum, child) => sum + cpuMsOf(child), processTimeOf(pid) ?? 0);
}

function childrenOf(pid: number): readonly number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").split(" ").filter(Boolean).map(Number),
    );
  } catch {
    return [];
  }
}
