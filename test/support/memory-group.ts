import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The files of a control group, by the version of control groups. */
const versions = [
  { root: "/sys/fs/cgroup", limit: "memory.max", peak: "memory.peak" },
  { root: "/sys/fs/cgroup/memory", limit: "memory.limit_in_bytes", peak: "memory.max_usage_in_bytes" },
] as const;

/** A control group with a memory limit, as Docker creates one for a container. */
export interface MemoryGroup {
  /** Moves a process into the group. What it starts is in the group too. */
  add(pid: number): void;
  /** Returns the largest use in MiB, which includes cached files. */
  peakMb(): number;
  /** Removes the group, whose processes must have ended. */
  remove(): void;
}

/** Creates a group. Returns undefined where this process may not. */
export function createMemoryGroup(name: string, limitMb: number): MemoryGroup | undefined {
  for (const { root, limit, peak } of versions) {
    const group = join(root, `ringmaster-${process.pid}-${name}`);
    try {
      mkdirSync(group);
    } catch {
      continue;
    }
    try {
      if (!existsSync(join(group, peak))) throw new Error("no memory controller");
      writeFileSync(join(group, limit), String(limitMb * 2 ** 20));
      return {
        add: (pid) => writeFileSync(join(group, "cgroup.procs"), String(pid)),
        peakMb: () => Number(readFileSync(join(group, peak), "utf8")) / 2 ** 20,
        remove: () => rmdirSync(group),
      };
    } catch {
      rmdirSync(group);
    }
  }
  return undefined;
}
