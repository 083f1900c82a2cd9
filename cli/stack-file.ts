import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { DamagedFileError, readSealedFile } from "../adapters/files/sealed-file";

/** What a running stack says of itself in `<data>/stack.json`. */
export interface StackInfo {
  readonly pid: number;
  readonly endpoint: string;
  readonly api: string;
  readonly data: string;
  /** Absent in files of earlier releases. */
  readonly allowLoopbackHooks?: boolean;
  readonly startedAt: string;
}

const remedy = "Stop the stack by its process id (it is in stack.lock), then start it again with: ringmaster up";

/**
 * The stack that was started over these data; it may have died since.
 * @throws DamagedFileError: damage must not look like a stack that was never started
 */
export function readStackFile(data: string): StackInfo | undefined {
  const file = join(resolve(data), "stack.json");
  const info = readSealedFile<StackInfo>(file, "pid", remedy);
  if (info === undefined || isStackInfo(info)) return info;
  throw new DamagedFileError(file, "it does not name a process and two URLs", remedy);
}

/** The pid must never be 0 or -1, which to a signal are whole groups of processes. */
function isStackInfo(info: unknown): info is StackInfo {
  const { pid, endpoint, api } = (info ?? {}) as Partial<Record<keyof StackInfo, unknown>>;
  const isUrl = (value: unknown): boolean => typeof value === "string" && URL.canParse(value);
  return Number.isInteger(pid) && (pid as number) > 1 && isUrl(endpoint) && isUrl(api);
}

/** The stack over these data, if it answers. */
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

/** Whether the stack's own process lives. Pids are used again: where the system can tell, it is asked what the process is. */
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
