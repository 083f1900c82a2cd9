import { appendFileSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../clock";
import { type Delivery, DurableQueue, type Queued } from "../durable-queue";
import type { JsonDatabase } from "../storage/json-database";
import { ServiceError } from "../wire";
import type { InvocationOutcome } from "./types";

/** Lambda gives up on throttled events when they are six hours old. */
const maxAgeMs = 6 * 3_600_000;
const throttleDelayMs = 1_000;

interface Invocation {
  readonly functionName: string;
  /** JSON text. */
  readonly payload: string;
}

export interface AsyncInvocationsOptions {
  readonly db: JsonDatabase;
  readonly dataDirectory: string;
  readonly clock: Clock;
  readonly retryDelaysMs: readonly number[];
  readonly invoke: (functionName: string, payload: string) => Promise<InvocationOutcome>;
}

/** The queue of asynchronous invocations: a failure of the function is retried after each of the delays, then buried. */
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
        if (error instanceof ServiceError && !error.retryable) return { outcome: "dead", error: error.message };
        // Throttled: the function has not run. The attempts that count are those that ran.
        if (clock.now() - queued.addedAt > maxAgeMs) return { outcome: "dead", error: "EventAgeExceeded" };
        return { outcome: "postpone", delayMs: throttleDelayMs };
      }
    },
    bury: (queued, error) => appendDeadLetter(options.dataDirectory, queued, error, clock.now()),
  });
}

/** One JSON line for each event that was given up: what, for whom, why. */
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
