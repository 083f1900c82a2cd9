import { readdirSync, readFileSync } from "node:fs";

export interface ProcessorTime {
  /** Milliseconds, of the thread that trains. */
  readonly main: number;
  /** Of all threads. */
  readonly all: number;
}

/** What a process's threads have run for, to the nanosecond; undefined where there is no /proc, or the process has gone. */
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
