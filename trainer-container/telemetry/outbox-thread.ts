import { rm } from "node:fs/promises";
import path from "node:path";
import { Worker } from "node:worker_threads";
import type { MetricBatch } from "../../core/tracking/metric-store";
import type { OutboxReply, OutboxRequest, OutboxThreadSettings, Sender } from "./outbox-protocol";
import { within } from "./within";

/** Batches that a second thread can repeat: half a minute's. The first thread has written earlier ones to disk, or lost them. */
const repeatable = 64;
/** Added to the outbox's maximum wait, for a thread that no longer answers. */
const graceMs = 1_000;

interface Waiting {
  batch: MetricBatch | undefined;
  readonly resolve: () => void;
}

/**
 * A request costs 2 to 3 ms, which must not delay a step. After a thread's end the next repeats unsent batches: twice
 * is possible.
 */
export function createOutboxThread(
  script: string,
  settings: OutboxThreadSettings,
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
    const started = new Worker(script, { name: "outbox", workerData: { ...settings, directory }, env: process.env });
    started.unref();
    started.on("message", (reply: OutboxReply) => {
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
      else started.postMessage({ kind: "post", id, batch } satisfies OutboxRequest);
    }
    return started;
  }

  function settle(id: number): void {
    waiting.get(id)?.resolve();
    waiting.delete(id);
  }

  function ask(request: OutboxRequest): void {
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
