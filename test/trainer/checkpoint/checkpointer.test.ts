import { writeFileSync } from "node:fs";
import path from "node:path";
import { parseDocument } from "../../../core/object-documents";
import { objectKeys } from "../../../core/object-keys";
import type { NumericsRecord } from "../../../core/runs/shapes";
import { checkpointManifest } from "../../../core/training/checkpoint/manifest";
import { Checkpointer, type CheckpointerOptions } from "../../../trainer-container/checkpoint/checkpointer";
import { otherNumericsOf, restoreNewest } from "../../../trainer-container/checkpoint/restore";
import { SnapshotSpace } from "../../../trainer-container/checkpoint/snapshot";
import { identityOf, stateBuffers } from "../../../trainer-container/checkpoint/state";
import { readLive, type StoredState, stateFiles, storeState } from "../../../trainer-container/checkpoint/state-files";
import { uploadHere } from "../../../trainer-container/checkpoint/upload-protocol";
import { type CheckpointWriterOptions, writeCheckpoint } from "../../../trainer-container/checkpoint/writer";
import type { Replica } from "../../../trainer-container/loop/replica";
import type { TrainingEvents } from "../../../trainer-container/loop/training";
import { unpackPoints } from "../../../trainer-container/telemetry/packed-points";
import { createMemoryObjectStore, type MemoryObjectStore } from "../../adapters/s3/memory-object-store";
import { temporaryFolder } from "../../support/temporary-folder";
import { FakeGang } from "../loop/fake-gang";
import { classes, createWorker, digest, features, run, taskOf, type Worker } from "../loop/in-process";
import { linearModel, type OnGradient } from "../loop/linear-model";

const numerics: NumericsRecord = {
  backend: "wasm",
  device: "cpu",
  libraries: { "tfjs-core": "4.22.0" },
  threads: { intraOp: 1, interOp: 1 },
  cpu: { model: "test", features: [] },
  switches: { simd: "on" },
  node: "v20",
  platform: "linux",
  arch: "x64",
};

interface Bench {
  readonly store: MemoryObjectStore;
  readonly failures: unknown[];
  readonly written: number[];
  readonly notKept: unknown[];
  readonly space: SnapshotSpace;
  now: number;
}

/** Few bytes in memory, so that a state lies in both. */
const memoryBytes = 100;
const benches: Bench[] = [];
const directory = temporaryFolder("checkpoints");

function bench(space = new SnapshotSpace(directory, memoryBytes)): Bench {
  const at = { store: createMemoryObjectStore(), failures: [], notKept: [], written: [], now: 1_000_000, space };
  benches.push(at);
  return at;
}

function optionsFor(worker: Worker, { store }: Bench, clockOf: () => number): CheckpointWriterOptions {
  const { model, plan } = worker.training;
  const identity = identityOf(plan, model);
  return { store, clock: { now: clockOf }, runId: "run-1", layout: model.layout, identity, numerics };
}

const forever = () => new Promise<void>(() => undefined);

function held(store: MemoryObjectStore): { open(): void } {
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const { putContentStream } = store;
  store.putContentStream = async (...given) => gate.then(() => putContentStream(...given));
  return { open };
}

/** Stores the checkpoints of a whole training. */
async function trained(at: Bench, options?: Parameters<typeof checkpointing>[1]): Promise<Worker> {
  const { worker, checkpointer } = checkpointing(at, options);
  await run(worker);
  await checkpointer.idle();
  return worker;
}

