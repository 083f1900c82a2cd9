import fc from "fast-check";
import { rounds } from "../../support/rounds";
import { GangSimulation } from "./simulation";

type Event =
  | { readonly kind: "step" | "crash" | "restart" | "stop" | "resume"; readonly who: number }
  /** Everyone takes `times` steps in turn, 50 ms apart: lets generations form between failures. */
  | { readonly kind: "rounds"; readonly times: number }
  | { readonly kind: "advance"; readonly ms: number };

const count = 4;
const who = fc.integer({ min: 0, max: count - 1 });
const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 40, arbitrary: who.map((who): Event => ({ kind: "step", who })) },
  { weight: 10, arbitrary: fc.integer({ min: 1, max: 60 }).map((times): Event => ({ kind: "rounds", times })) },
  { weight: 6, arbitrary: fc.integer({ min: 10, max: 4_000 }).map((ms): Event => ({ kind: "advance", ms })) },
  { weight: 3, arbitrary: who.map((who): Event => ({ kind: "crash", who })) },
  { weight: 6, arbitrary: who.map((who): Event => ({ kind: "restart", who })) },
  { weight: 2, arbitrary: who.map((who): Event => ({ kind: "stop", who })) },
  { weight: 6, arbitrary: who.map((who): Event => ({ kind: "resume", who })) },
);

async function play(simulation: GangSimulation, events: readonly Event[]): Promise<void> {
  for (const happening of events) {
    if (happening.kind === "advance") simulation.now += happening.ms;
    else if (happening.kind === "rounds") await simulation.rounds(happening.times);
    else if (happening.kind === "step") await simulation.step(happening.who);
    else if (happening.kind === "crash") simulation.crash(happening.who);
    else if (happening.kind === "restart") simulation.restart(happening.who);
    else simulation.processes[happening.who]!.stopped = happening.kind === "stop";
  }
}

/** From here on nobody fails: all that are up must come together in bounded time. */
async function calm(simulation: GangSimulation, seconds: number): Promise<number> {
  const up = simulation.processes.filter((process) => process.up);
  for (const process of up) process.stopped = false;
  const wanted = Math.min(up.length, simulation.limits.maxWorkers);
  for (let round = 0; round < seconds * 20; round++) {
    for (const process of up) await simulation.step(process.workerIndex);
    simulation.now += 50;
    if ((await simulation.settled()).length === wanted) return round / 20;
  }
  return Number.POSITIVE_INFINITY;
}

const chaos = fc.tuple(
  fc.array(event, { minLength: 50, maxLength: 300 }),
  fc.integer({ min: 1, max: 3 }),
  fc.integer({ min: 3, max: count }),
);

/** Stops and times long enough for others to take a stopped member's place, also that of a whole generation. */
const longStops = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min: 1, max: 60 }).map((times): Event => ({ kind: "rounds", times })) },
    { weight: 4, arbitrary: who.map((who): Event => ({ kind: "stop", who })) },
    { weight: 4, arbitrary: who.map((who): Event => ({ kind: "resume", who })) },
    { weight: 2, arbitrary: who.map((who): Event => ({ kind: "crash", who })) },
    { weight: 4, arbitrary: who.map((who): Event => ({ kind: "restart", who })) },
    { weight: 4, arbitrary: fc.integer({ min: 10, max: 30_000 }).map((ms): Event => ({ kind: "advance", ms })) },
  ),
  { minLength: 20, maxLength: 60 },
);

describe.each([
  ["small", false],
  ["large", true],
])("the protocol of a %s gang, over interleavings, crashes, stops and delays", (_, isLarge) => {
  it("seals one list a number, lets a registration into one generation, brings all live members together, loses no finished step", async () => {
    await fc.assert(
      fc.asyncProperty(chaos, async ([events, minWorkers, maxWorkers]) => {
        const simulation = new GangSimulation(count, { minWorkers, maxWorkers }, isLarge);
        await play(simulation, events);
        const up = simulation.processes.filter((process) => process.up);
        const furthest = Math.max(0, ...up.map(({ finishedSteps }) => finishedSteps));
        const seconds = await calm(simulation, 45);
        if (up.length >= minWorkers) expect(seconds).toBeLessThan(45);
        if (up.length >= minWorkers && up.length <= maxWorkers) {
          for (let i = 0; i < 8; i++) for (let index = 0; index < count; index++) await simulation.step(index);
          for (const process of await simulation.settled())
            expect(process.finishedSteps).toBeGreaterThanOrEqual(furthest);
        }
        let expected = 1;
        for (const [number, heads] of simulation.sealed) {
          expect(number).toBe(expected++);
          expect(heads).toHaveLength(1);
          const ids = heads[0]!.members.map(({ memberId }) => memberId);
          expect(new Set(ids).size).toBe(ids.length);
          expect(ids.length).toBeGreaterThanOrEqual(minWorkers);
          expect(ids.length).toBeLessThanOrEqual(maxWorkers);
        }
        for (const entered of simulation.enteredBy.values()) expect(entered).toHaveLength(1);
        for (const generations of simulation.finishedIn.values())
          expect(generations).toEqual([...generations].sort((a, b) => a - b));
      }),
      { seed: 5, numRuns: rounds(40) },
    );
  });

  it("never lets two lists both make steps count: once a later list has, an earlier one no longer does", async () => {
    await fc.assert(
      fc.asyncProperty(longStops, fc.integer({ min: 1, max: 3 }), async (events, maxWorkers) => {
        const simulation = new GangSimulation(count, { minWorkers: 1, maxWorkers }, isLarge);
        await play(simulation, events);
        await calm(simulation, 10);
        const turns = simulation.finishedUnder.filter((list, i, all) => list !== all[i - 1]);
        expect(turns).toEqual([...new Set(turns)]);
      }),
      { seed: 7, numRuns: rounds(30) },
    );
  });
});
