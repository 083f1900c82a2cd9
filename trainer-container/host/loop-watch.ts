/**
 * Finds endless loops after an `await` in user code: a second thread notices that no events are processed, and pauses
 * the thread by V8's debugger, which tells the line and can end the execution.
 */
import type { EventEmitter } from "node:events";
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads";
import { ModelError } from "../engine/errors";
import { describeThrown, limitedCalls, onTimeLimit, TimeLimitError } from "../engine/user-code";
import { moduleFolder, userFrame } from "./module-source";

const periodMs = 1_000;
/** Periods without an event after which the main thread is paused; a call's time limit ends later. */
const patience = 40;

/** The source is plain text, so it needs no file next to the bundle. */
const threadSource = `
const { Session } = require("node:inspector");
const { workerData: { beats, calls, port, periodMs, patience, folder } } = require("node:worker_threads");
let last = -1;
let missed = 0;
let pausing = false;
let reported = false;
const pause = () => {
  pausing = true;
  const scripts = new Map();
  const session = new Session();
  session.connectToMainThread();
  session.on("Debugger.scriptParsed", ({ params }) => scripts.set(params.scriptId, params.url));
  session.on("Debugger.paused", ({ params }) => {
    const frames = params.callFrames.map(({ functionName, location: { scriptId, lineNumber, columnNumber } }) => {
      const file = (scripts.get(scriptId) ?? "").replace(/^file:\\/\\//, "");
      return "    at " + (functionName || "<anonymous>") + " (" + decodeURI(file) + ":" + (lineNumber + 1) + ":" + ((columnNumber ?? 0) + 1) + ")";
    });
    const isUsers = frames.some((frame) => frame.includes("(" + folder));
    const isLimited = Atomics.load(calls, 0) > 0;
    if (isUsers) port.postMessage({ stack: frames.join("\\n"), ended: !isLimited });
    reported = isUsers;
    session.post("Debugger.resume", { terminateOnResume: isUsers && !isLimited }, () => {
      session.disconnect();
      pausing = false;
    });
  });
  session.post("Debugger.enable");
  session.post("Debugger.pause");
};
setInterval(() => {
  const beat = Atomics.load(beats, 0);
  missed = beat === last ? missed + 1 : 0;
  if (missed === 0) reported = false;
  last = beat;
  // A loop of awaits may be paused between two of them, in none of the user's functions.
  if (missed >= patience && !pausing && !reported) pause();
}, periodMs);
`;

interface Found {
  /** The frames of the main thread. */
  readonly stack: string;
  /** Whether the execution was ended; otherwise a time limit will end it. */
  readonly ended: boolean;
}

interface LoopWatch {
  start(): void;
  /** Rejects if a loop was found and ended. */
  readonly found: Promise<never>;
  stop(): void;
}

export function createLoopWatch(settings = { periodMs, patience }): LoopWatch {
  const beats = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  let reject: (error: Error) => void = () => undefined;
  const blocked = new Promise<never>((_, refuse) => {
    reject = refuse;
  });
  blocked.catch(() => undefined); // raced during training; ignored afterwards
  let worker: Worker | undefined;
  let timer: NodeJS.Timeout | undefined;
  return {
    found: blocked,
    start() {
      if (worker) return;
      const { port1, port2 } = new MessageChannel();
      const workerData = { ...settings, beats, calls: limitedCalls, port: port2, folder: `${moduleFolder}/` };
      const options = { eval: true, name: "loop-watch", execArgv: [], env: {}, workerData, transferList: [port2] };
      worker = new Worker(threadSource, options);
      worker.on("error", () => undefined); // without inspector, time limits still hold
      worker.unref();
      port1.on("message", (message: Found) => message.ended && reject(endlessLoop(message.stack)));
      port1.unref();
      onTimeLimit(() => stackOfLimitedCall(port1));
      timer = setInterval(() => Atomics.add(beats, 0, 1), settings.periodMs / 4);
      timer.unref();
    },
    stop() {
      clearInterval(timer);
      void worker?.terminate();
      worker = undefined;
    },
  };
}

function endlessLoop(stack: string): ModelError {
  const cause = new Error("a loop did not end");
  cause.stack = `Error: ${cause.message}\n${stack}`;
  return new ModelError(
    "The training module failed outside of model(), loss and metrics: code after an await, or a loop of awaits, let nothing " +
      "else run; does a loop in it not end?",
    cause,
  );
}

function stackOfLimitedCall(port: MessagePort): string | undefined {
  let stack: string | undefined;
  for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port)) {
    ({ stack } = next.message as Found);
  }
  return stack;
}

/** Rejects with the first uncaught exception; a training module's (a timer, a promise) is a ModelError. */
export function uncaughtException(process: EventEmitter): Promise<never> {
  const uncaught = new Promise<never>((_, reject) => {
    process.on("uncaughtException", (error: unknown) => {
      const message = `The training module failed outside of model(), loss and metrics: ${describeThrown(error)}`;
      const isUsers = userFrame(error) !== undefined || error instanceof TimeLimitError;
      reject(isUsers ? new ModelError(message, error) : error);
    });
  });
  uncaught.catch(() => undefined); // raced during training; ignored afterwards
  return uncaught;
}

/** Makes `process.exit` throw if the training module calls it: otherwise the run would end without a failure, and run again. */
export function refuseModuleExit(process: { exit(code?: number | string | null): never }): void {
  const { exit } = process;
  process.exit = (code) => {
    const error = new Error(`process.exit(${code ?? ""}) ends the trainer; throw an error to end the run`);
    if (userFrame(error) !== undefined) throw error;
    return exit.call(process, code);
  };
}