/** A worker that checkpoints into the bench's store, waiting for each upload so that tests know what is there. */
function checkpointing(
  at: Bench,
  {
    gang = new FakeGang(6, ["a"]),
    sleep = forever,
    rule = {},
    create = (events) => createWorker(gang.member("a"), taskOf(), undefined, events),
  }: {
    readonly gang?: FakeGang;
    readonly sleep?: () => Promise<void>;
    readonly rule?: Partial<CheckpointerOptions["rule"]>;
    readonly create?: (events: Partial<TrainingEvents>) => Worker;
  } = {},
) {
  let checkpointer: Checkpointer | undefined;
  const worker = create({
    boundary: (replica, generation, validation) => {
      const epochs = Math.floor(replica.finishedSteps / worker.training.plan.sampler.stepsPerEpoch);
      checkpointer!.boundary(replica, generation.rank === 0 ? "leader" : "none", epochs, validation);
    },
  });
  checkpointer = new Checkpointer({
    ...optionsFor(worker, at, () => at.now),
    rule: { everySteps: 5, stepsPerEpoch: 4, everySeconds: 600, keep: 3, ...rule },
    now: () => 0,
    events: {
      written: (manifest) => at.written.push(manifest.finishedSteps),
      failed: (error) => at.failures.push(error),
      notKept: (error) => at.notKept.push(error),
    },
    space: at.space,
    upload: uploadHere(at.store),
    sleep,
  });
  const original = worker.training.leaves.compute;
  const compute: typeof original = async (step, range) => {
    await checkpointer!.idle();
    return original(step, range);
  };
  return {
    worker: {
      ...worker,
      training: {
        ...worker.training,
        leaves: { ...worker.training.leaves, compute },
        writable: () => checkpointer.writable(),
      },
    },
    checkpointer,
  };
}

const workerAlone = () => createWorker(new FakeGang(6, ["a"]).member("a"));

function restoring(
  at: Bench,
  changes: Partial<NumericsRecord> = {},
  allowOtherNumerics = false,
  worker: Worker = workerAlone(),
) {
  const unusable: string[] = [];
  const restored = restoreNewest(worker.replica, {
    ...optionsFor(worker, at, () => at.now),
    numerics: { ...numerics, ...changes },
    allowOtherNumerics,
    onUnusable: (key) => unusable.push(key),
  });
  return { worker, restored, unusable };
}

async function storedState({ replica, training }: Worker, { store }: Bench): Promise<StoredState> {
  const buffers = stateBuffers(replica, training.model.layout);
  const read = readLive(buffers.map(({ values }) => values));
  const places = { runId: "run-1", step: replica.finishedSteps, earlier: {} };
  return storeState(store, stateFiles(buffers, training.model.layout), read, places);
}

const keyOf = (step: number) => objectKeys.checkpointManifest("run-1", step);

