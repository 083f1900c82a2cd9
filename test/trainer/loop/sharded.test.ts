import fc from "fast-check";
import type { Gang } from "../../../trainer-container/gang/gang";
import { rounds } from "../../support/rounds";
import { FakeCheckpoints, stateDigest } from "./fake-checkpoints";
import { FakeGang } from "./fake-gang";
import { createWorker, run, taskOf, trainTogether, type Worker } from "./in-process";
import { createShardedWorker, type ShardedWorker, slotsAgree, weightsDigest } from "./sharded-worker";
import { wideModel } from "./wide-model";

const names = ["a", "b", "c", "d", "e", "f", "g", "h"];
const microBatches = 8;
const task = (hyperparameters = {}) => taskOf({ microBatches }, { epochs: 2, ...hyperparameters }); // 8 steps

async function trainAlone(changes = {}): Promise<Worker> {
  const worker = createWorker(new FakeGang(microBatches, ["a"]).member("a"), task(changes), wideModel());
  await run(worker);
  return worker;
}

interface Setting {
  readonly hyperparameters?: object;
  /** A checkpoint every so many steps, and at epochs' ends; 0: none at all. */
  readonly every?: number;
  readonly checkpoints?: FakeCheckpoints;
  readonly onStep?: (id: string, step: number) => void;
}

function createOne(gang: Gang, { hyperparameters, every = 0, checkpoints, onStep }: Setting): ShardedWorker {
  return createShardedWorker(gang, task(hyperparameters), {
    checkpointDue: (step) => every > 0 && step % every === 0,
    ...(checkpoints === undefined ? {} : { restore: async (replica) => checkpoints.restore(replica) }),
    events: {
      stepFinished: ({ step }) => onStep?.(gang.memberId, step),
      boundary: (replica, { rank, worldSize }) => {
        if (rank === 0 && (worldSize > 1 || replica.finishedSteps % (every || 1) === 0)) checkpoints?.save(replica);
      },
    },
  });
}

function shardedWorkers(gang: FakeGang, ids: readonly string[], setting: Setting = {}): Record<string, ShardedWorker> {
  return Object.fromEntries(ids.map((id) => [id, createOne(gang.member(id), setting)]));
}

