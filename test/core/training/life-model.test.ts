import fc from "fast-check";
import { type Scenario, Simulation } from "./life/simulation";

/**
 * The real code of a run's training over models of Step Functions, Batch and the stores, in every order that two kinds of search find. A failure
 * prints the course of events; what can happen is in `life/simulation.ts`, what must hold in `life/invariants.ts`.
 */
async function play(scenario: Scenario) {
  const outcome = await new Simulation(scenario).play();
  if (outcome.violations.length > 0) {
    const course = outcome.log.map((line, i) => `${i}. ${line}`);
    const shown = course.length > 200 ? [...course.slice(0, 190), "…", ...course.slice(-10)] : course;
    throw new Error(`${outcome.violations.join("; ")}\n\n${shown.join("\n")}`);
  }
  return outcome;
}

describe("a run's life, whatever comes when", () => {
  it("undisturbed comes to its promotion", async () => {
    const { run } = await play({ retries: 1, market: "spot", choices: [] });
    expect(run.outcome).toMatchObject({ decision: "promoted" });
  });

  it.each([0, 1])("ends when Batch refuses its job, with %d retries", async (retries) => {
    const { run } = await play({ retries, market: "spot", refused: true, choices: [] });
    expect(run.failure).toMatchObject({ code: "JOB_REFUSED" });
  });

  it("holds for every single disturbance, at each point", async () => {
    const base = { retries: 1, market: "spot" } as const;
    const { widths } = await play({ ...base, choices: [] });
    for (const [point, width] of widths.entries()) {
      for (let choice = 1; choice < width; choice += 1) {
        await play({ ...base, choices: [...Array<number>(point).fill(0), choice] });
      }
    }
  });

  it("holds for many disturbances at once", async () => {
    const choice = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 2, arbitrary: fc.nat(40) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(choice, { maxLength: 150, size: "max" }),
        fc.nat(2),
        fc.constantFrom("spot", "on-demand"),
        async (choices, retries, market) => void (await play({ choices, retries, market })),
      ),
      { numRuns: Number(process.env["LIFE_RUNS"] ?? 400), seed: Number(process.env["LIFE_SEED"] ?? 1) },
    );
  });
});
