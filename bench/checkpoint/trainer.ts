import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { S3Client } from "@aws-sdk/client-s3";
import { createObjectStore } from "../../adapters/s3/object-store";
import type { NumericsRecord } from "../../core/runs/shapes";
import { Checkpointer } from "../../trainer-container/checkpoint/checkpointer";
import { SnapshotSpace } from "../../trainer-container/checkpoint/snapshot";
import { createUploadThread } from "../../trainer-container/checkpoint/upload-thread";
import type { ParameterSlot } from "../../trainer-container/engine/engine";
import { allocateSum } from "../../trainer-container/kernels/sum-memory";
import type { Replica } from "../../trainer-container/loop/replica";
import type { CheckpointTime, TrainerReport, TrainerTask } from "./protocol";

/** Returns a layout of 41.7 million parameters, 500 MB with Adam's moments: tensors of one part, of several, and biases. */
function layoutOf(): readonly ParameterSlot[] {
  const shapes = [[4096, 2000], ...Array.from({ length: 6 }, () => [2048, 2048]), [2048, 4085]];
  const slots: ParameterSlot[] = [];
  let offset = 0;
  for (const [index, shape] of shapes.entries()) {
    for (const [kind, sides] of [["kernel", shape] as const, ["bias", shape.slice(1)] as const]) {
      const size = sides.reduce((product, side) => product * side, 1);
      slots.push({ name: `layer-${index}/${kind}`, shape: sides, offset, size, trainable: true });
      offset += size;
    }
  }
  return slots;
}

const numerics: NumericsRecord = {
  backend: "wasm",
  device: "cpu",
  libraries: {},
  threads: { intraOp: 1, interOp: 1 },
  cpu: { model: "bench", features: [] },
  switches: {},
  node: process.version,
  platform: process.platform,
  arch: process.arch,
};

const resident = (field: "VmRSS" | "VmHWM") =>
  Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync("/proc/self/status", "utf8"))![1]) * 1024;

async function main(task: TrainerTask): Promise<TrainerReport> {
  const layout = layoutOf();
  const parameters = layout.reduce((sum, { size }) => sum + size, 0);
  const store = createObjectStore(new S3Client({}), task.bucket);
  const upload = createUploadThread(path.join(__dirname, "checkpoint-upload-worker.js"), {
    bucket: task.bucket,
    prefix: "",
  });
  await store.put("warm", "up");
  await upload({ memory: new Uint8Array(new SharedArrayBuffer(4)) }, smallest, {
    runId: "warm",
    step: 0,
    earlier: {},
  });
  const baseBytes = resident("VmRSS");

  const state = { m: allocateSum(parameters), v: allocateSum(parameters) };
  const weights = allocateSum(parameters);
  const replica = {
    finishedSteps: 0,
    weights,
    optimizer: { state },
    epochScore: new Float64Array(2),
    buffers: [],
  } as unknown as Replica;
  const buffers = [weights, state.m, state.v];
  // The content of two processes differs, otherwise the store would skip the second upload.
  const salt = Math.floor(Math.random() * 2 ** 32);
  buffers.forEach((buffer, i) => {
    const words = new Uint32Array(buffer.buffer, buffer.byteOffset, buffer.length);
    for (let at = 0; at < words.length; at += 1) words[at] = at * (i + 1) + salt;
  });
  const write = () => {
    for (const { buffer, byteOffset, length } of buffers) {
      const words = new Uint32Array(buffer, byteOffset, length);
      for (let at = 0; at < length; at += 1) words[at]! += 0x9e3779b1;
    }
    replica.finishedSteps += 1;
  };

  let failure: unknown;
  const checkpointer: Checkpointer = new Checkpointer({
    store,
    clock: { now: () => Date.now() },
    runId: `bench-${task.stepMs ?? "sync"}`,
    layout,
    identity: { seed: 0, microBatches: 1, batchSize: 1, layout: "bench", optimizer: "adam", gradientFormat: "float32" },
    numerics,
    rule: { everySteps: 2, stepsPerEpoch: 1_000_000, everySeconds: 3_600, keep: 3 },
    now: () => performance.now(),
    events: {
      written: () => undefined,
      failed: (error) => {
        failure = error;
      },
      notKept: (error) => {
        failure = error;
      },
    },
    space: new SnapshotSpace(tmpdir()),
    upload,
    sleep,
  });

  const checkpoints: CheckpointTime[] = [];
  for (let taken = 0; taken < task.checkpoints; taken += 1) {
    write();
    if (replica.finishedSteps === 1) {
      // A boundary without a due checkpoint: the trainer allocates the copy's pages here.
      checkpointer.boundary(replica, "leader", 0, undefined);
      await sleep(Math.max(2_000, task.stepMs ?? 0));
    }
    if (replica.finishedSteps % 2 === 1) write();
    const began = performance.now();
    checkpointer.boundary(replica, "leader", 0, undefined);
    let blockedMs = performance.now() - began;
    let uploading = true;
    const done = checkpointer.idle().then(() => {
      uploading = false;
      return performance.now() - began;
    });
    while (task.stepMs !== undefined && uploading) {
      await sleep(task.stepMs);
      const startedAt = performance.now();
      await checkpointer.writable();
      blockedMs += performance.now() - startedAt;
      write();
    }
    const totalMs = await done;
    if (task.stepMs === undefined) blockedMs = totalMs;
    checkpoints.push({ blockedMs, totalMs });
    if (failure) throw failure;
  }
  return { stateBytes: parameters * 12, baseBytes, peakBytes: resident("VmHWM"), checkpoints };
}

const nothing = { buffer: "weights", head: new Uint8Array(1), ranges: [] };
const smallest = { groups: [], weights: nothing };

main(JSON.parse(process.argv[2]!) as TrainerTask).then(
  (report) => {
    process.stdout.write(`${JSON.stringify(report)}\n`);
    process.exit(0);
  },
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
    process.exit(1);
  },
);
