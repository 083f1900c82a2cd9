import * as fc from "fast-check";
import { createScheduler } from "../../../core/tuning/planner";
import { drawsFor } from "../../../core/tuning/samplers/sampler";
import type { SchedulerTrial } from "../../../core/tuning/scheduler";
import { rankAt, rungsOf } from "../../../core/tuning/schedulers/rank";
import { problemsOfScheduler, type SchedulerSettings, schedulerSettingsSchema } from "../../../core/tuning/settings";
import { type Space, spaceSchema } from "../../../core/tuning/space";
import { rounds, seedOf } from "../../support/rounds";
import { type SimulatedStudy, simulate } from "./simulated-study";

const space: Space = spaceSchema.parse({ x: { type: "float", low: 0, high: 1 } });
const objective = { metric: "validation/loss", direction: "minimize" } as const;
const settings = (given: object): SchedulerSettings => schedulerSettingsSchema.parse(given);
const schedulerOf = (given: object, maxEpochs: number, usesHistory = false, parallel = 1) =>
  createScheduler(settings(given), { maxEpochs, objective, space, usesHistory, parallel });

/** A trial that has reported a value in the last epoch of its segment. */
const paused = (number: number, until: number, value: number, more: Partial<SchedulerTrial> = {}): SchedulerTrial => ({
  ...{ number, params: { x: 0 }, state: "paused", until, reports: [{ epoch: until, value }] },
  ...more,
});

const definitionOf = (
  scheduler: object,
  trials: number,
  parallel: number,
  maxEpochs: number,
): SimulatedStudy["definition"] => ({
  ...{ space, objectives: [objective], parallel, maxEpochs, stop: { trials } },
  sampler: { type: "random", seed: 3 },
  scheduler: settings(scheduler),
});
const curve = ({ x }: Readonly<Record<string, unknown>>, epoch: number) => Number(x) + 1 / epoch;
const first = () => 0;
const untilCounts = (trials: readonly SchedulerTrial[]) => {
  const counts: Record<number, number> = {};
  for (const { until } of trials) counts[until] = (counts[until] ?? 0) + 1;
  return counts;
};

describe("a ranking at an epoch", () => {
  it("has trials that ended before it last, however good their values", () => {
    const trials = [
      paused(0, 1, 0.1, { state: "stopped" }),
      paused(1, 3, 0.5),
      paused(2, 2, 0.2, { state: "failed" }),
      paused(3, 3, 0.4, { state: "stopped" }),
    ];
    expect(rankAt(trials, 3, objective).map(({ trial, loss }) => [trial.number, loss])).toEqual([
      [3, 0.4],
      [1, 0.5],
      [0, Number.POSITIVE_INFINITY],
      [2, Number.POSITIVE_INFINITY],
    ]);
  });
});

describe("rungs", () => {
  it.each([
    [1, 81, 3, [1, 3, 9, 27, 81]],
    [1, 100, 3, [1, 4, 11, 33, 100]],
    [2, 16, 4, [4, 16]],
    [5, 5, 3, [5]],
    [6, 5, 3, []],
  ])("from %d to %d epochs by %d are %j", (min, max, factor, expected) => {
    expect(rungsOf(min, max, factor)).toEqual(expected);
  });

  it("are refused if the first one is longer than a trial", () => {
    expect(problemsOfScheduler(settings({ type: "asha", minEpochs: 6 }), 5)).toEqual([
      {
        path: "scheduler.minEpochs",
        value: 6,
        rule: "must be at most the epochs of a trial, which hyperparameters.epochs of the job sets to 5",
      },
    ]);
    expect(problemsOfScheduler(settings({ type: "population", interval: 6 }), 6)).toEqual([]);
    expect(problemsOfScheduler(settings({ type: "none" }), 5)).toEqual([]);
  });
});

