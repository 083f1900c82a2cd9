import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { PortTakenError } from "./listen";
import { dataPaths } from "./settings";
import { startStack } from "./stack";

/** What `<data>/stack.json` says of the stack that runs over it. */
export interface StackFile {
  readonly pid: number;
  readonly endpoint: string;
  readonly api: string;
  readonly data: string;
  /** ISO 8601. */
  readonly startedAt: string;
}

/** Another stack has these data. */
class DataInUseError extends Error {
  constructor(data: string, pid: number) {
    super(
      `${data} is used by the stack with pid ${pid}: stop it with \`ringmaster down --data ${data}\`, or give other data with --data DIRECTORY`,
    );
    this.name = "DataInUseError";
  }
}

/**
 * Runs a stack until it is told to stop. Its process is the whole embedded cloud: `kill -9` it at any moment, start it again, and what
 * was acknowledged is there.
 */
export async function main(argv: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      port: { type: "string", default: "4566" },
      "api-port": { type: "string", default: "4700" },
      data: { type: "string", default: ".ringmaster" },
      /** Stop when the process that started this one is gone. */
      "with-parent": { type: "boolean", default: false },
    },
  });
  const data = resolve(values.data);
  mkdirSync(data, { recursive: true });
  const { stackFile } = dataPaths(data);
  const release = lock(data);
  const stack = await startStack(
    { port: Number(values.port), apiPort: Number(values["api-port"]), dataDirectory: data },
    __dirname,
  );

  const file: StackFile = {
    pid: process.pid,
    endpoint: stack.endpoint,
    api: stack.api,
    data,
    startedAt: new Date().toISOString(),
  };
  await writeFile(`${stackFile}.tmp`, JSON.stringify(file, null, 2));
  await rename(`${stackFile}.tmp`, stackFile);
  process.send?.({ type: "ready", stack: file });
  process.stdout.write(
    `Ringmaster is up: API ${stack.api}, AWS endpoint ${stack.endpoint}, data ${data} (pid ${process.pid})\n`,
  );

  let stopping = false;
  const stop = async (): Promise<void> => {
    if (stopping) return;
    stopping = true;
    rmSync(stackFile, { force: true });
    await stack.close();
    release();
    process.exit(0);
  };
  if (values["with-parent"]) process.on("disconnect", () => void stop());
  process.on("SIGINT", () => void stop());
  process.on("SIGTERM", () => void stop());
}

/** One stack a data directory: a lock file with the owner's pid, taken over from the dead. */
function lock(data: string): () => void {
  const path = `${data}/stack.lock`;
  for (;;) {
    try {
      const fd = openSync(path, "wx");
      writeSync(fd, String(process.pid));
      closeSync(fd);
      return () => rmSync(path, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      const owner = ownerOf(path);
      if (owner !== undefined) throw new DataInUseError(data, owner);
      rmSync(path, { force: true });
    }
  }
}

/** The pid in a lock file, if that process lives and is a stack. */
function ownerOf(path: string): number | undefined {
  const pid = Number(readFileSync(path, "utf8"));
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return undefined;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM" ? pid : undefined;
  }
  return isStack(pid) ? pid : undefined;
}

/** Pids are used again: where the system can tell, ask what the process is. */
function isStack(pid: number): boolean {
  try {
    return /stack\.js|ringmaster/.test(readFileSync(`/proc/${pid}/cmdline`, "utf8"));
  } catch {
    return true;
  }
}

if (require.main === module) {
  main(process.argv.slice(2)).catch((error: unknown) => {
    const expected = error instanceof PortTakenError || error instanceof DataInUseError;
    const message =
      expected || !(error instanceof Error)
        ? String((error as Error).message ?? error)
        : (error.stack ?? error.message);
    process.send?.({ type: "failed", message });
    process.stderr.write(`${message}\n`);
    process.exit(1);
  });
}
