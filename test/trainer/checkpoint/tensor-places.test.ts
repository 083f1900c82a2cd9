import { objectKeys } from "../../../core/object-keys";
import { type CheckpointManifest, checkpointFormat } from "../../../core/training/checkpoint/manifest";
import { checkpointStart } from "../../../core/training/initial-weights";
import {
  bytesOf,
  readLive,
  type StoredState,
  stateFiles,
  storeState,
} from "../../../trainer-container/checkpoint/state-files";
import { eraseTensors, ownTensors, tensorPlaces } from "../../../trainer-container/checkpoint/tensor-places";
import { createMemoryObjectStore, type MemoryObjectStore } from "../../adapters/s3/memory-object-store";
import { resultOf } from "../../support/fixtures";

const elements = 1_200_000;
const slot = (name: string) => ({ name, shape: [elements], offset: 0, size: elements, trainable: true });

let store: MemoryObjectStore;
let buffers: readonly Float32Array<ArrayBuffer>[];
beforeEach(() => {
  store = createMemoryObjectStore();
  buffers = [1, 2].map((value) => new Float32Array(elements).fill(value));
});

/** Stores the state as a checkpoint of a run, with its manifest. */
async function checkpoint(runId: string, step: number): Promise<StoredState> {
  const [weights, m] = buffers as [Float32Array<ArrayBuffer>, Float32Array<ArrayBuffer>];
  const layout = [slot("dense")];
  const files = stateFiles(
    [
      { name: "weights", values: weights, groups: [layout] },
      { name: "optimizer/m", values: m, groups: [layout] },
    ],
    layout,
  );
  const state = await storeState(
    store,
    files,
    readLive(buffers),
    await tensorPlaces(store, { runId, step, bytes: bytesOf(files) }),
  );
  await putManifest(runId, step, state);
  return state;
}

async function putManifest(runId: string, finishedSteps: number, { tensors, weightsSha256 }: StoredState) {
  const manifest: CheckpointManifest = {
    ...{ format: checkpointFormat, runId, finishedSteps, epoch: finishedSteps, tensors, weightsSha256 },
    identity: { seed: 0, microBatches: 8, batchSize: 8, layout: "l", optimizer: "adam", gradientFormat: "float32" },
    numerics: resultOf(runId).numerics,
    epochScore: "",
    createdAt: "2026-01-01T00:00:00.000Z",
  };
  await store.put(objectKeys.checkpointManifest(runId, finishedSteps), JSON.stringify(manifest));
}

const keysOf = ({ tensors }: StoredState) => tensors.map(({ key }) => key!);
const stepsOf = (keys: readonly string[]) => keys.map((key) => Number(key.split("/")[3]));
const manifest = (state: StoredState) => state as unknown as Parameters<typeof ownTensors>[1];

it("stores what has not changed since the newest checkpoint once", async () => {
  await checkpoint("run-1", 1);
  buffers[1]![0] = 7;
  const second = await checkpoint("run-1", 2);
  expect(stepsOf(keysOf(second))).toEqual([1, 2]);
  expect(await store.list("runs/run-1/tensors/")).toHaveLength(3);
});

it("stores again what is damaged, under its own step", async () => {
  const [weights] = keysOf(await checkpoint("run-1", 1));
  store.objects.get(weights!)![100]! ^= 1;
  const second = await checkpoint("run-1", 2);
  expect(stepsOf(keysOf(second))).toEqual([2, 1]);
  const { sha256, key } = second.tensors[0]!;
  expect(await store.getContent(sha256, key)).toHaveLength(second.tensors[0]!.bytes);
});

it("stores all again if the newest manifest is damaged, and shares nothing with an older one", async () => {
  await checkpoint("run-1", 1);
  await store.put(objectKeys.checkpointManifest("run-1", 2), "{ torn");
  expect(stepsOf(keysOf(await checkpoint("run-1", 3)))).toEqual([3, 3]);
});

it("erases the tensors of deleted checkpoints that no kept one shares", async () => {
  const first = await checkpoint("run-1", 1);
  buffers[1]![0] = 7;
  const second = await checkpoint("run-1", 2);
  const own = (state: StoredState) => ownTensors("run-1", manifest(state));
  await eraseTensors(store, "run-1", { deleted: own(first), kept: own(second) });
  expect(await store.list("runs/run-1/tensors/")).toEqual(keysOf(second).sort());
});