describe("successive halving", () => {
  const halving = { type: "successive-halving", factor: 3 };

  it("resumes the best third of a whole rung and stops the others", () => {
    const trials = [0.3, 0.1, 0.2].map((value, number) => paused(number, 1, value, { bracket: 0 }));
    expect(schedulerOf(halving, 9).next(trials, { free: 2, mayCreate: 0 })).toEqual([
      { type: "stop", trial: 2, reason: "rank 2 of 3 at epoch 1, where 1 may continue" },
      { type: "stop", trial: 0, reason: "rank 3 of 3 at epoch 1, where 1 may continue" },
      { type: "resume", trial: 1, until: 3 },
    ]);
  });

  it("waits for the last trial of a rung", () => {
    const trials = [
      paused(0, 1, 0.3, { bracket: 0 }),
      paused(1, 1, 0.1, { bracket: 0, state: "running", reports: [] }),
    ];
    expect(schedulerOf(halving, 9).next(trials, { free: 3, mayCreate: 1 })).toEqual([
      { type: "create", bracket: 0, until: 1 },
    ]);
    expect(schedulerOf(halving, 9).next(trials, { free: 3, mayCreate: 0 })).toEqual([]);
  });

  it("does not resume a trial whose value is not a number, and does not wait for a failed one", () => {
    const trials = [
      paused(0, 1, NaN, { bracket: 0 }),
      paused(1, 1, 0.5, { bracket: 0 }),
      paused(2, 1, 0.1, { bracket: 0, state: "failed", reports: [] }),
    ];
    expect(schedulerOf(halving, 9).next(trials, { free: 1, mayCreate: 0 })).toEqual([
      { type: "stop", trial: 0, reason: "rank 2 of 3 at epoch 1, where 1 may continue" },
      { type: "resume", trial: 1, until: 3 },
    ]);
    const lost = trials.map((trial) => ({ ...trial, state: "failed" as const }));
    expect(schedulerOf(halving, 9).next(lost, { free: 1, mayCreate: 0 })).toEqual([]);
  });

  it("trains 27 trials of 27 epochs for 27, 9, 3 and 1 segments", () => {
    const { trials, epochs } = simulate({ definition: definitionOf(halving, 27, 4, 27), curve, next: first });
    expect(untilCounts(trials)).toEqual({ 1: 18, 3: 6, 9: 2, 27: 1 });
    expect(epochs).toBe(27 + 9 * 2 + 3 * 6 + 18);
  });

  it("keeps the rungs that it has decided when the study is given more trials", () => {
    const definition = definitionOf(halving, 9, 2, 9);
    const { trials } = simulate({ definition, curve, next: first });
    const actions = schedulerOf(halving, 9).next(trials, { free: 9, mayCreate: 3 });
    expect(actions).toEqual([0, 1, 2].map(() => ({ type: "create", bracket: 1, until: 1 })));
  });
});

describe("Hyperband", () => {
  it.each([
    // ⌈(s_max + 1) / (s + 1) · η^s⌉
    [27, 49, [27, 12, 6, 4]],
    [81, 100, [49, 24, 13, 8, 6]],
    [81, Infinity, [69, 35, 18, 12, 8]],
  ])("with %d epochs divides %d trials into brackets of %j", (maxEpochs, count, expected) => {
    const scheduler = schedulerOf({ type: "hyperband" }, maxEpochs);
    const created = scheduler.next([], { free: count === Infinity ? 142 : count, mayCreate: count });
    const sizes = expected.map((_, at) => created.filter((one) => one.type === "create" && one.bracket === at).length);
    expect(sizes).toEqual(expected);
  });

  it("divides any number of trials into whole rounds", () => {
    const sizesOf = (count: number) => {
      const { trials } = simulate({ definition: definitionOf({ type: "hyperband" }, count, 8, 9), curve, next: first });
      return trials.reduce<number[]>((sizes, { bracket = 0 }) => {
        sizes[bracket] = (sizes[bracket] ?? 0) + 1;
        return sizes;
      }, []);
    };
    expect(sizesOf(1)).toEqual([1]);
    expect(sizesOf(24)).toEqual([13, 7, 4]);
    expect(sizesOf(34)).toEqual([9, 5, 3, 9, 5, 3]);
  });

  it("begins a bracket before the previous one has ended only if the sampler does not look at results", () => {
    const trials = Array.from({ length: 9 }, (_, number) =>
      paused(number, 1, number, { bracket: 0, ...(number === 8 ? { state: "running", reports: [] } : {}) }),
    );
    const next = (usesHistory: boolean) =>
      schedulerOf({ type: "hyperband" }, 9, usesHistory).next(trials, { free: 4, mayCreate: 8 });
    // Trials 0 and 1 are among the best three whatever trial 8 reports.
    const resumed = [0, 1].map((trial) => ({ type: "resume", trial, until: 3 }));
    expect(next(false)).toEqual([...resumed, ...[0, 1].map(() => ({ type: "create", bracket: 1, until: 3 }))]);
    expect(next(true)).toEqual(resumed);
  });

  it("shows a sampler the whole brackets before its own after one rung, and what was stopped below as worse", () => {
    const first = Array.from({ length: 14 }, (_, number): SchedulerTrial => {
      const reports = [1, 3].slice(0, number < 12 ? 2 : 1).map((epoch) => ({ epoch, value: number / epoch }));
      return { ...paused(number, number < 12 ? 3 : 1, 0, { bracket: 0 }), reports };
    });
    first[0] = { ...first[0]!, until: 9, state: "completed", reports: [...first[0]!.reports, { epoch: 9, value: 7 }] };
    const seen = schedulerOf({ type: "hyperband" }, 9).visibleHistory(
      [...first, paused(14, 3, 0.2, { bracket: 1 })],
      1,
    );
    expect(seen.map(({ number, reports, reached }) => [number, reports.at(-1)?.value, reached])).toEqual([
      ...Array.from({ length: 12 }, (_, number) => [number, number / 3, undefined]),
      [12, 12, 1 / 3],
      [13, 13, 1 / 3],
      [14, undefined, undefined],
    ]);
    expect(seen[0]).not.toHaveProperty("values");
    expect(seen.at(-1)).toEqual({ number: 14, params: { x: 0 }, state: "running", reports: [] });
  });

  it("shows a sampler the trials of its own bracket, two waves before, whatever the order in which they finish", () => {
    const scheduler = schedulerOf({ type: "hyperband" }, 9, true, 2);
    const bracket = (unsettled: number) =>
      Array.from({ length: 4 }, (_, number) =>
        paused(number, 1, number, { bracket: 0, ...(number === unsettled ? { state: "running", reports: [] } : {}) }),
      );
    expect(scheduler.visibleHistory(bracket(2), 0).map(({ state }) => state)).toEqual([
      ...["completed", "completed", "running", "running"],
    ]);
    expect(scheduler.next(bracket(2), { free: 1, mayCreate: 8 })).toEqual([{ type: "create", bracket: 0, until: 1 }]);
    expect(scheduler.next(bracket(1), { free: 1, mayCreate: 8 })).toEqual([]);
  });
});

