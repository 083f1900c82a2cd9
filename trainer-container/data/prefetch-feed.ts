import { Worker } from "node:worker_threads";
import type { FeatureManifest } from "../../core/features/shapes";
import type { Batch } from "../engine/engine";
import type { LeafRange } from "../gang/gang";
import type { Feed } from "./feed";
import type { SamplerOptions } from "./sampler";

/** First message to the worker. The shards' memory moves to it, so it exists once. */
export interface PrefetchStart {
  readonly manifest: Pick<FeatureManifest, "transform" | "label">;
  readonly sampler: SamplerOptions;
  readonly shards: readonly Uint8Array<ArrayBuffer>[];
}

/** Requests one micro-batch. The buffers move to the worker and come back filled. */
export interface PrefetchRequest extends PrefetchBuffers {
  readonly step: number;
  readonly index: number;
}

interface PrefetchBuffers {
  readonly inputs: Float32Array<ArrayBuffer>;
  readonly labels: Int32Array<ArrayBuffer> | Float32Array<ArrayBuffer>;
}

type PrefetchReply = PrefetchRequest;

export function transferOf({ inputs, labels }: PrefetchBuffers): ArrayBuffer[] {
  return [inputs.buffer, labels.buffer];
}

/** Number of micro-batches that are requested in advance. */
const ahead = 3;

/** Gathers ahead in a thread: the rank's other leaves, then the next step's. Wrong ones are dropped. */
export function createPrefetchFeed(script: string, start: PrefetchStart, createBuffers: () => PrefetchBuffers): Feed {
  const worker = new Worker(script, { name: "prefetch" });
  worker.unref();
  worker.postMessage(
    start,
    start.shards.map((shard) => shard.buffer),
  );
  const idle: PrefetchBuffers[] = Array.from({ length: ahead + 1 }, createBuffers);
  const rows = start.sampler.batchSize / start.sampler.microBatches;
  /** Requests in the order of the worker's replies. */
  const requests: { readonly step: number; readonly index: number; readonly reply: Promise<PrefetchReply> }[] = [];
  const awaited: { resolve(reply: PrefetchReply): void; reject(error: Error): void }[] = [];
  let inUse: PrefetchBuffers | undefined;
  let broken: Error | undefined;

  worker.on("message", (reply: PrefetchReply) => awaited.shift()?.resolve(reply));
  const fail = (error: Error) => {
    broken ??= error;
    for (const waiting of awaited.splice(0)) waiting.reject(broken);
  };
  worker.on("error", fail);
  worker.on("exit", () => fail(new Error("the prefetch thread ended")));

  function ask(step: number, index: number): void {
    const buffers = idle.pop();
    if (buffers === undefined) return;
    const reply = new Promise<PrefetchReply>((resolve, reject) => {
      if (broken) reject(broken);
      else awaited.push({ resolve, reject });
    });
    reply.catch(() => undefined); // the consumer of the reply handles the error
    requests.push({ step, index, reply });
    const request: PrefetchRequest = { step, index, ...buffers };
    worker.postMessage(request, transferOf(request));
  }

  return {
    async microBatch(step, index, leaves): Promise<Batch> {
      if (inUse) idle.push(inUse);
      inUse = undefined;
      while (requests.length > 0 && !(requests[0]!.step === step && requests[0]!.index === index)) {
        const { inputs, labels } = await requests.shift()!.reply;
        idle.push({ inputs, labels });
      }
      if (requests.length === 0) ask(step, index);
      const { inputs, labels } = await requests.shift()!.reply;
      inUse = { inputs, labels };
      let next = { step, index };
      for (const { step: s, index: i } of requests) next = { step: s, index: i };
      while (idle.length > 0) {
        next = following(next, leaves);
        ask(next.step, next.index);
      }
      return { inputs, labels, rows };
    },
    async close() {
      await worker.terminate();
    },
  };
}

function following({ step, index }: { readonly step: number; readonly index: number }, { first, end }: LeafRange) {
  return index + 1 < end ? { step, index: index + 1 } : { step: step + 1, index: first };
}
