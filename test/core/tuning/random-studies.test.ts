import * as fc from "fast-check";
import { drawsFor } from "../../../core/tuning/draws";
import type { PlannedStudy } from "../../../core/tuning/planner";
import { samplerSettingsSchema } from "../../../core/tuning/sampler";
import { schedulerSettingsSchema } from "../../../core/tuning/scheduler";
import { contains, isActive, parameterOrder, type Space, spaceSchema } from "../../../core/tuning/space";
import { type ModelOptions, runOnModel } from "./platform-model";
import { simulate } from "./simulated-study";

const spaces: readonly Space[] = [
  { x: { type: "float", low: 1e-4, high: 1, log: true }, n: { type: "int", low: 1, high: 64, log: true } },
  { x: { type: "float", low: 0, high: 1, step: 0.25 }, c: { type: "categorical", choices: ["a", "b"] } },
  {
    c: { type: "categorical", choices: ["a", "b", [1, 2]] },
    x: { type: "float", low: -1, high: 1, when: { parameter: "c", in: ["a", [1, 2]] } },
    n: { type: "int", low: 2, high: 10, step: 2, when: { parameter: "c", in: ["b"] } },
  },
  { n: { type: "int", low: 1, high: 3 } },
].map((space) => spaceSchema.parse(space));

const halving = { minEpochs: fc.integer({ min: 1, max: 3 }), factor: fc.integer({ min: 2, max: 4 }) };
const schedulers = fc.oneof(
  fc.record({ type: fc.constant("none") }),
  fc.record({ type: fc.constant("median"), interval: fc.integer({ min: 1, max: 3 }), minTrials: fc.constant(2) }),
  fc.record({ type: fc.constantFrom("successive-halving", "hyperband", "asha"), ...halving }),
  fc.record({ type: fc.constant("population"), population: fc.integer({ min: 2, max: 6 }), interval: fc.constant(2) }),
);

const objectives = [{ metric: "validation/loss", direction: "minimize" }] as const;
const isOrdered = (type: string) => ["none", "successive-halving", "hyperband", "population"].includes(type);

const studies: fc.Arbitrary<ModelOptions> = fc
  .record({
    space: fc.constantFrom(...spaces),
    sampler: fc.constantFrom("random", "grid"),
    scheduler: schedulers,
    parallel: fc.integer({ min: 1, max: 5 }),
    maxEpochs: fc.integer({ min: 4, max: 10 }),
    trials: fc.integer({ min: 1, max: 16 }),
    limit: fc.constantFrom<PlannedStudy["definition"]["stop"]>({}, {}, { dollars: 20 }, { noImprovement: 3 }),
    seed: fc.nat(1_000_000),
    faults: fc.constantFrom(0, 0.1, 0.3),
  })
  .map(({ space, sampler, scheduler, trials, limit, seed, faults, ...rest }) => ({
    definition: {
      ...{ ...rest, space, objectives, stop: { trials, ...limit } },
      sampler: samplerSettingsSchema.parse({
        type:
          sampler === "grid" && Object.values(space).some((one) => one.type === "float" && !one.step)
            ? "random"
            : sampler,
        seed,
      }),
      scheduler: schedulerSettingsSchema.parse(scheduler),
    },
    curve: (params, epoch, trial) => {
      const draw = drawsFor(seed, trial, epoch, JSON.stringify(params).length).uniform();
      return draw < 0.02 ? undefined : draw < 0.04 ? NaN : 1 / epoch + draw;
    },
    ...{ seed, faults },
  }));

it("200 random studies end, with every trial once and within their budget, whatever dies or arrives twice.", async () => {
  let kills = 0;
  let completed = 0;
  await fc.assert(
    fc.asyncProperty(studies, async (options) => {
      const { definition, curve } = options;
      const { stop, parallel, space } = definition;
      const result = await runOnModel(options);
      kills += result.kills;
      completed += result.trials.filter(({ state }) => state === "completed").length;
      // No trial is lost or duplicated, and each has one run.
      expect(result.trials.map(({ number }) => number)).toEqual(result.trials.map((_, number) => number));
      expect(result.runs).toBe(result.trials.length);
      expect(result.trials.filter(({ state }) => state === "running")).toEqual([]);
      expect(result.trials.length).toBeLessThanOrEqual(stop.trials!);
      expect(result.mostWorking).toBeLessThanOrEqual(parallel);
      for (const { params, reports } of result.trials) {
        const active = parameterOrder(space).filter((name) => isActive(space[name]!, params));
        expect(Object.keys(params).sort()).toEqual([...active].sort());
        for (const name of active) expect(contains(space[name]!, params[name]!)).toBe(true);
        const epochs = reports.map(({ epoch }) => epoch);
        expect(epochs).toEqual([...new Set(epochs)].sort((a, b) => a - b));
      }
      if (!isOrdered(definition.scheduler.type) || stop.dollars !== undefined || stop.noImprovement !== undefined)
        return;
      const undisturbed = simulate({ definition, curve, next: () => 0 });
      expect(result.trials.map(({ segment: _, dollars: __, ...trial }) => trial)).toEqual(undisturbed.trials);
      expect(result.reason).toBe(undisturbed.reason);
    }),
    { numRuns: 200 },
  );
  expect(kills).toBeGreaterThan(500);
  expect(completed).toBeGreaterThan(200);
});
