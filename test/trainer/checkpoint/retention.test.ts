import { parseDocument } from "../../../core/object-documents";
import { objectKeys } from "../../../core/object-keys";
import { checkpointManifest } from "../../../core/training/checkpoint/manifest";
import { Checkpointer, type CheckpointerOptions } from "../../../trainer-container/checkpoint/checkpointer";
import { SnapshotSpace } from "../../../trainer-container/checkpoint/snapshot";
import { uploadHere } from "../../../trainer-container/checkpoint/upload-protocol";
import type { ParameterSlot } from "../../../trainer-container/engine/engine";
import type { Replica } from "../../../trainer-container/loop/replica";
import { createMemoryObjectStore, type MemoryObjectStore } from "../../adapters/s3/memory-object-store";
import { resultOf } from "../../support/fixtures";
import { temporaryFolder } from "../../support/temporary-folder";

/** An uploader that stores one state for each call of `release`. */
class SlowUploader {
  readonly waiting: (() => void)[] = [];
  free = false;

  constructor(readonly store: MemoryObjectStore) {}

  readonly upload: CheckpointerOptions["upload"] = async (state, files, places) => {
    if (!this.free) await new Promise<void>((resolve) => this.waiting.push(resolve));
    return uploadHere(this.store)(state, files, places);
  };

  release(): void {
    this.waiting.shift()?.();
  }

  releaseAll(): void {
    this.free = true;
    for (const go of this.waiting.splice(0)) go();
  }
}

const layout: readonly ParameterSlot[] = [{ name: "w", shape: [4], offset: 0, size: 4, trainable: true }];
const stateBytes = 2 * 4 * 4;
/** Validation loss by epoch, from 1. The best is epoch 7. */
const lossOf = (epoch: number) => 1 + Math.abs(epoch - 7);
const epochs = 20;
const stepsPerEpoch = 4;

