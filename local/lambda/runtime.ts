/**
 * The process of one execution environment (`lambda-runtime.js <bundle> [--watch-parent]`). It loads the handler once, then
 * serves one invocation at a time over IPC. It ends when the stack ends.
 */
import "../start/preload";
import { writeSync } from "node:fs";
import { Worker } from "node:worker_threads";
import {
  endOfOutput,
  type FunctionError,
  type InvokeMessage,
  type RuntimeMessage,
  responseLimit,
  watchParentOption,
} from "./types";

type Handler = (event: unknown, context: object, callback: (error: unknown, result?: unknown) => void) => unknown;

let active: InvokeMessage | undefined;
const environment = process.env as Record<string, string>;

function send(message: RuntimeMessage, then?: () => void): void {
  process.send?.(message, undefined, undefined, () => then?.());
}

function describe(error: unknown): FunctionError {
  if (!(error instanceof Error)) return { errorType: typeof error, errorMessage: String(error), trace: [] };
  return { errorType: error.name, errorMessage: error.message, trace: error.stack?.split("\n") ?? [] };
}

function contextOf({ requestId, deadline }: InvokeMessage): object {
  const name = environment["AWS_LAMBDA_FUNCTION_NAME"];
  return {
    callbackWaitsForEmptyEventLoop: true,
    functionName: name,
    functionVersion: environment["AWS_LAMBDA_FUNCTION_VERSION"],
    invokedFunctionArn: `arn:aws:lambda:${environment["AWS_REGION"]}:${environment["RINGMASTER_ACCOUNT"]}:function:${name}`,
    memoryLimitInMB: environment["AWS_LAMBDA_FUNCTION_MEMORY_SIZE"],
    awsRequestId: requestId,
    logGroupName: environment["AWS_LAMBDA_LOG_GROUP_NAME"],
    logStreamName: environment["AWS_LAMBDA_LOG_STREAM_NAME"],
    getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
  };
}

function run(handler: Handler, message: InvokeMessage): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const callback = (error: unknown, result?: unknown) => (error ? reject(error) : resolve(result));
    const returned = handler(JSON.parse(message.payload), contextOf(message), callback);
    if (returned instanceof Promise) returned.then(resolve, reject);
    // A handler without a callback parameter that returns no promise has returned its result.
    else if (handler.length < 3) resolve(returned);
  });
}

function rssMb(): number {
  return Math.ceil(process.memoryUsage.rss() / 1_048_576);
}

/** Writes the marker after the handler's output. Pipes are written synchronously. */
function endOutput(): void {
  for (const fd of [1, 2]) {
    try {
      writeSync(fd, `${endOfOutput}\n`);
    } catch {
      // The stack has ended, and this process ends too.
    }
  }
}

function fail({ requestId }: InvokeMessage, error: FunctionError, then?: () => void): void {
  if (active?.requestId !== requestId) return;
  active = undefined;
  process.stderr.write(`${new Date().toISOString()}\t${requestId}\tERROR\tInvoke Error\t${JSON.stringify(error)}\n`);
  endOutput();
  send({ type: "error", requestId, error, rssMb: rssMb(), fatal: then !== undefined }, then);
}

async function serve(handler: Handler, message: InvokeMessage): Promise<void> {
  active = message;
  const { requestId } = message;
  try {
    const payload = JSON.stringify((await run(handler, message)) ?? null);
    if (active?.requestId !== requestId) return;
    if (Buffer.byteLength(payload) > responseLimit) {
      const errorMessage = `Response payload size exceeded maximum allowed payload size (${responseLimit} bytes).`;
      return fail(message, { errorType: "Function.ResponseSizeTooLarge", errorMessage });
    }
    active = undefined;
    endOutput();
    send({ type: "result", requestId, payload, rssMb: rssMb() });
  } catch (error) {
    fail(message, describe(error));
  }
}

/**
 * Ends the environment after an error outside the handler's control, together with the current invocation, as in
 * Lambda's runtime.
 */
function die(error: FunctionError, exitCode: number): void {
  const exit = () => process.exit(exitCode);
  if (active) fail(active, error, exit);
  else {
    process.stderr.write(`${new Date().toISOString()}\t\tERROR\t${JSON.stringify(error)}\n`);
    exit();
  }
}

function load(bundle: string): Handler {
  const { handler } = require(bundle) as { handler?: unknown };
  if (typeof handler === "function") return handler as Handler;
  throw Object.assign(new Error(`${bundle} does not export a function named 'handler'`), {
    name: "Runtime.HandlerNotFound",
  });
}

/** Watches for the end of the stack in a separate thread, because a handler may block the event loop. */
function watchParent(): void {
  const code = `const parent = ${process.ppid};
    setInterval(() => { if (process.ppid !== parent) process.kill(process.pid, "SIGKILL"); }, 1000);`;
  new Worker(code, { eval: true, execArgv: [], env: {} }).unref();
}

function main(bundle: string, option?: string): void {
  process.on("disconnect", () => process.exit(0));
  process.on("uncaughtException", (error) => die(describe(error), 129));
  process.on("unhandledRejection", (reason) => {
    const { trace } = describe(reason);
    die({ errorType: "Runtime.UnhandledPromiseRejection", errorMessage: String(reason), trace }, 128);
  });
  if (option === watchParentOption) watchParent();
  let handler: Handler;
  try {
    handler = load(bundle);
  } catch (error) {
    const description = describe(error);
    const missing = (error as { code?: string }).code === "MODULE_NOT_FOUND";
    const errorType = missing ? "Runtime.ImportModuleError" : description.errorType;
    send({ type: "init-error", error: { ...description, errorType } }, () => process.exit(1));
    return;
  }
  process.on("message", (message: InvokeMessage) => void serve(handler, message));
  send({ type: "ready" });
}

main(process.argv[2] ?? "", process.argv[3]);
