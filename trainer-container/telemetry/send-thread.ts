import { rm } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { toJson } from "../../core/json-text";
import { type MetricBatch, type MetricSink, MetricsRefusedError } from "../../core/tracking/metric-store";
import { openRunSession } from "../credentials/run-session";
import { type Sender, SendQueue } from "./send-queue";
import { within } from "./within";

interface SendThreadSettings {
  readonly ingestFunction: string;
  /** Directory of batches that wait on disk. */
  readonly directory: string;
}

type SendRequest =
  | { readonly kind: "post"; readonly id: number; readonly batch: MetricBatch }
  | { readonly kind: "close"; readonly patienceMs: number };

type SendReply =
  | { readonly kind: "gone"; readonly id: number }
  | { readonly kind: "trouble"; readonly message: string; readonly error: Error | undefined }
  | { readonly kind: "closed" };

/** Batches that a second thread can repeat: half a minute's. The first thread has written earlier ones to disk, or lost them. */
const repeatable = 64;
/** Added to the queue's maximum wait, for a thread that no longer answers. */
const graceMs = 1_000;

interface Waiting {
  batch: MetricBatch | undefined;
  readonly resolve: () => void;
}

/**
 * A request costs 2 to 3 ms, which must not delay a step. After a thread's end the next repeats unsent batches: twice
 * is possible.
 */
export function createSendThread(
  script: string,
  settings: SendThreadSettings,
  onTrouble: (message: string, error: unknown) => void,
): Sender {
  let worker: Worker | undefined;
  let threads = 0;
  let posted = 0;
  let closed: () => void = () => undefined;
  const waiting = new Map<number, Waiting>();

  function start(): Worker {
    // Each thread has its own folder, because the files belong to its batches.
    const directory = path.join(settings.directory, String(threads++));
    const started = new Worker(script, {
      name: "send-metrics",
      workerData: { ...settings, directory },
      env: process.env,
    });
    started.unref();
    started.on("message", (reply: SendReply) => {
      if (reply.kind === "gone") settle(reply.id);
      else if (reply.kind === "trouble") onTrouble(reply.message, reply.error);
      else closed();
    });
    const ended = (error: Error) => {
      if (worker !== started) return;
      worker = undefined;
      onTrouble("the thread that sends metrics ended; another one continues", error);
    };
    started.on("error", ended);
    started.on("exit", (code) => ended(new Error(`it ended with code ${code}`)));
    for (const [id, { batch }] of waiting) {
      if (batch === undefined) settle(id);
      else started.postMessage({ kind: "post", id, batch } satisfies SendRequest);
    }
    return started;
  }

  function settle(id: number): void {
    waiting.get(id)?.resolve();
    waiting.delete(id);
  }

  function ask(request: SendRequest): void {
    if (worker === undefined) worker = start();
    worker.postMessage(request);
  }

  return {
    post(batch) {
      const id = posted++;
      ask({ kind: "post", id, batch });
      const old = waiting.get(id - repeatable);
      if (old) old.batch = undefined;
      return new Promise((resolve) => waiting.set(id, { batch, resolve }));
    },
    async close(patienceMs) {
      if (worker === undefined && waiting.size === 0) return;
      const done = new Promise<void>((resolve) => {
        closed = resolve;
      });
      ask({ kind: "close", patienceMs });
      await within(patienceMs + graceMs, done);
      const last = worker;
      worker = undefined;
      await last?.terminate();
      // A thread that was too slow to answer has not removed its folder.
      const directory = path.join(settings.directory, String(threads - 1));
      await rm(directory, { recursive: true, force: true }).catch(() => undefined);
      for (const id of [...waiting.keys()]) settle(id);
    },
  };
}

/** In the thread: encodes, signs and sends metrics, and keeps them on disk while they cannot be sent. */
function serve({ ingestFunction, directory }: SendThreadSettings): void {
  const say = (reply: SendReply) => parentPort?.postMessage(reply);
  const onTrouble = (message: string, error: unknown) => say({ kind: "trouble", message, error: cloneable(error) });
  const session = openRunSession(process.env, onTrouble);
  const client = new LambdaClient({ maxAttempts: 2, ...session.client });
  const queue = new SendQueue({
    sink: createLambdaMetricSink(client, ingestFunction, session.runKey),
    directory,
    onRefused: ({ message }) => onTrouble(message, undefined),
    onTrouble,
    sleep,
    random: Math.random,
  });
  parentPort?.on("message", (request: SendRequest) => {
    if (request.kind === "post") void queue.post(request.batch).then(() => say({ kind: "gone", id: request.id }));
    else void queue.close(request.patienceMs).then(() => say({ kind: "closed" }));
  });
}

/** Copies an error's name, message and stack: its other properties may not pass between threads. */
function cloneable(error: unknown): Error | undefined {
  if (error === undefined) return undefined;
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
  const copy = new Error(`${name}: ${message}`);
  if (stack !== undefined) copy.stack = stack;
  return copy;
}

/** The final errors of the ingest function: they concern the batch itself. */
const final: readonly (string | undefined)[] = [
  ...["INVALID_INPUT", "RUN_NOT_FOUND", "RUN_KEY_REFUSED", "RUN_FIELD_FIXED", "RUN_ENDED"],
];

/** An answer means that the metrics are stored. @param runKey proves that they come from the run's own trainers */
export function createLambdaMetricSink(
  client: LambdaClient,
  functionName: string,
  runKey: string | undefined,
): MetricSink {
  return {
    async send(batch) {
      const answer = await client.send(
        new InvokeCommand({
          FunctionName: functionName,
          InvocationType: "RequestResponse",
          Payload: toJson({ ...batch, runKey }),
        }),
      );
      if (answer.FunctionError === undefined) return;
      const error = parseError(answer.Payload);
      if (final.includes(error.errorType))
        throw new MetricsRefusedError(error.errorMessage ?? "no reason given", error);
      throw new Error(
        `${functionName} failed: ${error.errorType ?? "Error"}: ${error.errorMessage ?? "no reason given"}`,
      );
    },
  };
}

function parseError(payload: Uint8Array | undefined): { readonly errorType?: string; readonly errorMessage?: string } {
  try {
    return JSON.parse(new TextDecoder().decode(payload)) as { errorType?: string; errorMessage?: string };
  } catch {
    return {};
  }
}

// This file is also the thread's script.
if (!isMainThread && (workerData as Partial<SendThreadSettings> | null)?.ingestFunction !== undefined)
  serve(workerData as SendThreadSettings);
