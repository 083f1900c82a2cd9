import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** What a running stack says of itself in `<data>/stack.json`. */
export interface StackInfo {
  readonly pid: number;
  readonly endpoint: string;
  readonly api: string;
  readonly data: string;
  readonly startedAt: string;
}

/** The stack that was started over these data; it may have died since. */
export function readStackFile(data: string): StackInfo | undefined {
  try {
    return JSON.parse(readFileSync(join(resolve(data), "stack.json"), "utf8")) as StackInfo;
  } catch {
    return undefined;
  }
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

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
