import { type AddressInfo, createServer, type Server } from "node:net";
import {
  GangCompletedError,
  GangLeftError,
  GangMemberReplacedError,
  GangRunEndedError,
  gangSignals,
} from "../../../trainer-container/gang/gang";
import { createGang, type GangOptions } from "../../../trainer-container/gang/rendezvous-gang";
import { MemoryGangStore } from "../../support/memory-gang-store";
import { member as recordOf } from "./store-contract";
import { type ToyTask, trainToy, undisturbed } from "./toy-trainer";

const task: ToyTask = { steps: 30, elements: 1_000, microBatches: 8, stepMs: 2 };
const quick = { firstCallMs: 300, survivorCallMs: 100, turnMs: 30, pollMs: 10, monitorMs: 40, idlePollMs: 20 };

function member(store: MemoryGangStore, workerIndex: number, overrides: Partial<GangOptions> = {}) {
  return createGang({
    gangId: "run-1",
    memberId: `job:${workerIndex}/1`,
    workerIndex,
    expectedWorkers: 3,
    minWorkers: 1,
    microBatches: task.microBatches,
    store,
    clock: { now: () => Date.now() },
    host: "127.0.0.1",
    timing: quick,
    ...overrides,
  });
}

/** A member that holds its lease, takes connections and does nothing. */
async function registerMute(store: MemoryGangStore): Promise<Server> {
  const mute = createServer(() => {}).listen(0, "127.0.0.1");
  await new Promise((resolve) => mute.once("listening", resolve));
  const { port } = mute.address() as AddressInfo;
  const lease = { registeredAt: Date.now(), leaseExpiresAt: Date.now() + 60_000 };
  await store.register("run-1", recordOf({ memberId: "mute", workerIndex: 1, port, host: "127.0.0.1", ...lease }));
  return mute;
}

const eightLeaves = (elements: number) =>
  Array.from({ length: task.microBatches }, () => new Float32Array(elements).fill(1));

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function bell() {
  let ring = () => {};
  const rung = new Promise<void>((resolve) => {
    ring = resolve;
  });
  return { ring, rung };
}

