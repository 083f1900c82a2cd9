import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const versions = [
  { root: "/sys/fs/cgroup", limit: "memory.max", peak: "memory.peak", anonymous: /^anon (\d+)/m },
  {
    root: "/sys/fs/cgroup/memory",
    limit: "memory.limit_in_bytes",
    peak: "memory.max_usage_in_bytes",
    anonymous: /^total_rss (\d+)/m,
  },
] as const;

export interface MemoryGroup {
  add(pid: number): void;
  /** Returns the largest use in MiB, which includes cached files. */
  peakMb(): number;
  /** Returns the current use in MiB without cached files, which the kernel frees when memory is short. */
  ownMb(): number;
  pids(): readonly number[];
  /** Removes the group, whose processes must have ended. */
  remove(): void;
}

/** Creates a group. Returns undefined where this process may not. */
export function createMemoryGroup(name: string, limitMb: number): MemoryGroup | undefined {
  for (const { root, limit, peak, anonymous } of versions) {
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
        ownMb: () => Number(anonymous.exec(readFileSync(join(group, "memory.stat"), "utf8"))?.[1] ?? 0) / 2 ** 20,
        pids: () => readFileSync(join(group, "cgroup.procs"), "utf8").split("\n").filter(Boolean).map(Number),
        remove: () => rmdirSync(group),
      };
    } catch {
      rmdirSync(group);
    }
  }
  return undefined;
}
