import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { requireTokens } from "../adapters/files/token-store";
import { sealDocument } from "../core/sealed-document";
import { checkLayout, keepLayout, LayoutError } from "./layout";
import { PortTakenError } from "./listen";
import { dataPaths } from "./settings";
import { startStack } from "./stack";
import { DamagedStoreError } from "./storage/damage";

/** What `<data>/stack.json` says of the stack that runs over it. */
export interface StackFile {
  readonly pid: number;
  readonly endpoint: string;
  readonly api: string;
  readonly data: string;
  readonly allowLoopbackHooks: boolean;
  /** ISO 8601. */
  readonly startedAt: string;
}

/** Another stack has these data. */
class DataInUseError extends Error {
  constructor(data: string, pid: number) {
    super(
      `${data} is in use by the stack with pid ${pid}: stop it with \`ringmaster down --data ${data}\`, or choose another directory with --data DIRECTORY`,
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
      /** From now on the API over these data asks for a token. */
      auth: { type: "boolean", default: false },
      /** Lets hooks go to other programs of this machine. */
      "allow-loopback-hooks": { type: "boolean", default: false },
      /** Stop when the process that started this one is gone. */
      "with-parent": { type: "boolean", default: false },
    },
  });
  // The log lies on the data's disk. A disk that is full must not end the stack, which waits until there is room again.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
  const data = resolve(values.data);
  mkdirSync(data, { recursive: true });
  const { stackFile } = dataPaths(data);
  checkLayout(data);
  const release = lock(data);
  keepLayout(data);
  if (values.auth) requireTokens(data);
  const stack = await startStack(
    {
      ...{ port: Number(values.port), apiPort: Number(values["api-port"]), dataDirectory: data },
      allowLoopbackHooks: values["allow-loopback-hooks"],
    },
    __dirname,
  );

  const file: StackFile = {
    pid: process.pid,
    endpoint: stack.endpoint,
    api: stack.api,
    data,
    allowLoopbackHooks: values["allow-loopback-hooks"],
    startedAt: new Date().toISOString(),
  };
  await writeFile(`${stackFile}.tmp`, sealDocument(file));
  await rename(`${stackFile}.tmp`, stackFile);
  process.send?.({ type: "ready", stack: file });
  process.stdout.write(
    `Ringmaster is running: API ${stack.api}, AWS endpoint ${stack.endpoint}, data ${data} (pid ${process.pid})\n`,
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

/**
 * One stack a data directory: a lock file with the owner's pid, taken over from the dead. It comes into being with its content, by a link: an
 * empty one would look like a dead owner's to whoever starts in the same moment.
 */
export function lock(data: string): () => void {
  const path = `${data}/stack.lock`;
  const own = `${path}.${process.pid}`;
  const aside = `${own}.aside`;
  writeFileSync(own, String(process.pid));
  try {
    for (;;) {
      if (links(own, path)) return () => rmSync(path, { force: true });
      const owner = ownerOf(path);
      if (owner !== undefined) throw new DataInUseError(data, owner);
      // Of several that find a dead owner, one moves its file aside. Who moved a living one's instead, being late, puts it back.
      if (!moves(path, aside)) continue;
      if (ownerOf(aside) !== undefined) links(aside, path);
      rmSync(aside, { force: true });
    }
  } finally {
    rmSync(own, { force: true });
  }
}

function links(from: string, to: string): boolean {
  return succeeds(() => linkSync(from, to), "EEXIST");
}

function moves(from: string, to: string): boolean {
  return succeeds(() => renameSync(from, to), "ENOENT");
}

function succeeds(action: () => void, expected: string): boolean {
  try {
    action();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === expected) return false;
    throw error;
  }
}

/** The pid in a lock file, if that process lives and is a stack. */
function ownerOf(path: string): number | undefined {
  let pid = 0;
  succeeds(() => {
    pid = Number(readFileSync(path, "utf8"));
  }, "ENOENT");
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
  // Data and logs are their owner's alone.
  process.umask(0o077);
  main(process.argv.slice(2)).catch((error: unknown) => {
    const expected = [PortTakenError, DataInUseError, LayoutError, DamagedStoreError].some(
      (type) => error instanceof type,
    );
    const message =
      expected || !(error instanceof Error)
        ? String((error as Error).message ?? error)
        : (error.stack ?? error.message);
    process.send?.({ type: "failed", message });
    process.stderr.write(`${message}\n`);
    process.exit(1);
  });
}
