import { readdirSync, readFileSync } from "node:fs";

export interface ProcessorTime {
  /** Milliseconds of the training thread. */
  readonly main: number;
  /** Milliseconds of all threads. */
  readonly all: number;
}

/** Returns the run time of a process's threads, in nanosecond resolution; undefined without /proc, or after the process's end. */
export function processorTimeOf(pid: number): ProcessorTime | undefined {
  try {
    const ranMs = (thread: number | string) =>
      Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]) / 1e6;
    const all = readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + ranMs(thread), 0);
    return { main: ranMs(pid), all };
  } catch {
    return undefined;
  }
}