describe("a gang", () => {
  const expected = undisturbed(task);

  it.each([1, 2, 3])("of %i ends with the bits of one worker alone", async (workers) => {
    const store = new MemoryGangStore();
    const gangs = Array.from({ length: workers }, (_, i) => member(store, i, { expectedWorkers: workers }));
    const outcomes = await Promise.all(gangs.map((gang) => trainToy(gang, task)));
    expect(outcomes.map(({ sha256, generations }) => [sha256, generations])).toEqual(
      new Array(workers).fill([expected, 1]),
    );
  });

  it("takes in a joiner at a step boundary, with the state of those ahead", async () => {
    const store = new MemoryGangStore();
    const started = bell();
    const joined = bell();
    const early = [0, 1].map((i) =>
      trainToy(member(store, i), task, {
        beforeStep: async (finishedSteps, generation) => {
          if (finishedSteps === 5) started.ring();
          // The run must not be over before the joiner is in.
          if (finishedSteps >= 20 && generation.worldSize < 3) await joined.rung;
          return 0;
        },
      }),
    );
    await started.rung;
    const sizes: number[] = [];
    const late = trainToy(member(store, 2), task, {
      beforeStep: (finishedSteps, generation) => {
        joined.ring();
        sizes.push(generation.worldSize);
        expect(finishedSteps).toBeGreaterThanOrEqual(5);
        return 0;
      },
    });
    setTimeout(joined.ring, 500);
    const outcomes = await Promise.all([...early, late]);
    expect(outcomes.map(({ sha256 }) => sha256)).toEqual([expected, expected, expected]);
    expect(sizes[0]).toBe(3);
  });

  it("goes on without a member that leaves because its host goes away", async () => {
    const store = new MemoryGangStore();
    const sizes = new Set<number>();
    const outcomes = await Promise.all(
      [0, 1, 2].map((i) =>
        trainToy(member(store, i), task, {
          beforeStep: (finishedSteps, generation) => {
            if (i === 0) sizes.add(generation.worldSize);
            return i === 2 && finishedSteps === 10 ? gangSignals.leaving : 0;
          },
        }),
      ),
    );
    expect(outcomes.map(({ finishedSteps }) => finishedSteps)).toEqual([30, 30, 11]);
    expect(outcomes.slice(0, 2).map(({ sha256 }) => sha256)).toEqual([expected, expected]);
    expect([...sizes]).toEqual([3, 2]);
  });

  it("waits for a survivor that had just begun a micro-batch of usual length", async () => {
    const store = new MemoryGangStore();
    const long: ToyTask = { ...task, steps: 8, microBatches: 3, stepMs: 1 };
    const timing = { ...quick, survivorCallMs: 1 };
    const gangs = [0, 1, 2].map((i) => member(store, i, { microBatches: 3, timing }));
    const sizes: number[] = [];
    const outcomes = await Promise.all(
      gangs.map((gang, i) =>
        trainToy(gang, long, {
          beforeStep: async (finishedSteps, generation) => {
            if (i === 0) sizes.push(generation.worldSize);
            if (finishedSteps === 4 && i === 2) return gang.leave("interrupted").then(() => 0);
            // The first hears at once that the third has gone; the second is in the middle of its computation.
            if (finishedSteps < 4 || i === 1) await pause(120);
            return 0;
          },
        }).catch((error: unknown) => error as Error),
      ),
    );
    expect(outcomes[2]).toBeInstanceOf(GangLeftError);
    expect(outcomes.slice(0, 2)).toEqual(
      [0, 1].map(() => expect.objectContaining({ sha256: undisturbed(long), generations: 2 })),
    );
    expect(new Set(sizes)).toEqual(new Set([3, 2]));
  });

  it.each([-20_000, 20_000])("takes in a member whose clock is %i ms off", async (offset) => {
    const store = new MemoryGangStore();
    const timing = { ...quick, leaseMs: 400, renewMs: 100 };
    const joined = bell();
    const first = trainToy(member(store, 0, { expectedWorkers: 2, timing }), task, {
      beforeStep: async (finishedSteps, { worldSize }) => {
        // Alone, it goes slowly, that the run is not over before the other is in.
        if (finishedSteps >= 10 && worldSize < 2) await Promise.race([joined.rung, pause(100)]);
        return 0;
      },
    });
    const clock = { now: () => Date.now() + offset };
    const other = trainToy(member(store, 1, { expectedWorkers: 2, timing, clock }), task, {
      beforeStep: () => {
        joined.ring();
        return 0;
      },
    });
    for (const outcome of await Promise.all([first, other])) {
      expect(outcome).toMatchObject({ sha256: expected, late: false });
    }
  });

  it.each(["before it takes part", "while it takes part"])(
    "lets one that was frozen, and whose place others took, finish no step: frozen %s",
    async (when) => {
      const store = new MemoryGangStore();
      let wall = 1_800_000_000_000;
      const timing = { ...quick, monitorMs: 60_000 };
      const frozen = member(store, 0, { expectedWorkers: 1, timing, clock: { now: () => wall } });
      const generation = await frozen.enter(0);
      await generation.allReduce(eightLeaves(4), new Float32Array(4), 0, 0);
      const freeze = async () => {
        const { head } = await store.read("run-1");
        await store.seal("run-1", { ...head!, number: 2, members: [] });
        wall += 30_000;
      };
      if (when === "before it takes part") await freeze();
      const step = generation.allReduce(eightLeaves(4), new Float32Array(4), 0, 1);
      if (when === "while it takes part") await freeze();
      await expect(step).rejects.toThrow("the gang went on to generation 2");
      await frozen.leave("failed");
    },
  );

  it("lets one that was frozen go on where nobody took its place, or the store is away", async () => {
    for (const read of [undefined, () => Promise.reject(new Error("away"))]) {
      const store = new MemoryGangStore();
      let wall = 1_800_000_000_000;
      const frozen = member(store, 0, { expectedWorkers: 1, clock: { now: () => wall } });
      const generation = await frozen.enter(0);
      if (read) Object.assign(store, { read });
      wall += 30_000;
      const out = new Float32Array(4);
      await generation.allReduce(eightLeaves(4), out, 0, 0);
      expect([...out]).toEqual([8, 8, 8, 8]);
      await frozen.leave("failed");
    }
  });

  it("rejects a member that enters after completion", async () => {
    const store = new MemoryGangStore();
    await trainToy(member(store, 0, { expectedWorkers: 1 }), task);
    const late = member(store, 1, { expectedWorkers: 1 });
    await expect(late.enter(0)).rejects.toBeInstanceOf(GangCompletedError);
    await late.leave("interrupted");
  });

  it("leaves while it waits, and while it connects", async () => {
    const store = new MemoryGangStore();
    const alone = member(store, 0, { minWorkers: 2 });
    const waiting = alone.enter(0);
    setTimeout(() => void alone.leave("interrupted"), 50);
    await expect(waiting).rejects.toBeInstanceOf(GangLeftError);
    await expect(alone.enter(0)).rejects.toBeInstanceOf(GangLeftError);

    const mute = await registerMute(store);
    const connecting = member(store, 2, { minWorkers: 2 });
    const entering = connecting.enter(0);
    const sealed = setInterval(async () => {
      if ((await store.read("run-1")).head) void connecting.leave("interrupted");
    }, 20);
    await expect(entering).rejects.toBeInstanceOf(GangLeftError);
    clearInterval(sealed);
    await connecting.leave("interrupted");
    expect((await store.read("run-1")).head?.members).toHaveLength(2);
    expect((await store.read("run-1")).members.map(({ state }) => state)).toEqual(["left", "waiting", "left"]);
    mute.close();
  });

  it("goes on without a member that takes connections and never answers", async () => {
    const store = new MemoryGangStore();
    const mute = await registerMute(store);
    const options = { expectedWorkers: 2, timing: { ...quick, connectMs: 100 } };
    const outcome = await trainToy(member(store, 0, options), task);
    expect(outcome).toMatchObject({ sha256: expected, generations: 1 });
    expect((await store.read("run-1")).head).toMatchObject({ number: 2, members: [{ memberId: "job:0/1" }] });
    mute.close();
  });

  it("ends a process whose place another has taken", async () => {
    const store = new MemoryGangStore();
    const old = member(store, 0, { minWorkers: 2 });
    const entering = old.enter(0);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const fresh = member(store, 0, { minWorkers: 2 });
    const waiting = fresh.enter(0).catch(() => {});
    await expect(entering).rejects.toBeInstanceOf(GangMemberReplacedError);
    await Promise.all([old.leave("failed"), fresh.leave("failed")]);
    await waiting;
  });

  it.each<[string, () => Promise<never>]>([
    ["fails", () => Promise.reject(new Error("throttled"))],
    ["does not answer", () => new Promise(() => {})],
  ])("bears a store that %s for a while", async (_, trouble) => {
    const store = new MemoryGangStore();
    let failures = 5;
    const flaky = Object.assign(Object.create(store) as MemoryGangStore, {
      read: (gangId: string) => (failures-- > 0 ? trouble() : store.read(gangId)),
    });
    const options = { expectedWorkers: 1, timing: { ...quick, storeCallMs: 20 } };
    const outcome = await trainToy(member(flaky, 0, options), { ...task, steps: 3 });
    expect(outcome.finishedSteps).toBe(3);
  });

  it("gives up on a store that stays away", async () => {
    const store = Object.assign(new MemoryGangStore(), { read: () => Promise.reject(new Error("no such table")) });
    const gang = member(store, 0, { timing: { ...quick, storePatienceMs: 50 } });
    await expect(gang.enter(0)).rejects.toThrow("no such table");
    await gang.leave("failed");
  });

  it("stops at once at a store that refuses an ended run, and keeps to one that is only away", async () => {
    const refusing = () => Promise.reject(new Error("access denied"));
    const store = Object.assign(new MemoryGangStore(), { read: refusing });
    let calls = 0;
    const hasEnded = async () => ++calls === 3;
    const gang = member(store, 0, { timing: { ...quick, storePatienceMs: 60_000 }, hasEnded });
    const failure: unknown = await gang.enter(0).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(GangRunEndedError);
    expect(calls).toBe(3); // after 1, 2 and 4 failures
    await gang.leave("failed");
  });

  it.each([
    [{ minWorkers: 0 }, "minWorkers is 0, but must be an integer from 1 to the most that can train (3)"],
    [{ minWorkers: 4 }, "minWorkers is 4"],
    [{ microBatches: 2, minWorkers: 3 }, "minWorkers is 3, but must be an integer from 1 to the most that can"],
    [{ expectedWorkers: 0 }, "expectedWorkers is 0"],
    [{ microBatches: 1.5 }, "microBatches is 1.5"],
  ])("refuses %p", (overrides, message) => {
    expect(() => member(new MemoryGangStore(), 0, overrides)).toThrow(message);
  });
});