describe("a sharded optimizer", () => {
  let reference: Worker;
  const states = new Map<number, string>();
  beforeAll(async () => {
    reference = createWorker(new FakeGang(microBatches, ["a"]).member("a"), task(), wideModel(), {
      boundary: (replica) => states.set(replica.finishedSteps, stateDigest(replica)),
    });
    await run(reference);
  });

  const expectReference = (worker: ShardedWorker) => {
    expect(weightsDigest(worker.replica)).toBe(weightsDigest(reference.replica));
    expect(slotsAgree(worker.replica, reference.replica)).toBe(true);
  };

  it.each([1, 2, 3, 4, 5, 8])("gives the bits of a whole one on %i ranks, and reports the same", async (world) => {
    const gang = new FakeGang(microBatches, names.slice(0, world));
    const workers = shardedWorkers(gang, names.slice(0, world));
    await trainTogether(gang, workers, Object.keys(workers));
    for (const worker of Object.values(workers)) {
      expectReference(worker);
      expect(worker.outcomes).toEqual(reference.outcomes);
      expect(worker.epochs).toEqual(reference.epochs);
      expect(worker.restores).toBe(0);
    }
  });

  it.each([
    { optimizer: "sgd" },
    { optimizer: "momentum" },
    { optimizer: "momentum", nesterov: true },
    { optimizer: "adam", beta1: 0.8, beta2: 0.99, epsilon: 1e-6 },
    { optimizer: "adamw", beta1: 0.8 },
    { optimizer: "adam", beta1: 0.9, schedule: "step", stepSize: 2, gamma: 0.5 },
  ])("gives the bits of %o, with weight decay", async (given) => {
    const changes = { ...given, weightDecay: 0.01, clipNorm: 0 };
    const alone = await trainAlone(changes);
    const gang = new FakeGang(microBatches, names.slice(0, 3));
    gang.operationFaults.set(20, { kill: ["b"], delivered: ["a"] });
    const workers = shardedWorkers(gang, names.slice(0, 3), { hyperparameters: changes });
    await trainTogether(gang, workers, ["a", "c"]);
    for (const id of ["a", "c"]) {
      expect(weightsDigest(workers[id]!.replica)).toBe(weightsDigest(alone.replica));
      expect(slotsAgree(workers[id]!.replica, alone.replica)).toBe(true);
    }
  });

  it("loses nothing with one rank, wherever in a step or a re-formation it is lost and whichever ranks had finished", async () => {
    let restores = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 2, max: 6 }),
        fc.integer({ min: 1, max: 30 }),
        fc.nat(5),
        fc.nat(63),
        async (world, operation, victim, delivered) => {
          const ids = names.slice(0, world);
          const gang = new FakeGang(microBatches, ids);
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
      { numRuns: rounds(8), seed: 5 },
    );
    expect(restores).toBe(0);
  });

  const fault = fc.record({
    after: fc.integer({ min: 1, max: 12 }),
    kill: fc.array(fc.nat(5), { minLength: 0, maxLength: 3 }),
    delivered: fc.nat(63),
  });

  /** Trains under faults, each so many operations after the one before, then looks at every survivor and every checkpoint. */
  async function survive(
    world: number,
    faults: readonly { after: number; kill: readonly number[]; delivered: number }[],
  ) {
    const ids = names.slice(0, world);
    const gang = new FakeGang(microBatches, ids);
    const doomed = new Set<string>();
    let at = 0;
    for (const { after, kill, delivered } of faults) {
      at += after;
      const killed = kill.map((victim) => ids[victim % world]!).filter((id) => !doomed.has(id));
      const dying = killed.slice(0, world - 1 - doomed.size);
      for (const id of dying) doomed.add(id);
      gang.operationFaults.set(at, { kill: dying, delivered: ids.filter((_, i) => ((delivered >> i) & 1) === 1) });
    }
    const checkpoints = new FakeCheckpoints();
    const workers = shardedWorkers(gang, ids, { every: 3, checkpoints });
    // A member that was to die after the training's end is a survivor like the others.
    const survivors = ids.filter((id) => !doomed.has(id));
    await trainTogether(gang, workers, survivors);
    for (const id of survivors) {
      expect(weightsDigest(workers[id]!.replica)).toBe(weightsDigest(reference.replica));
      expect(slotsAgree(workers[id]!.replica, reference.replica)).toBe(true);
    }
    for (const { finishedSteps, digest } of checkpoints.stored) expect(digest).toBe(states.get(finishedSteps));
    return survivors.reduce((sum, id) => sum + workers[id]!.restores, 0);
  }

  it("needs no checkpoint for any number of ranks that are lost one after the other", async () => {
    const single = fc.record({
      after: fc.integer({ min: 6, max: 14 }), // the four operations of a re-formation, and more
      kill: fc.tuple(fc.nat(5)),
      delivered: fc.nat(63),
    });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 2, max: 6 }), fc.array(single, { maxLength: 5 }), async (world, faults) => {
        expect(await survive(world, faults)).toBe(0);
      }),
      { numRuns: rounds(8), seed: 21 },
    );
  });

  it("comes to the same bits whatever is lost at once, again and again, in re-formations too", async () => {
    let restores = 0;
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 2, max: 6 }), fc.array(fault, { maxLength: 6 }), async (world, faults) => {
        restores += await survive(world, faults);
      }),
      { numRuns: rounds(8), seed: 8 },
    );
    expect(restores).toBeGreaterThan(0); // or neighbours were never lost together
  });

  it("goes back to the checkpoint where two neighbours are lost at once, and no further", async () => {
    const gang = new FakeGang(microBatches, names.slice(0, 4));
    gang.operationFaults.set(22, { kill: ["b", "c"], delivered: ["a", "b", "c", "d"] });
    const checkpoints = new FakeCheckpoints();
    const steps: number[] = [];
    const onStep = (id: string, step: number) => {
      if (id === "a") steps.push(step);
    };
    const workers = shardedWorkers(gang, names.slice(0, 4), { every: 2, checkpoints, onStep });
    await trainTogether(gang, workers, ["a", "d"]);
    expect(workers["a"]!.restores + workers["d"]!.restores).toBe(2);
    expect(steps).toEqual([1, 2, 3, 4, 5, 5, 6, 7, 8]);
    for (const id of ["a", "d"]) expectReference(workers[id]!);
  });

  it.each([1, 3])(
    "waits for a survivor that comes back %i generations late with what nobody else has",
    async (generations) => {
      const gang = new FakeGang(microBatches, names.slice(0, 4));
      gang.operationFaults.set(16, { kill: ["b"], delivered: ["a", "d"] });
      const workers = shardedWorkers(gang, names.slice(0, 4), { onStep: () => gang.late.set("c", generations) });
      await trainTogether(gang, workers, ["a", "c", "d"]);
      expect(gang.generationCount).toBe(2 + generations);
      for (const id of ["a", "c", "d"]) {
        expectReference(workers[id]!);
        expect(workers[id]!.restores).toBe(0);
      }
    },
  );

  it("takes newcomers in, who get their shards from those who have them", async () => {
    const gang = new FakeGang(microBatches, ["b"]);
    const late: Record<string, ShardedWorker> = {};
    const ends: Promise<unknown>[] = [];
    const join = (id: string) => {
      late[id] = createOne(gang.join(id), {});
      ends.push(run(late[id]).then(() => gang.kill(id)));
    };
    const veteran = createOne(gang.member("b"), {
      onStep: (_, step) => {
        if (step === 2) join("a"); // becomes rank 0
        if (step === 5) {
          join("c");
          join("d");
        }
      },
    });
    await run(veteran);
    gang.kill("b");
    await Promise.all(ends);
    expect(gang.generationCount).toBe(3);
    for (const worker of [veteran, ...Object.values(late)]) {
      expectReference(worker);
      expect(worker.restores).toBe(0);
    }
  });

  it("loses nothing with one rank while shards move to another layout, whichever ranks have theirs already", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.nat(4),
        fc.integer({ min: 14, max: 18 }), // four operations of three steps and a start before; four of the re-formation
        fc.nat(4),
        fc.nat(31),
        async (world, place, operation, victim, delivered) => {
          const ids = ["b", "d", "f", "h"].slice(0, world);
          const newcomer = ["a", "c", "e", "g", "i"][place % (world + 1)]!;
          const all = [...ids, newcomer].sort();
          const kill = all[victim % all.length]!;
          const gang = new FakeGang(microBatches, ids);
          gang.operationFaults.set(operation, {
            kill: [kill],
            delivered: all.filter((_, i) => ((delivered >> i) & 1) === 1),
          });
          const joined: { worker?: ShardedWorker } = {};
          let ended: () => void = () => undefined;
          const end = new Promise<void>((resolve) => {
            ended = resolve;
          });
          const onStep = (_: string, step: number) => {
            if (step !== 2 || joined.worker !== undefined) return;
            joined.worker = createOne(gang.join(newcomer), {});
            void run(joined.worker)
              .then(() => gang.kill(newcomer))
              .then(ended);
          };
          const workers = shardedWorkers(gang, ids, { onStep });
          await trainTogether(
            gang,
            workers,
            ids.filter((id) => id !== kill),
          );
          if (kill !== newcomer) await end;
          const survivors = [...Object.entries(workers), [newcomer, joined.worker!] as const].filter(
            ([id]) => id !== kill,
          );
          for (const [, worker] of survivors) {
            if (world > 1 || kill === newcomer || operation === 18) expect(worker.restores).toBe(0);
            expectReference(worker);
          }
        },
      ),
      { numRuns: rounds(8), seed: 4 },
    );
  });

  it.each([[["a"]], [["b", "c"]], [["a", "b"]], [["a", "b", "d"]]])(
    "goes on without a checkpoint where %j leave at the same step's end",
    async (leavers) => {
      const ids = names.slice(0, 4);
      const gang = new FakeGang(microBatches, ids);
      const workers = shardedWorkers(gang, ids, {
        onStep: (id, step) => {
          if (step === 3 && leavers.includes(id)) workers[id]!.leaving = true; // an epoch ends with the step that follows
        },
      });
      const ends = await trainTogether(gang, workers, ids);
      ids.forEach((id, i) => {
        expect(ends[i]!.end).toBe(leavers.includes(id) ? "interrupted" : "completed");
        expect(workers[id]!.restores).toBe(0);
        if (!leavers.includes(id)) expectReference(workers[id]!);
      });
    },
  );

  it("leaves rank 0 with the whole state where all leave at once", async () => {
    const ids = names.slice(0, 3);
    const gang = new FakeGang(microBatches, ids);
    const workers = shardedWorkers(gang, ids, {
      onStep: (id, step) => {
        if (step === 5) workers[id]!.leaving = true;
      },
    });
    await trainTogether(gang, workers, ids);
    expect(ids.map((id) => workers[id]!.replica.whole)).toEqual([true, false, false]);
    expect(stateDigest(workers["a"]!.replica)).toBe(states.get(6));
    expect(() => workers["b"]!.replica.slots).toThrow("only its shards");
  });

  it("halts on every rank where the loss is not finite, and applies nothing", async () => {
    const gang = new FakeGang(microBatches, ["a", "b", "c"]);
    const workers = ["a", "b", "c"].map((id) => {
      const model = wideModel(undefined, undefined, (key, _, result) =>
        key === "seed 7 step 4 microshard 5" ? { ...result, loss: Number.NaN } : undefined,
      );
      return createShardedWorker(gang.member(id), task(), { model });
    });
    for (const result of await Promise.allSettled(workers.map(run))) {
      expect(result).toMatchObject({ status: "rejected", reason: { code: "NON_FINITE_LOSS", step: 4 } });
    }
    expect(new Set(workers.map(({ replica }) => weightsDigest(replica))).size).toBe(1);
  });
});