describe("a run that starts from a checkpoint of another", () => {
  it("keeps its tensors, and stores and erases only its own", async () => {
    const source = await checkpoint("run-1", 1);
    await (await checkpointStart(store, "run-1", 1)).copyTo("run-2");
    await store.delete(objectKeys.checkpointManifest("run-1", 1));
    await eraseTensors(store, "run-1", { deleted: ownTensors("run-1", manifest(source)), kept: [] });
    buffers[1]![0] = 7;
    const next = await checkpoint("run-2", 2);
    expect(keysOf(next)[0]).toBe(keysOf(source)[0]);
    expect(ownTensors("run-2", manifest(next))).toEqual([keysOf(next)[1]]);
    expect(await store.list("runs/run-1/tensors/")).toHaveLength(2);
  });

  it("does not start if the checkpoint expires before its tensors are pinned", async () => {
    await checkpoint("run-1", 1);
    const { copyTo } = await checkpointStart(store, "run-1", 1);
    await store.delete(objectKeys.checkpointManifest("run-1", 1));
    await expect(copyTo("run-2")).rejects.toMatchObject({ code: "CHECKPOINT_NOT_FOUND" });
    expect(await store.list("runs/run-2/")).toEqual([]);
  });

  it("passes on the pins of a source that was itself restored", async () => {
    const source = await checkpoint("run-1", 1);
    await (await checkpointStart(store, "run-1", 1)).copyTo("run-2");
    await (await checkpointStart(store, "run-2", 1)).copyTo("run-3");
    expect(await store.list("runs/run-1/pins/")).toEqual([
      objectKeys.tensorPin("run-1", "run-2", 1),
      objectKeys.tensorPin("run-1", "run-3", 1),
    ]);
    await eraseTensors(store, "run-1", { deleted: ownTensors("run-1", manifest(source)), kept: [] });
    expect(await store.list("runs/run-1/tensors/")).toHaveLength(2);
  });
});

it("never erases tensors that are pinned while it runs: every interleaving", async () => {
  // The trainer deletes the manifest, lists the pins and erases. The new run pins, looks for the manifest and copies it.
  const outcomes = new Set<string>();
  for (let schedule = 0; schedule < 2 ** 10; schedule += 1) {
    store = createMemoryObjectStore();
    const source = await smallCheckpoint();
    const start = await checkpointStart(store, "run-1", 1);
    delayed(schedule);
    const outcome = start.copyTo("run-2").then(
      () => "copied",
      (error: { code: string }) => error.code,
    );
    const erased = (async () => {
      await store.delete(objectKeys.checkpointManifest("run-1", 1));
      await eraseTensors(store, "run-1", { deleted: ownTensors("run-1", manifest(source)), kept: [] });
    })();
    const [result] = await Promise.all([outcome, erased]);
    outcomes.add(result);
    const left = (await store.list("runs/run-1/tensors/")).length;
    if (result === "copied") expect(left).toBe(1);
  }
  expect([...outcomes].sort()).toEqual(["CHECKPOINT_NOT_FOUND", "copied"]);
});

async function smallCheckpoint(): Promise<StoredState> {
  const content = new Uint8Array([1, 2, 3]);
  const { sha256, bytes } = await store.putContent(content);
  const key = objectKeys.tensors("run-1", 1, sha256);
  await store.put(key, content);
  const state = { tensors: [{ buffer: "weights", sha256, bytes, key }], weightsSha256: sha256 };
  await putManifest("run-1", 1, state);
  return state;
}

/** Delays each operation of the store by a number of turns of the event loop that the schedule's next bits determine. */
function delayed(schedule: number): void {
  let bits = schedule;
  for (const name of ["find", "put", "list", "delete", "erase", "hasContent"] as const) {
    const operation = store[name].bind(store) as (...given: unknown[]) => Promise<unknown>;
    Object.assign(store, {
      [name]: async (...given: unknown[]) => {
        const turns = bits & 3;
        bits = (bits >> 2) | ((bits & 3) << 8);
        for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
        return operation(...given);
      },
    });
  }
}
