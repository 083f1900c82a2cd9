import { readdirSync, readFileSync } from "node:fs";

const ticksPerSecond = 100;

/** Returns a process's processor time in milliseconds; `undefined` without /proc, or without such a process. */
export function processTimeOf(pid: number): number | undefined {
  return ticksOf(pid, 2);
}

/** Returns the processor time of a process and all that it has started, including ended ones; 0 without /proc. */
export function wholeCpuMsOf(pid: number): number {
  return childrenOf(pid).reduce((sum, child) => sum + wholeCpuMsOf(child), ticksOf(pid, 4) ?? 0);
}

/** @param count 2: the process's user and system time; 4: and those of ended children that it has waited for */
function ticksOf(pid: number, count: 2 | 4): number | undefined {
  try {
    // The name, in parentheses, may contain spaces.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /, "")
      .split(" ");
    const ticks = fields.slice(11, 11 + count).reduce((sum, field) => sum + Number(field), 0);
    return (ticks / ticksPerSecond) * 1_000;
  } catch {
    return undefined;
  }
}

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

/** Returns the resident memory of a process in MiB. @throws Error if there is no such process */
export function residentMiB(pid: number): number {
  const [, kib = "0"] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kib) / 1024;
}
