import fc from "fast-check";
import { rounds, seedOf } from "../../support/rounds";
import type { Fate, Scenario } from "./life/scenario";
import { Simulation } from "./life/simulation";

/**
 * The real code of a run's training over models of Step Functions, Batch and the stores, in every order that two kinds of search find. A failure
 * prints the course of events; what can happen is in `life/simulation.ts`, what must hold in `life/invariants.ts`. docs/adr/011 lists faults that
 * were put into the code to see that this finds them.
 */
async function play(scenario: Partial<Scenario>) {
  const outcome = await new Simulation({ retries: 1, market: "spot", choices: [], ...scenario }).play();
  if (outcome.violations.length > 0) {
    const course = outcome.log.map((line, i) => `${i}. ${line}`);
    const shown = course.length > 200 ? [...course.slice(0, 190), "…", ...course.slice(-10)] : course;
    throw new Error(`${outcome.violations.join("; ")}\n\n${shown.join("\n")}`);
  }
  return outcome;
}

const fates: readonly Fate[] = [
  "succeeds",
  "lost",
  "fails",
  "fails-silently",
  "fails-for-good",
  "fails-with-result",
  "unhurried",
  "slow",
];

describe("a run's life, undisturbed", () => {
  const completed = { status: "completed" };
  const failed = (code: string) => ({ failure: { code } });
  it.each<[string, Partial<Scenario>, object]>([
    ["comes to its registration", {}, { ...completed, outcome: { decision: "registered" } }],
    ["survives losses without retries", { retries: 0, fates: ["lost", "lost", "lost", "lost"] }, completed],
    ["survives so many failures", { retries: 2, fates: ["fails", "lost", "fails-silently"] }, completed],
    ["takes a result for a success whatever its job says", { fates: ["fails-with-result"] }, completed],
    ["fails by the trainer's own word", { fates: ["fails", "fails"] }, failed("TRAINER_ERROR")],
    ["fails at once where it would fail again", { retries: 9, fates: ["fails-for-good"] }, failed("USER_CODE")],
    ["fails when Batch refuses its job", { refusedFrom: 1 }, failed("JOB_REFUSED")],
    ["fails when Batch refuses its second job", { fates: ["fails"], refusedFrom: 2 }, failed("JOB_REFUSED")],
  ])("%s", async (_name, scenario, expected) => {
    expect((await play(scenario)).run).toMatchObject(expected);
  });

  it("is launched once, however long it trains: the wait is kept alive", async () => {
    const { log } = await play({ fates: ["slow"] });
    const launches = new Set(log.flatMap((line) => /^LaunchTraining#\d+/.exec(line)?.[0] ?? []));
    expect(launches.size).toBe(1);
  });
});

describe("a run's life, whatever comes when", () => {
  /** A campaign plays every disturbance of each. */
  it.each<[string, number, Partial<Scenario>]>([
    ["a success", 1, {}],
    ["a success, the world being faster", 5, { first: { world: true } }],
    ["a success, the newest call being the fastest", 5, { first: { newest: true } }],
    ["a success that takes its time", 5, { fates: ["unhurried"] }],
    ["a failure and a success", 3, { fates: ["fails"] }],
  ])("holds for single disturbances of %s: one of %i", async (_name, of, base) => {
    const { widths } = await play(base);
    const disturbances = widths.flatMap((width, point) =>
      Array.from({ length: width - 1 }, (_, choice) => [...Array<number>(point).fill(0), choice + 1]),
    );
    const step = rounds(of, 1);
    for (let at = 0; at < disturbances.length; at += step) await play({ ...base, choices: disturbances[at]! });
  });

  /** The second of two invocations of `LaunchTraining` finds the result of the first in the cache. */
  const lateLaunch: Pick<Scenario, "choices" | "retries" | "market" | "fates" | "first"> = {
    choices: [24, 9, 20, 2, 11, 19, 21, 3, 21, 20, 0, 0, 4, 15, 0, 7],
    retries: 0,
    market: "spot",
    fates: [],
    first: { world: true, newest: true },
  };

  it("holds for many disturbances at once", async () => {
    const choice = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 2, arbitrary: fc.nat(40) });
    const scenario = fc.record({
      choices: fc.array(choice, { maxLength: 150, size: "max" }),
      retries: fc.nat(2),
      market: fc.constantFrom("spot", "on-demand"),
      fates: fc.array(fc.constantFrom(...fates), { maxLength: 5 }),
      first: fc.record({ world: fc.boolean(), newest: fc.boolean() }),
    });
    await fc.assert(
      fc.asyncProperty(scenario, async (one) => void (await play(one))),
      {
        numRuns: rounds(50, 5_000),
        seed: seedOf(1),
        examples: [[lateLaunch]],
      },
    );
  });
});
