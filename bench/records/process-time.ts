import { readFileSync } from "node:fs";

/** Ticks of a second in /proc: 100 on every Linux that Node runs on. */
const ticksPerSecond = 100;

/** Milliseconds of processor time that a process has taken; `undefined` where there is no /proc. */
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
