import fc from "fast-check";
import { FakeGang } from "./fake-gang";
import { createWorker, run, taskOf, type Worker } from "./in-process";
import { createShardedWorker, type ShardedWorker, slotsAgree, weightsDigest } from "./sharded-worker";
import { wideModel } from "./wide-model";

const names = ["a", "b", "c", "d", "e", "f", "g", "h"];
const microshards = 8;
const task = (hyperparameters = {}) => taskOf({ microshards }, { epochs: 2, ...hyperparameters }); // 8 steps

async function trainAlone(changes = {}): Promise<Worker> {
  const worker = createWorker(new FakeGang(microshards, ["a"]).member("a"), task(changes), wideModel());
  await run(worker);
  return worker;
}

async function trainTogether(gang: FakeGang, workers: Readonly<Record<string, Worker>>, survivors: readonly string[]) {
  const ends = Object.fromEntries(
    Object.entries(workers).map(([id, worker]) => [
      id,
      run(worker).then((end) => {
        gang.kill(id);
        return end;
      }),
    ]),
  );
  return Promise.all(survivors.map((id) => ends[id]));
}

function shardedWorkers(gang: FakeGang, ids: readonly string[], hyperparameters = {}): Record<string, ShardedWorker> {
  return Object.fromEntries(ids.map((id) => [id, createShardedWorker(gang.member(id), task(hyperparameters))]));
}

describe("a sharded optimizer", () => {
  let reference: Worker;
  beforeAll(async () => {
    reference = await trainAlone();
  });

  const expectReference = (worker: ShardedWorker) => {
    expect(weightsDigest(worker.replica)).toBe(weightsDigest(reference.replica));
    expect(slotsAgree(worker.replica, reference.replica)).toBe(true);
  };

  it.each([1, 2, 3, 4, 5, 8])("gives the bits of a whole one on %i ranks, and reports the same", async (world) => {
    const gang = new FakeGang(microshards, names.slice(0, world));
    const workers = shardedWorkers(gang, names.slice(0, world));
    await trainTogether(gang, workers, Object.keys(workers));
    for (const worker of Object.values(workers)) {
      expectReference(worker);
      expect(worker.outcomes).toEqual(reference.outcomes);
      expect(worker.epochs).toEqual(reference.epochs);
      expect(worker.restores).toBe(0);
    }
  });

  it.each(["sgd", "momentum", "adamw"])("gives %s's bits, with weight decay", async (optimizer) => {
    const changes = { optimizer, weightDecay: 0.01, clipNorm: 0 };
    const alone = await trainAlone(changes);
    const gang = new FakeGang(microshards, names.slice(0, 3));
    gang.operationFaults.set(20, { kill: ["b"], delivered: ["a"] });
    const workers = shardedWorkers(gang, names.slice(0, 3), changes);
    await trainTogether(gang, workers, ["a", "c"]);
    for (const id of ["a", "c"]) {
      expect(weightsDigest(workers[id]!.replica)).toBe(weightsDigest(alone.replica));
      expect(slotsAgree(workers[id]!.replica, alone.replica)).toBe(true);
    }
  });

  it("loses nothing with one rank, wherever in a step or a re-formation it goes and whoever had finished", async () => {
    let restores = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 2, max: 6 }),
        fc.integer({ min: 1, max: 30 }),
        fc.nat(5),
        fc.nat(63),
        async (world, operation, victim, delivered) => {
          const ids = names.slice(0, world);
          const gang = new FakeGang(microshards, ids);
          const kill = ids[victim % world]!;
          gang.operationFaults.set(operation, {
            kill: [kill],
            delivered: ids.filter((_, i) => ((delivered >> i) & 1) === 1),
          });
          const workers = shardedWorkers(gang, ids);
          const survivors = ids.filter((id) => id !== kill);
          await trainTogether(gang, workers, survivors);
          for (const id of survivors) expectReference(workers[id]!);
          restores += survivors.reduce((sum, id) => sum + workers[id]!.restores, 0);
          expect(gang.generationCount).toBeLessThanOrEqual(2);
        },
      ),
      { numRuns: 40, seed: 5 },
    );
    expect(restores).toBe(0);
  });
});