describe("asynchronous successive halving", () => {
  const asha = { type: "asha", factor: 2 };

  it("resumes a trial among the best half of those that have reached its rung, without waiting", () => {
    const trials = [paused(0, 1, 0.3), paused(1, 1, 0.1), paused(2, 1, 0.2, { state: "running", reports: [] })];
    expect(schedulerOf(asha, 4).next(trials, { free: 2, mayCreate: 5 })).toEqual([
      { type: "resume", trial: 1, until: 2 },
      { type: "create", until: 1 },
    ]);
  });

  it("resumes the best trial at the end if none has reached the maximum", () => {
    const { trials } = simulate({ definition: definitionOf({ type: "asha" }, 5, 2, 81), curve, next: first });
    expect(trials.filter(({ state }) => state === "completed")).toHaveLength(1);
  });
});

describe("population-based training", () => {
  const population = { type: "population", population: 4, interval: 2, fraction: 0.25, seed: 1 };

  it("continues the worst member from the best one's checkpoint with other parameters", () => {
    const trials = [0.4, 0.1, 0.2, 0.3].map((value, number) =>
      paused(number, 2, value, { params: { x: number / 10 } }),
    );
    const actions = schedulerOf(population, 6).next(trials, { free: 4, mayCreate: 0 });
    expect(actions).toEqual([
      { type: "resume", trial: 0, until: 4, from: { trial: 1, epoch: 2 }, params: expect.anything() },
      { type: "resume", trial: 1, until: 4 },
      { type: "resume", trial: 2, until: 4 },
      { type: "resume", trial: 3, until: 4 },
    ]);
    expect(actions[0]).not.toMatchObject({ params: { x: 0.1 } });
  });

  it("replaces a failed member, and the decision stays the same while slots are missing", () => {
    const scheduler = schedulerOf(population, 6);
    const trials = [0.4, 0.1, 0.2, 0.3].map((value, number) => paused(number, 2, value));
    trials[3] = paused(3, 2, 0, { state: "failed", reports: [{ epoch: 1, value: 0.01 }] });
    const [one, two] = scheduler.next(trials, { free: 2, mayCreate: 0 });
    expect([one, two]).toMatchObject([
      { trial: 3, from: { trial: 1 } },
      { trial: 0, until: 4 },
    ]);
    const begun = trials.map((trial) =>
      trial.number === 3 ? { ...trial, state: "running" as const, until: 4 } : trial,
    );
    expect(scheduler.next(begun, { free: 9, mayCreate: 0 })).toMatchObject([{ trial: 0 }, { trial: 1 }, { trial: 2 }]);
  });
});

const synchronous: fc.Arbitrary<object> = fc.oneof(
  fc.record({ type: fc.constantFrom("successive-halving", "hyperband"), factor: fc.integer({ min: 2, max: 4 }) }),
  fc.record({
    type: fc.constant("population"),
    population: fc.integer({ min: 2, max: 9 }),
    interval: fc.integer({ min: 1, max: 3 }),
    seed: fc.nat(100),
  }),
);

it("A synchronous scheduler runs the same trials, each as far, in whatever order they finish.", () => {
  fc.assert(
    fc.property(
      synchronous,
      fc.integer({ min: 1, max: 40 }),
      fc.tuple(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 8 })),
      fc.integer({ min: 4, max: 30 }),
      fc.tuple(fc.nat(), fc.nat()),
      (scheduler, trials, parallels, maxEpochs, seeds) => {
        // Some trials fail, and some report no number; which ones depends on the settings and the epoch alone.
        const unreliable: SimulatedStudy["curve"] = (params, epoch, trial) => {
          const draw = drawsFor(trial, epoch, Math.floor(Number(params["x"]) * 1e6)).uniform();
          return draw < 0.01 ? undefined : draw < 0.02 ? NaN : curve(params, epoch) + draw / 4;
        };
        const [one, other] = seeds.map((seed, at) => {
          const draws = drawsFor(seed);
          return simulate({
            definition: definitionOf(scheduler, trials, parallels[at]!, maxEpochs),
            curve: unreliable,
            next: (running) => draws.index(running.length),
          });
        });
        expect(one).toEqual(other);
      },
    ),
    { numRuns: rounds(40, 1_000), seed: seedOf(1) },
  );
});