describe("checkpoints", () => {
  let reference: Replica;
  beforeAll(async () => {
    const worker = workerAlone();
    await run(worker);
    reference = worker.replica;
  });
  afterEach(() => {
    for (const { space } of benches.splice(0)) space.close();
  });

  it("reports before a step whether a checkpoint follows it, because the ranks must then send their part of the state", async () => {
    const at = bench();
    const { worker, checkpointer } = checkpointing(at);
    expect([4, 5, 6].map((step) => checkpointer.due(step))).toEqual([true, true, false]);
    at.now += 600_000;
    expect(checkpointer.due(1)).toBe(true);
    const { open } = held(at.store);
    worker.replica.finishedSteps = 5;
    checkpointer.boundary(worker.replica, "leader", 1, undefined);
    at.now += 600_000;
    expect([6, 10].map((step) => checkpointer.due(step))).toEqual([false, true]); // time alone waits for the upload
    open();
    await checkpointer.idle();
    expect([5, 6].map((step) => checkpointer.due(step))).toEqual([false, true]);
  });

  it("fall due by steps and at each epoch's end, and are written in order", async () => {
    const at = bench();
    await trained(at);
    expect(at.written).toEqual([4, 5, 8, 10, 12]); // epochs of 4 steps; multiples of 5
    expect(at.failures).toEqual([]);
  });

  it.each([
    [{ lastStep: 12, everyEpoch: false }, [12]],
    [{ lastStep: 12, everyEpoch: true }, [4, 8, 12]],
  ])("are omitted while the last one is younger than the minimum, with %j", async (rule, written) => {
    const at = bench();
    const { worker, checkpointer } = checkpointing(at, { rule: { minSeconds: 2, ...rule } });
    await run(worker);
    await checkpointer.idle();
    expect(at.written).toEqual(written); // the clock stands still
    at.now += 1_999;
    expect([15, 16].map((step) => checkpointer.due(step))).toEqual([false, rule.everyEpoch]);
    at.now += 1;
    expect([15, 16].map((step) => checkpointer.due(step))).toEqual([true, true]);
  });

  it("carry the metric points of their steps that are not known to be stored", async () => {
    const at = bench();
    const worker = workerAlone();
    const state = await storedState(worker, at);
    const requested: number[] = [];
    const points = [{ metric: "train/loss", steps: [3, 4], values: [0.5, Number.NaN], times: [10, 20] } as const];
    const write = (unsent: typeof points | []) =>
      writeCheckpoint(
        {
          ...optionsFor(worker, at, () => 0),
          unsentMetrics: (finishedSteps) => {
            requested.push(finishedSteps);
            return unsent;
          },
        },
        state,
        { finishedSteps: 4, epoch: 1, epochScore: worker.replica.epochScore },
      );
    const { runId, unsentMetrics } = await write(points);
    expect(unsentMetrics?.runId).toBe(runId);
    expect(unpackPoints(unsentMetrics!.series)).toEqual(points);
    expect((await write([])).unsentMetrics).toBeUndefined();
    expect(requested).toEqual([4, 4]);
  });

  it("fall due by time where steps are slow", async () => {
    const at = bench();
    const { worker, checkpointer } = checkpointing(at);
    const { replica } = worker;
    for (const [step, minutes] of [
      [1, 0],
      [2, 9.9],
      [3, 10],
      [6, 15],
    ] as const) {
      replica.finishedSteps = step;
      at.now = 1_000_000 + minutes * 60_000;
      checkpointer.boundary(replica, "leader", 0, undefined);
      await checkpointer.idle();
    }
    expect(at.written).toEqual([3]);
  });

  it("let a run that died anywhere end with the same bits", async () => {
    for (const [died, lastStored] of [
      [4, undefined], // lost in the first epoch's validation, before anything was stored
      [5, 5],
      [8, 5],
      [9, 8],
      [11, 10],
    ] as const) {
      const at = bench();
      const gang = new FakeGang(6, ["a", "z"]);
      gang.faults.set(died, { kill: "a" });
      const { worker } = checkpointing(at, { gang });
      void run(worker);
      const other = createWorker(gang.member("z"));
      void run(other).catch(() => undefined);
      while (gang.faults.has(died)) await new Promise(setImmediate);

      const { worker: resumed, restored } = restoring(at);
      const manifest = await restored;
      expect(manifest?.finishedSteps).toBe(lastStored);
      await run(resumed);
      expect(digest(resumed.replica)).toBe(digest(reference));
    }
  });

  it("use the one before where a tensor is damaged, and say so", async () => {
    const at = bench();
    await trained(at);
    const newest = parseDocument("manifest", Buffer.from(await at.store.get(keyOf(12))).toString(), checkpointManifest);
    const slot = newest.tensors.find(({ buffer }) => buffer === "optimizer/m")!;
    at.store.objects.get(slot.key!)!.reverse();
    await at.store.put(keyOf(10), "{ torn");

    const { worker: resumed, restored, unusable } = restoring(at);
    expect((await restored)!.finishedSteps).toBe(8);
    expect(unusable).toEqual([keyOf(12), keyOf(10)]);
    await run(resumed);
    expect(digest(resumed.replica)).toBe(digest(reference));
    await trained(at);
    const again = restoring(at);
    expect((await again.restored)!.finishedSteps).toBe(12); // its content was repaired
    expect(again.unusable).toEqual([]);
  });

  it.each<[string, (bytes: Uint8Array) => Uint8Array | undefined]>([
    ["has one bit flipped", (bytes) => bytes.map((byte, i) => (i === bytes.length - 3 ? byte ^ 16 : byte))],
    ["is missing", () => undefined],
    ["is cut short", (bytes) => bytes.slice(0, -8)],
  ])("use the one before where a part of the newest %s, and say so", async (_damage, damage) => {
    const at = bench();
    await trained(at);
    const newest = parseDocument("manifest", Buffer.from(await at.store.get(keyOf(12))).toString(), checkpointManifest);
    const part = newest.tensors.find(({ buffer }) => buffer === "weights")!.key!;
    const damaged = damage(at.store.objects.get(part)!);
    if (damaged) at.store.objects.set(part, damaged);
    else at.store.objects.delete(part);

    const { worker: resumed, restored, unusable } = restoring(at);
    expect((await restored)!.finishedSteps).toBe(10);
    expect(unusable).toEqual([keyOf(12)]);
    await run(resumed);
    expect(digest(resumed.replica)).toBe(digest(reference));
  });

  it("fail the training where none is usable, with an error that names each and its object", async () => {
    const at = bench();
    await trained(at);
    for (const [key, bytes] of at.store.objects) if (key.includes("/tensors/")) bytes[bytes.length - 1]! ^= 1;
    const { restored, unusable } = restoring(at);
    await expect(restored).rejects.toMatchObject({ code: "CORRUPT_OBJECT" });
    await expect(restored).rejects.toThrow(/run-1 has 3 checkpoints and none can be used.*tensors\/0+12\/[0-9a-f]{64}/);
    expect(unusable).toHaveLength(3);
  });

  it("fail a training whose first checkpoint is missing", async () => {
    const worker = workerAlone();
    const options = { ...optionsFor(worker, bench(), () => 0), allowOtherNumerics: false, onUnusable: () => undefined };
    await expect(restoreNewest(worker.replica, { ...options, startStep: 8 })).rejects.toThrow(keyOf(8));
    expect(await restoreNewest(worker.replica, options)).toBeUndefined();
  });

  it("keep checkpoints that can be read, whatever is damaged next to them", async () => {
    const at = bench();
    const damaged = [100, 101, 102, 103].map(keyOf);
    for (const key of damaged) await at.store.put(key, "{ torn");
    await trained(at);
    const kept = await at.store.list(objectKeys.checkpointPrefix("run-1"));
    expect(kept).toEqual([8, 10, 12, 100, 101, 102, 103].map(keyOf));
    expect((await restoring(at).restored)!.finishedSteps).toBe(12);
  });

  it("keep the mark of other numerics permanently", async () => {
    const at = bench();
    await trained(at);
    const changed = { ...numerics, threads: { intraOp: 2, interOp: 1 } };
    const { worker: resumed, restored } = restoring(at, changed, true);
    const marked = otherNumericsOf(await restored, changed);
    expect(marked).toEqual(["threads.intraOp"]);
    const header = { finishedSteps: 13, epoch: 3, epochScore: resumed.replica.epochScore };
    const options = { ...optionsFor(resumed, at, () => 0), numerics: changed, otherNumerics: marked };
    await writeCheckpoint(options, await storedState(resumed, at), header);
    const again = await restoring(at, changed).restored;
    expect([again!.finishedSteps, otherNumericsOf(again, changed)]).toEqual([13, ["threads.intraOp"]]);
    expect(otherNumericsOf(undefined, changed)).toEqual([]);
  });

  it("refuse other numerics by name, unless they are allowed", async () => {
    const at = bench();
    await trained(at);
    const other = { threads: { intraOp: 2, interOp: 1 } };
    await expect(restoring(at, other).restored).rejects.toMatchObject({
      code: "NUMERICS_DIFFER",
      message: expect.stringContaining("threads.intraOp was 1 and is 2"),
    });
    expect((await restoring(at, other, true).restored)!.finishedSteps).toBe(12);
  });

  it("of an epoch's end are taken again once its validation is known", async () => {
    const at = bench();
    const { worker, checkpointer } = checkpointing(at);
    worker.replica.finishedSteps = 8;
    checkpointer.boundary(worker.replica, "leader", 2, undefined); // the gang re-forms before the validation
    checkpointer.boundary(worker.replica, "leader", 2, { loss: 0.5, weight: 50, metrics: {} });
    checkpointer.boundary(worker.replica, "leader", 2, { loss: 0.5, weight: 50, metrics: {} });
    await checkpointer.idle();
    expect(at.written).toEqual([8, 8]);
    expect((await restoring(at).restored)!.validation).toEqual({ loss: 0.5 });
  });

  describe("where no file can take a copy", () => {
    const spaceless = () => {
      const file = path.join(directory, "not-a-folder");
      writeFileSync(file, "");
      return new SnapshotSpace(path.join(file, "state"), memoryBytes);
    };

    it("hold the next step until they are uploaded from the state itself", async () => {
      const at = bench(spaceless());
      const { worker, checkpointer } = checkpointing(at);
      const { replica } = worker;
      const gate = held(at.store);
      replica.finishedSteps = 5;
      const first = digest(replica);
      checkpointer.boundary(replica, "leader", 0, undefined);
      let free = false;
      const writable = checkpointer.writable()!.then(() => {
        free = true;
      });
      await new Promise(setImmediate);
      expect([free, at.notKept.length]).toEqual([false, 1]);
      gate.open();
      await writable;
      replica.weights.fill(99);
      await checkpointer.idle();
      const { worker: resumed, restored } = restoring(at);
      await restored;
      expect(digest(resumed.replica)).toBe(first);
    });

    it("are given up where that takes too long, and nothing half changed becomes visible", async () => {
      const at = bench(spaceless());
      const { worker, checkpointer } = checkpointing(at, { sleep: async () => undefined });
      const { replica } = worker;
      const gate = held(at.store);
      replica.finishedSteps = 5;
      checkpointer.boundary(replica, "leader", 0, undefined);
      await checkpointer.writable();
      replica.weights.fill(99);
      gate.open();
      await checkpointer.idle();
      expect(at.written).toEqual([]);
      expect(at.failures).toEqual([expect.objectContaining({ message: expect.stringContaining("changed before") })]);
      expect(await at.store.list(objectKeys.checkpointPrefix("run-1"))).toEqual([]);
    });
  });

  it("that fail leave training alone and are tried again", async () => {
    const at = bench();
    const { worker, checkpointer } = checkpointing(at);
    const { put } = at.store;
    at.store.put = async () => {
      throw new Error("disk full");
    };
    worker.replica.finishedSteps = 5;
    checkpointer.boundary(worker.replica, "leader", 0, undefined);
    await checkpointer.idle();
    expect(at.failures).toHaveLength(1);
    at.store.put = put;
    worker.replica.finishedSteps = 6;
    checkpointer.boundary(worker.replica, "leader", 0, undefined);
    await checkpointer.idle();
    expect(at.written).toEqual([]);
    at.now += 15_000;
    checkpointer.boundary(worker.replica, "leader", 0, undefined);
    await checkpointer.idle();
    expect(at.written).toEqual([5]);
  });

  it.each(["gradientFormat", "precision"] as const)(
    "of %s float16 have the loss scale; another format's is refused",
    async (field) => {
      const spike: OnGradient = (key, gradient) => {
        if (key.includes("step 1 ")) for (let i = 0; i < gradient.length; i++) gradient[i]! *= 1e36; // overflows float16
      };
      const workerOf = (format: "float32" | "bfloat16" | "float16", events: Partial<TrainingEvents> = {}) =>
        createWorker(
          new FakeGang(6, ["a"]).member("a"),
          taskOf({}, { [field]: format }),
          linearModel(features, classes, spike),
          events,
        );
      const at = bench();
      const worker = await trained(at, { create: (events) => workerOf("float16", events) });
      const { worker: other, restored } = restoring(at, {}, false, workerOf("float16"));
      expect((await restored)?.finishedSteps).toBe(12);
      expect(other.replica.lossScale).toEqual({ scale: 512, goodSteps: 10, skipped: 1 });
      expect(digest(other.replica)).toBe(digest(worker.replica));
      for (const format of ["float32", "bfloat16"] as const)
        await expect(restoring(at, {}, false, workerOf(format)).restored).rejects.toThrow(
          `${field} is float16 there and ${format} here`,
        );
    },
  );

  it("finish stores the state of a worker that leaves, whichever worker is leader, but not twice", async () => {
    const at = bench();
    const { worker, checkpointer } = checkpointing(at);
    worker.replica.finishedSteps = 5;
    checkpointer.boundary(worker.replica, "none", 0, undefined);
    await checkpointer.finish(worker.replica, 1);
    await checkpointer.finish(worker.replica, 1);
    expect(at.written).toEqual([5]);
  });
});
