import { rmSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { checkedDocument } from "../adapters/files/checked-document";
import { makeDirectory } from "../adapters/files/directory";
import { directoryProblem } from "../adapters/files/directory-problem";
import { createTokenStore, requireTokens } from "../adapters/files/token-store";
import {
  checkLayout,
  closeToOthers,
  DamagedRecordError,
  DamagedStoreError,
  DataInUseError,
  keepLayout,
  LayoutError,
  lock,
  PortTakenError,
  printTo,
  RotatingLog,
} from "../local";
import { dataPaths } from "./settings";
import { startStack } from "./stack";

/** The content of `<data>/stack.json`, which describes the stack that runs over the data directory. */
export interface StackFile {
  readonly pid: number;
  readonly endpoint: string;
  readonly api: string;
  readonly data: string;
  readonly allowLoopbackHooks: boolean;
  readonly workers: number;
  readonly startedAt: string;
}

/**
 * Runs a stack until it receives a signal. One process is the whole embedded cloud. After a `kill -9` at any time, the
 * next start finds everything that was acknowledged.
 */
export async function main(argv: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      port: { type: "string", default: "4566" },
      "api-port": { type: "string", default: "4700" },
      data: { type: "string", default: ".ringmaster" },
      /** Makes the API of these data require a token, from now on and after each restart. */
      auth: { type: "boolean", default: false },
      /** Lets hooks call other programs on this machine. */
      "allow-loopback-hooks": { type: "boolean", default: false },
      /** The vCPUs of the workers that run at once. */
      workers: { type: "string", default: String(availableParallelism()) },
      /** Writes output to `stack.log` in the data directory instead of the standard streams. */
      detached: { type: "boolean", default: false },
      /** Stops the stack when its parent process has ended. */
      "with-parent": { type: "boolean", default: false },
    },
  });
  // The log is on the data's disk. A full disk must not end the stack, which waits until there is space again.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
  const data = resolve(values.data);
  const release = await takeData(data, values);
  const stack = await startStack(
    {
      ...{ port: Number(values.port), apiPort: Number(values["api-port"]), dataDirectory: data },
      allowLoopbackHooks: values["allow-loopback-hooks"],
      workers: Number(values.workers),
    },
    __dirname,
  );

  const file: StackFile = {
    pid: process.pid,
    endpoint: stack.endpoint,
    api: stack.api,
    data,
    allowLoopbackHooks: values["allow-loopback-hooks"],
    workers: Number(values.workers),
    startedAt: new Date().toISOString(),
  };
  const { stackFile } = dataPaths(data);
  await writeFile(`${stackFile}.tmp`, checkedDocument(file));
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

/** Takes a data directory for this process, and returns a function that releases it. */
async function takeData(
  data: string,
  { detached, auth }: { readonly detached: boolean; readonly auth: boolean },
): Promise<() => void> {
  makeDirectory(data);
  checkLayout(data);
  const release = lock(data);
  closeToOthers(data);
  // Only now, because another stack over the directory writes to its log.
  if (detached) printTo(new RotatingLog(dataPaths(data).logFile));
  keepLayout(data);
  if (auth || (await createTokenStore(data).required())) await requireTokens(data);
  return release;
}

/** Returns the data directory of arguments that may be invalid otherwise. */
function dataOf(argv: readonly string[]): string {
  const { values } = parseArgs({ args: [...argv], options: { data: { type: "string" } }, strict: false });
  return resolve(String(values.data ?? ".ringmaster"));
}

if (require.main === module) {
  // Only the owner may read data and logs.
  process.umask(0o077);
  main(process.argv.slice(2)).catch((error: unknown) => {
    const expected = [PortTakenError, DataInUseError, LayoutError, DamagedStoreError, DamagedRecordError].some(
      (type) => error instanceof type,
    );
    const message =
      expected || !(error instanceof Error)
        ? String((error as Error).message ?? error)
        : (directoryProblem(error, dataOf(process.argv.slice(2))) ?? error.stack ?? error.message);
    process.send?.({ type: "failed", message });
    process.stderr.write(`${message}\n`);
    process.exit(1);
  });
}
