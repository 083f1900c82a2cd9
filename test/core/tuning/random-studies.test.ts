import * as fc from "fast-check";
import { drawsFor } from "../../../core/tuning/samplers/sampler";
import { contains, isActive, parameterOrder } from "../../../core/tuning/space";
import { studyDefinitionSchema } from "../../../core/tuning/study";
import { jobInput } from "../../support/fixtures";
import { rounds, seedOf } from "../../support/rounds";
import { type ModelOptions, runOnModel } from "./platform-model";
import { simulate } from "./simulated-study";

const rate = { type: "float", low: 1e-4, high: 1e-1, log: true };
const dropout = { type: "float", low: 0, high: 0.75, step: 0.25 };
const activation = { type: "categorical", choices: ["relu", "tanh", "elu"] };
const spaces: readonly object[] = [
  { "hyperparameters.learningRate": rate, seed: { type: "int", low: 1, high: 64, log: true } },
  { "model.dropout": dropout, "model.activation": activation },
  {
    "model.activation": activation,
    "model.dropout": { ...dropout, when: { parameter: "model.activation", in: ["relu", "elu"] } },
    seed: { type: "int", low: 2, high: 10, step: 2, when: { parameter: "model.activation", in: ["tanh"] } },
  },
  { seed: { type: "int", low: 1, high: 3 } },
];

const halving = { minEpochs: fc.integer({ min: 1, max: 3 }), factor: fc.integer({ min: 2, max: 4 }) };
const schedulers = fc.oneof(
  fc.record({ type: fc.constant("none") }),
  fc.record({ type: fc.constantFrom("successive-halving", "hyperband", "asha"), ...halving }),
);
const isOrdered = (type: string) => ["none", "successive-halving", "hyperband"].includes(type);

const studies: fc.Arbitrary<ModelOptions & { readonly notANumber: boolean }> = fc
  .record({
    space: fc.constantFrom(...spaces),
    sampler: fc.constantFrom("random", "grid"),
    scheduler: schedulers,
    parallel: fc.integer({ min: 1, max: 5 }),
    epochs: fc.integer({ min: 4, max: 10 }),
    trials: fc.integer({ min: 1, max: 16 }),
    limit: fc.constantFrom<object>({}, {}, {}, {}, { dollars: 20 }, { noImprovement: 3 }),
    seed: fc.nat(1_000_000),
    faults: fc.constantFrom(0, 0.03, 0.1),
    notANumber: fc.boolean(),
  })
  .map(({ space, sampler, scheduler, epochs, trials, limit, seed, faults, parallel, notANumber }) => ({
    definition: studyDefinitionSchema.parse({
      ...{ name: "random", space, scheduler, parallel, stop: { trials, ...limit } },
      objectives: [{ metric: "validation/loss", direction: "minimize" }],
      sampler: { type: "hyperparameters.learningRate" in space ? "random" : sampler, seed },
      job: jobInput({ model: { type: "mlp" }, hyperparameters: { epochs } }),
    }),
    curve: (_, epoch, trial) => {
      const draw = drawsFor(seed, trial, epoch).uniform();
      return draw < 0.02 ? undefined : draw < 0.04 && notANumber ? NaN : 1 / epoch + draw;
    },
    ...{ seed, faults, notANumber },
  }));

const count = rounds(20, 500);

it("random studies end, with every trial once and within their budget, whatever dies or arrives twice.", async () => {
  let [kills, completed, compared] = [0, 0, 0];
  await fc.assert(
    fc.asyncProperty(studies, async (options) => {
      const { definition, curve, notANumber } = options;
      const { stop, parallel, space, scheduler, job } = definition;
      const { study, trials, ...model } = await runOnModel(options);
      kills += model.kills;
      completed += trials.filter(({ state }) => state === "completed").length;
      expect(study.status).toBe("completed");
      // No trial is lost or duplicated, and each has one run.
      expect(trials.map(({ number }) => number)).toEqual(trials.map((_, number) => number));
      expect(model.runs).toBe(trials.length);
      expect(trials.filter(({ state }) => state === "running")).toEqual([]);
      expect(trials.length).toBeLessThanOrEqual(stop.trials!);
      expect(model.maxAtWork).toBeLessThanOrEqual(parallel);
      for (const { params, reports } of trials) {
        const active = parameterOrder(space).filter((name) => isActive(space[name]!, params));
        expect(Object.keys(params).sort()).toEqual([...active].sort());
        for (const name of active) expect(contains(space[name]!, params[name]!)).toBe(true);
        const epochs = reports.map(({ epoch }) => epoch);
        expect(epochs).toEqual([...new Set(epochs)].sort((a, b) => a - b));
      }
      if (!isOrdered(scheduler.type) || notANumber || stop.dollars || stop.noImprovement) return;
      compared++;
      const planned = { ...definition, maxEpochs: job.hyperparameters.epochs };
      const undisturbed = simulate({ definition: planned, curve, next: () => 0 });
      const outcomes = (all: typeof undisturbed.trials) =>
        all.map(({ number, params, bracket, state, until, reports }) =>
          // A failed run's last segment is not read.
          state === "failed"
            ? { number, params, bracket, state, until }
            : { number, params, bracket, state, until, reports },
        );
      expect(outcomes(trials)).toEqual(outcomes(undisturbed.trials));
      expect(study.reason).toBe(undisturbed.reason);
    }),
    { numRuns: count, seed: seedOf(1) },
  );
  expect(kills).toBeGreaterThan(2 * count);
  expect(completed).toBeGreaterThan(count);
  expect(compared).toBeGreaterThan(count / 15);
});
