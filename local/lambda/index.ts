import { randomUUID } from "node:crypto";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { type Clock, systemClock } from "../clock";
import { type Delivery, DurableQueue } from "../durable-queue";
import { lambdaAccess } from "../iam/access/json";
import { type FunctionInvoker, ServiceStore, type StoredService } from "../service";
import type { JsonDatabase } from "../storage/json-database";
import { ServiceError, sendError } from "../wire";
import { handleLambda, plainName } from "./api";
import { functionNotFound, requestTooLarge } from "./errors";
import { FunctionPool } from "./pool";
import {
  asyncPayloadLimit,
  type FunctionConfig,
  type InvocationOutcome,
  type LambdaOptions,
  syncPayloadLimit,
} from "./types";

interface Invocation {
  readonly functionName: string;
  readonly payload: string;
}

interface AsyncInvocationsOptions {
  readonly db: JsonDatabase;
  readonly dataDirectory: string;
  readonly clock: Clock;
  readonly retryDelaysMs: readonly number[];
  readonly invoke: (functionName: string, payload: string) => Promise<InvocationOutcome>;
}

/**
 * Creates the queue of asynchronous invocations. A failure of the function is retried after each of the delays, and
 * then written to the dead letters.
 */
function createAsyncInvocations(options: AsyncInvocationsOptions): DurableQueue<Invocation> {
  const { db, clock, retryDelaysMs } = options;
  return new DurableQueue<Invocation>({
    db,
    prefix: "async!",
    clock,
    deliver: async (queued): Promise<Delivery> => {
      try {
        const { functionError, payload } = await options.invoke(queued.item.functionName, queued.item.payload);
        if (!functionError) return { outcome: "done" };
        const delayMs = retryDelaysMs[queued.attempts];
        return delayMs === undefined
          ? { outcome: "dead", error: payload }
          : { outcome: "retry", delayMs, error: payload };
      } catch (error) {
        if (error instanceof ServiceError) return { outcome: "dead", error: error.message };
        throw error;
      }
    },
    deadLetters: join(options.dataDirectory, "lambda-dead-letters.ndjson"),
  });
}

export type { FunctionConfig, LambdaOptions } from "./types";

export interface LambdaService extends StoredService, FunctionInvoker {}

/**
 * Creates Lambda for one machine. Each function runs in its own processes, with Lambda's environment, limits and
 * errors.
 *
 * @example const lambda = createLambda({ functions: [{ name: "gate", bundle: "/dist/lambdas/gate.js" }], dataDirectory
 * }); const { payload, functionError } = await lambda.invoke("gate", { runId });
 */
export function createLambda(options: LambdaOptions): LambdaService {
  const clock = options.clock ?? systemClock;
  const functions = new Map<string, FunctionConfig>(options.functions.map((config) => [config.name, config]));
  const poolOptions = {
    runtimePath: options.runtimePath ?? join(__dirname, "lambda-runtime.js"),
    clock,
    logs: options.logs,
    maxEnvironments: options.maxEnvironments ?? 10,
    maxStarting: options.maxStarting ?? Math.max(1, Math.floor(availableParallelism() / 2)),
    idleMs: options.idleMs ?? 60_000,
  };
  const pools = new Map([...functions].map(([name, config]) => [name, new FunctionPool(config, poolOptions)]));

  const invokeText = async (name: string, payload: string): Promise<InvocationOutcome> => {
    const pool = pools.get(name);
    if (!pool) throw functionNotFound(name);
    return pool.invoke(payload);
  };

  const store = new ServiceStore("lambda", options);
  const queue = createAsyncInvocations({
    db: store.db,
    dataDirectory: options.dataDirectory,
    clock,
    retryDelaysMs: options.asyncRetryDelaysMs ?? [60_000, 120_000],
    invoke: invokeText,
  });
  const ready = store.open(() => queue.open());

  const enqueue = async (functionName: string, payload: string): Promise<void> => {
    if (!functions.has(functionName)) throw functionNotFound(functionName);
    await ready;
    await queue.add(randomUUID(), { functionName, payload });
  };

  return {
    signingName: "lambda",
    ready,
    async handle(request, response, caller) {
      try {
        await ready;
        caller?.authorize(lambdaAccess((request.url ?? "/").split("?")[0] ?? "/"));
        await handleLambda({ functions, invokeText, enqueue }, request, response);
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        sendError(response, error, error.code === "ResourceNotFoundException" ? "Message" : "message");
      }
    },
    async invoke(functionName, payload, signal) {
      signal?.throwIfAborted();
      const outcome = await abortable(invokeText(plainName(functionName), encode(payload, syncPayloadLimit)), signal);
      const { functionError } = outcome;
      return { payload: JSON.parse(outcome.payload), ...(functionError ? { functionError } : {}) };
    },
    async invokeAsync(functionName, payload) {
      await enqueue(plainName(functionName), encode(payload, asyncPayloadLimit));
    },
    async close() {
      const closing = queue.close();
      await Promise.all([...pools.values()].map((pool) => pool.close()));
      await closing;
      await store.close();
    },
  };
}

function encode(payload: unknown, limit: number): string {
  const text = JSON.stringify(payload ?? {});
  if (Buffer.byteLength(text) > limit) throw requestTooLarge(limit);
  return text;
}

/** Lets the caller stop waiting. The function continues, as on AWS. */
function abortable<T>(work: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
