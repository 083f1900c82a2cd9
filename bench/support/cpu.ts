import { readdirSync, readFileSync } from "node:fs";

/** Processor time of a process and all that it has started, milliseconds; 0 where there is no /proc. */
export function cpuMsOf(pid: number): number {
  try {
    const ticks = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
    const threads = readdirSync(`/proc/${pid}/task`);
    const children = threads.flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").split(" ").filter(Boolean).map(Number),
    );
    // User and system time, in hundredths of a second.
    const own = 10 * (Number(ticks[11]) + Number(ticks[12]));
    return children.reduce((sum, child) => sum + cpuMsOf(child), own);
  } catch {
    return 0;
  }
}
