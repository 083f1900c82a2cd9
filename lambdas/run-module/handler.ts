import { createHash } from "node:crypto";
import { Worker } from "node:worker_threads";
import { functionHandler } from "../function-handler";

/** The input of the function: a user's module by its URL, and the argument of its default export. */
export interface ModuleCall {
  readonly url: string;
  readonly sha256: string;
  readonly module: string;
  readonly input?: unknown;
  /** URL of an input that is too large for a payload. */
  readonly inputUrl?: string;
  readonly context: {
    readonly pipelineRunId: string;
    readonly step: string;
    readonly item?: number;
    readonly attempt: number;
  };
}

/** A thread without the environment of this process. Promises and synchronous results end it alike. */
const thread = `
const { parentPort, workerData } = require("node:worker_threads");
const { createRequire } = require("node:module");
const module_ = { exports: {} };
(async () => {
  const load = require("node:vm").compileFunction(workerData.source, ["exports", "require", "module"], { filename: workerData.name });
  load(module_.exports, createRequire("/"), module_);
  const run = module_.exports.default ?? module_.exports;
  if (typeof run !== "function") throw new Error(workerData.name + " must export a function as default, not " + typeof run);
  const output = await run(workerData.input, workerData.context);
  parentPort.postMessage({ output: JSON.stringify(output ?? null) });
})().catch((error) => parentPort.postMessage({ error: { name: error?.name ?? "Error", message: String(error?.message ?? error), stack: String(error?.stack ?? "") } }));
`;

/** The state machine knows this name: it begins the step again, with a new URL. */
const unavailable = "MODULE_UNAVAILABLE";

async function download(url: string): Promise<Buffer> {
  try {
    const response = await fetch(url);
    if (response.ok) return Buffer.from(await response.arrayBuffer());
    throw new Error(`the store answered ${response.status}`);
  } catch (cause) {
    const error = new Error(`the module or its input cannot be downloaded: ${(cause as Error).message}`, { cause });
    error.name = unavailable;
    throw error;
  }
}

/** Bytes of an output: the payload between two states has 256 KiB. */
const maxOutput = 200_000;

/**
 * Runs a user's module. The function has no permissions, and the module no environment; modules of all teams share the
 * function's machine (docs/pipelines.md, "Isolation").
 */
export const handler = functionHandler({ shared: {}, team: {} }, async ({ logger }, call: ModuleCall) => {
  const [source, input] = await Promise.all([
    download(call.url),
    call.inputUrl === undefined
      ? call.input
      : download(call.inputUrl).then((body) => JSON.parse(body.toString("utf8")) as unknown),
  ]);
  const digest = createHash("sha256").update(source).digest("hex");
  if (digest !== call.sha256) throw new Error(`the module ${call.module} has digest ${digest}, not ${call.sha256}`);
  const worker = new Worker(thread, {
    eval: true,
    env: {},
    workerData: { source: source.toString("utf8"), name: call.module, input, context: call.context },
  });
  try {
    const result = await new Promise<{ readonly output?: string; readonly error?: Error }>((resolve) => {
      worker.once("message", resolve);
      worker.once("error", (error) => resolve({ error }));
      worker.once("exit", (code) => resolve({ error: new Error(`the module ended its thread with code ${code}`) }));
    });
    if (result.error) {
      logger.log("warn", "a module failed", { module: call.module, stack: result.error.stack });
      return {
        failure: { code: "USER_CODE", message: `${call.module}: ${result.error.name}: ${result.error.message}` },
      };
    }
    const output = result.output ?? "null";
    if (Buffer.byteLength(output) <= maxOutput) return { output: JSON.parse(output) as unknown };
    const message = `${call.module} returned ${Buffer.byteLength(output)} bytes of JSON; at most ${maxOutput} are possible. Store the data, e.g. as a dataset version, and return its name`;
    return { failure: { code: "OUTPUT_TOO_LARGE", message } };
  } finally {
    await worker.terminate();
  }
});