describe("what is kept of a run", () => {
  const directory = temporaryFolder("retention");

  function replicaAt(finishedSteps: number, bestEpoch?: number): Replica {
    const state = { m: new Float32Array(4).fill(-finishedSteps) };
    const weights = new Float32Array(4).fill(finishedSteps);
    const best =
      bestEpoch === undefined ? {} : { best: { weights: weights.slice(), numbers: Float64Array.of(bestEpoch) } };
    const replica = { finishedSteps, weights, slots: state, epochScore: new Float64Array(2), ...best };
    return replica as unknown as Replica;
  }

  /** @param bestOf with early stopping: the best epoch after each epoch. */
  function setUp(
    more: Partial<CheckpointerOptions> = {},
    store = createMemoryObjectStore(),
    bestOf?: (epoch: number) => number,
  ) {
    const uploader = new SlowUploader(store);
    const clock = { now: 1_000_000 };
    const failures: unknown[] = [];
    const checkpointer = new Checkpointer({
      store,
      clock: { now: () => clock.now },
      runId: "run-1",
      layout,
      identity: {
        seed: 1,
        microBatches: 1,
        batchSize: 1,
        layout: "l",
        optimizer: "momentum",
        gradientFormat: "float32",
      },
      numerics: resultOf("run-1").numerics,
      rule: { everySteps: 100, stepsPerEpoch, everySeconds: 600, keep: 3 },
      events: {
        written: () => undefined,
        failed: (error) => failures.push(error),
        notKept: (error) => failures.push(error),
      },
      now: () => 0,
      space: new SnapshotSpace(directory),
      upload: uploader.upload,
      sleep: async (ms) => {
        clock.now += ms;
      },
      ...more,
    });
    /** Whether the next step may write to the state, without waiting for an upload. */
    const step = async (finishedSteps: number, role: "leader" | "standby" | "none" = "leader") => {
      const epoch = Math.floor(finishedSteps / stepsPerEpoch);
      const atEnd = finishedSteps % stepsPerEpoch === 0;
      const replica = replicaAt(finishedSteps, bestOf?.(epoch));
      checkpointer.boundary(replica, role, epoch, atEnd ? { loss: lossOf(epoch), weight: 1, metrics: {} } : undefined);
      let free = false;
      const writable = Promise.resolve(checkpointer.writable()).then(() => {
        free = true;
        replica.weights.fill(Number.NaN);
        replica.slots["m"]!.fill(Number.NaN);
      });
      for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
      return { free, writable };
    };
    return { store, uploader, clock, failures, checkpointer, step };
  }

  async function epochsOf(store: MemoryObjectStore): Promise<readonly number[]> {
    const keys = await store.list(objectKeys.checkpointPrefix("run-1"));
    return keys.map((key) => {
      const { epoch, finishedSteps, validation } = parseDocument(
        "manifest",
        Buffer.from(store.objects.get(key)!).toString(),
        checkpointManifest,
      );
      expect([finishedSteps, validation]).toEqual([epoch * stepsPerEpoch, { loss: lossOf(epoch) }]);
      return epoch;
    });
  }

  it.each([
    ["never ends before the last step", 0],
    ["ends once in 1 epoch", 1],
    ["ends once in 5 epochs", 5],
    ["ends once in 13 epochs", 13],
  ])("is the newest three and the best where an upload %s, and no step waits", async (_, every) => {
    const { store, uploader, checkpointer, failures, step } = setUp();
    for (let at = 1; at <= epochs * stepsPerEpoch; at += 1) {
      expect((await step(at)).free).toBe(true);
      if (every > 0 && at % (every * stepsPerEpoch) === 0) uploader.release();
    }
    uploader.releaseAll();
    await checkpointer.flush();
    expect(await epochsOf(store)).toEqual([7, 18, 19, 20]);
    expect(failures).toEqual([]);
  });

  it("is the same with room for two copies: then a step waits for an upload", async () => {
    const { store, uploader, checkpointer, step } = setUp({ copyBytes: 2 * stateBytes });
    const waited: number[] = [];
    for (let at = 1; at <= epochs * stepsPerEpoch; at += 1) {
      const { free, writable } = await step(at);
      if (!free) {
        waited.push(at / stepsPerEpoch);
        uploader.release();
        await writable;
      }
    }
    expect(waited).toEqual(Array.from({ length: 18 }, (_, i) => i + 3)); // one in flight, one waiting
    uploader.releaseAll();
    await checkpointer.flush();
    expect(await epochsOf(store)).toEqual([7, 18, 19, 20]);
  });

  it.each([
    ["by the process that took it", 100],
    ["by a process that continues", 6],
  ])("is the newest three and the best by early stopping, not by the loss: %s", async (_, handover) => {
    const store = createMemoryObjectStore();
    const bestOf = (epoch: number) => Math.min(epoch, 4);
    const workers = [setUp({}, store, bestOf), setUp({}, store, bestOf)];
    for (const { uploader } of workers) uploader.releaseAll();
    for (let at = 1; at <= epochs * stepsPerEpoch; at += 1) {
      const { checkpointer, step } = workers[at <= handover * stepsPerEpoch ? 0 : 1]!;
      await (await step(at)).writable;
      await checkpointer.flush();
    }
    expect(await epochsOf(store)).toEqual([4, 18, 19, 20]);
  });

  it("has the bits of its step, however long the upload took", async () => {
    const { store, uploader, checkpointer, step } = setUp();
    for (let at = 1; at <= epochs * stepsPerEpoch; at += 1) await step(at);
    uploader.releaseAll();
    await checkpointer.flush();
    const body = await store.get(objectKeys.checkpointManifest("run-1", 28));
    const { tensors } = parseDocument("manifest", Buffer.from(body).toString(), checkpointManifest);
    const weights = await (({ sha256, key }) => store.getContent(sha256, key))(
      tensors.find(({ buffer }) => buffer === "weights")!,
    );
    expect(new Float32Array(weights.slice(-16).buffer)).toEqual(new Float32Array(4).fill(28));
  });

  it("is not disturbed by checkpoints that are due by time", async () => {
    const { store, uploader, clock, checkpointer, step } = setUp();
    uploader.free = true;
    for (let at = 1; at <= epochs * stepsPerEpoch; at += 1) {
      clock.now += 601_000; // each step
      await step(at);
      await checkpointer.idle();
      const newest = (await store.list(objectKeys.checkpointPrefix("run-1"))).at(-1);
      expect(newest).toBe(objectKeys.checkpointManifest("run-1", at));
    }
    expect(await epochsOf(store)).toEqual([7, 18, 19, 20]);
  });

  it("is the same where the process is lost with its copies and another goes on from the newest", async () => {
    const first = setUp();
    for (let at = 1; at <= 50; at += 1) {
      await first.step(at);
      if (at % 12 === 0) first.uploader.release();
    }
    const newest = 4 * (await epochsOf(first.store)).at(-1)!;
    expect(newest).toBeLessThan(48);
    const restored = { finishedSteps: newest, validation: { loss: lossOf(newest / 4) } };
    const second = setUp({ restored }, first.store);
    for (let at = newest; at <= epochs * stepsPerEpoch; at += 1) await second.step(at);
    second.uploader.releaseAll();
    await second.checkpointer.flush();
    expect(await epochsOf(second.store)).toEqual([7, 18, 19, 20]);
  });

  it.each([
    { name: "the checkpoint before", newest: 18 },
    { name: "an old checkpoint", newest: 5 },
    { name: "step 0", newest: 0 },
  ])("is the same where two workers are lost and the third goes back to $name", async ({ newest }) => {
    const leader = setUp();
    const other = setUp({}, leader.store);
    // The last checkpoint due before the loss, epoch 19, is one that must be kept.
    for (let at = 1; at <= 78; at += 1) {
      await leader.step(at);
      await other.step(at, "none");
      if (at % stepsPerEpoch === 0 && at / stepsPerEpoch <= newest) leader.uploader.release();
    }
    const from = newest * stepsPerEpoch;
    const validation = { loss: lossOf(newest) };
    other.checkpointer.rewind(newest === 0 ? undefined : { finishedSteps: from, validation });
    other.uploader.free = true;
    for (let at = from + 1; at <= epochs * stepsPerEpoch; at += 1) await other.step(at);
    await other.checkpointer.flush();
    expect(await epochsOf(leader.store)).toEqual([7, 18, 19, 20]);
    expect(other.failures).toEqual([]);
  });

  it.each([
    { name: "where the leader is lost with its copies", uploads: 0 },
    { name: "where the leader has stored some of them", uploads: 4 },
  ])("is the same $name: the second rank has them", async ({ uploads }) => {
    const leader = setUp();
    const standby = setUp({}, leader.store);
    for (const { checkpointer } of [leader, standby]) checkpointer.setLeader("a");
    for (let at = 1; at <= 30; at += 1) {
      await leader.step(at);
      await standby.step(at, "standby");
      if (at % 4 === 0 && at / 4 <= uploads) leader.uploader.release();
    }
    expect(standby.uploader.waiting).toHaveLength(0);
    // The leader is gone; the second rank may be one again, behind a newcomer.
    standby.checkpointer.setLeader("c");
    standby.uploader.free = true;
    const next = setUp({}, leader.store);
    next.uploader.free = true;
    for (let at = 31; at <= epochs * stepsPerEpoch; at += 1) {
      await next.step(at);
      await standby.step(at, "standby");
    }
    await Promise.all([next.checkpointer.flush(), standby.checkpointer.idle()]);
    expect(await epochsOf(leader.store)).toEqual([7, 18, 19, 20]);
    expect(standby.failures).toEqual([]);
  });

  it("is the newest and the best where the store was away for longer than there is room; no step waits", async () => {
    const { store, uploader, clock, checkpointer, failures, step } = setUp({ copyBytes: 2 * stateBytes });
    uploader.free = true;
    const { put } = store;
    store.put = async () => {
      throw new Error("the store is away");
    };
    for (let at = 1; at <= epochs * stepsPerEpoch; at += 1) {
      clock.now += 1_000;
      const { free, writable } = await step(at);
      await writable;
      expect(free).toBe(true);
    }
    expect(failures.length).toBeGreaterThan(1);
    const flushed = checkpointer.flush();
    store.put = put;
    await flushed;
    expect(await epochsOf(store)).toEqual([7, 20]); // two copies
  });

  it("has the state of the last finished step where training ends early", async () => {
    const { store, uploader, checkpointer, step } = setUp();
    for (let at = 1; at <= 30; at += 1) await step(at);
    uploader.releaseAll();
    await checkpointer.finish(replicaAt(30), 7);
    const keys = await store.list(objectKeys.checkpointPrefix("run-1"));
    expect(keys).toEqual([20, 24, 28, 30].map((at) => objectKeys.checkpointManifest("run-1", at)));
  });
});
