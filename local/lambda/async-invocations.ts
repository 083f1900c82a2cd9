import { appendFileSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../clock";
import { type Delivery, DurableQueue, type Queued } from "../durable-queue";
import type { JsonDatabase } from "../storage/json-database";
import { ServiceError } from "../wire";
import type { InvocationOutcome } from "./types";

interface Invocation {
  readonly functionName: string;
  /** The payload as JSON text. */
  readonly payload: string;
}

export interface AsyncInvocationsOptions {
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
export function createAsyncInvocations(options: AsyncInvocationsOptions): DurableQueue<Invocation> {
  const { clock, retryDelaysMs } = options;
  return new DurableQueue<Invocation>({
    db: options.db,
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
        // The function does not exist any more. Otherwise the service is closing, and the next process delivers the event.
        if (error instanceof ServiceError) return { outcome: "dead", error: error.message };
        throw error;
      }
    },
    giveUp: (queued, error) => appendDeadLetter(options.dataDirectory, queued, error, clock.now()),
  });
}

/** Writes one JSON line for an event that was given up: the event, the function and the reason. */
function appendDeadLetter(directory: string, queued: Queued<Invocation>, error: string, now: number): void {
  const line = {
    time: new Date(now).toISOString(),
    functionName: queued.item.functionName,
    attempts: queued.attempts + 1,
    error,
    payload: queued.item.payload,
  };
  appendFileSync(join(directory, "lambda-dead-letters.ndjson"), `${JSON.stringify(line)}\n`);
}
