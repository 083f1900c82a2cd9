import { tmpdir } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { S3Client } from "@aws-sdk/client-s3";
import { createReclamationObjects } from "../../adapters/reclamation/stored-objects";
import { createObjectStore } from "../../adapters/s3/object-store";
import type { NumericsRecord } from "../../core/runs/shapes";
import { createCheckpointer } from "../../trainer-container/checkpoint/checkpointer";
import { SnapshotSpace } from "../../trainer-container/checkpoint/snapshot";
import { uploadHere } from "../../trainer-container/checkpoint/upload-protocol";
import type { Replica } from "../../trainer-container/loop/replica";
import type { Services } from "./objects";

const checkpoints = 144;
const keep = 3;
const elements = 1_000_000;

export interface DayLine {
  readonly stateBytes: number;
  readonly checkpoints: number;
  readonly sentBytes: number;
  readonly largestBytes: number;
  readonly endBytes: number;
}

/**
 * Takes the checkpoints of a day, one each ten minutes, with the trainer's own checkpointer, and looks at the stored
 * tensors all the time. The state is smaller than in practice, and every value changes between two checkpoints.
 */
export async function measureDay(services: Services, client: S3Client): Promise<DayLine> {
  const store = createObjectStore(client, services.bucket, "teams/day/");
  const objects = createReclamationObjects(client, services.bucket);
  const stored = async () => {
    let bytes = 0;
    for (
      let after = "teams/day/", page = await objects.list(after);
      page.length > 0;
      page = await objects.list(after)
    ) {
      for (const object of page) bytes += object.bytes;
      after = page.at(-1)!.key;
    }
    return bytes;
  };
  const buffers = [0, 1, 2].map(() => new Float32Array(elements));
  const replica = {
    finishedSteps: 0,
    weights: buffers[0],
    optimizer: { state: { m: buffers[1], v: buffers[2] } },
    epochScore: new Float64Array(2),
    buffers: [],
  } as unknown as Replica;
  let failure: unknown;
  const fail = (error: unknown) => {
    failure = error;
  };
  const checkpointer = createCheckpointer({
    store,
    clock: { now: () => Date.now() },
    runId: "run-day",
    layout: [{ name: "kernel", shape: [elements], offset: 0, size: elements, trainable: true }],
    identity: { seed: 0, microshards: 1, batchSize: 1, layout: "bench", optimizer: "adam", gradientFormat: "float32" },
    numerics: {} as NumericsRecord,
    rule: { everySteps: 1, stepsPerEpoch: 1, everySeconds: 3_600, keep },
    now: () => performance.now(),
    events: { written: () => undefined, failed: fail, notKept: fail },
    space: new SnapshotSpace(tmpdir()),
    upload: uploadHere(store),
    sleep,
  });
  let largestBytes = 0;
  for (let taken = 1; taken <= checkpoints; taken += 1) {
    for (const [b, values] of buffers.entries()) {
      for (let i = 0; i < values.length; i += 1) values[i] = i / (taken + 0.25 * (b + 1));
    }
    replica.finishedSteps = taken;
    // The best checkpoint is an old one for most of the day.
    const validation = { loss: 1 + ((taken + 70) % 100) / 100, accuracy: 0.5 };
    checkpointer.boundary(replica, "leader", taken, validation as Parameters<typeof checkpointer.boundary>[3]);
    let isUploading = true;
    const uploaded = checkpointer.idle().finally(() => {
      isUploading = false;
    });
    while (isUploading) {
      largestBytes = Math.max(largestBytes, await stored());
      await sleep(5);
    }
    await uploaded;
    await checkpointer.writable();
    if (failure) throw failure;
  }
  checkpointer.close();
  const stateBytes = elements * 4 * buffers.length;
  return { stateBytes, checkpoints, sentBytes: stateBytes * checkpoints, largestBytes, endBytes: await stored() };
}
