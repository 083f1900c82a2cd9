import { parentPort } from "node:worker_threads";
import { decodeFeatureShard } from "../../core/features/encoding";
import { splitOf } from "./feature-split";
import { type PrefetchRequest, type PrefetchStart, transferOf } from "./prefetch-feed";
import { createSampler } from "./sampler";

/** The thread that gathers micro-batches in advance. It owns the split's memory and fills the buffers that it receives. */
parentPort?.once("message", ({ manifest, sampler: options, shards }: PrefetchStart) => {
  const split = splitOf(
    shards.map((bytes) => decodeFeatureShard(bytes, manifest)),
    manifest,
  );
  const sampler = createSampler(options);
  const rows = new Uint32Array(sampler.rowsPerMicroBatch);
  parentPort?.on("message", (request: PrefetchRequest) => {
    sampler.rowsOf(request.step, request.index, rows);
    split.gather(rows, request.inputs, request.labels);
    parentPort?.postMessage(request, transferOf(request));
  });
});
