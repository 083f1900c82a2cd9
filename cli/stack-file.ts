import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { DamagedFileError, readCheckedFile } from "../adapters/files/checked-file";

/** A running stack's own description in `<data>/stack.json`. */
export interface StackInfo {
  readonly pid: number;
  readonly endpoint: string;
  readonly api: string;
  readonly data: string;
  readonly allowLoopbackHooks?: boolean;
  readonly workers: number;
  readonly startedAt: string;
}

const remedy = "Stop the stack by its process id (it is in stack.lock), then start it again with: ringmaster up";

/** The stack may have died since. @throws DamagedFileError so that damage does not look like a stack never started */
export function readStackFile(data: string): StackInfo | undefined {
  const file = join(resolve(data), "stack.json");
  const info = readCheckedFile<StackInfo>(file, "pid", remedy);
  if (info === undefined || isStackInfo(info)) return info;
  throw new DamagedFileError(file, "it does not name a process and two URLs", remedy);
}

/** The pid must never be 0 or -1, which for a signal mean whole groups of processes. */
function isStackInfo(info: unknown): info is StackInfo {
  const { pid, endpoint, api } = (info ?? {}) as Partial<Record<keyof StackInfo, unknown>>;
  const isUrl = (value: unknown): boolean => typeof value === "string" && URL.canParse(value);
  return Number.isInteger(pid) && (pid as number) > 1 && isUrl(endpoint) && isUrl(api);
}

/** Returns the stack of these data if it responds. */
export async function findStack(data: string): Promise<StackInfo | undefined> {
  const info = readStackFile(data);
  if (!info || !isAlive(info.pid)) return undefined;
  try {
    const response = await fetch(`${info.api}/api/v1/health`, { signal: AbortSignal.timeout(5_000) });
    return response.ok ? info : undefined;
  } catch {
    return undefined;
  }
}

/** Pids are reused, so the process's command is checked if the system shows it. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  try {
    return /stack\.js|ringmaster/.test(readFileSync(`/proc/${pid}/cmdline`, "utf8"));
  } catch {
    return !existsSync("/proc/self/cmdline");
  }
}
