import { jobSchema } from "../../../core/runs/job";
import type { RunDetails } from "../../../core/runs/shapes";
import { lossesOf, type ObservedTrial } from "../../../core/tuning/history";
import { observe } from "../../../core/tuning/observe";
import { createScheduler } from "../../../core/tuning/planner";
import type { SchedulerTrial } from "../../../core/tuning/scheduler";
import { comparable } from "../../../core/tuning/schedulers/rank";
import type { Trial } from "../../../core/tuning/shapes";
import { studyDefinitionSchema } from "../../../core/tuning/study";
import { jobInput, resultOf, runOf } from "../../support/fixtures";

const at = "2026-01-01T00:00:00.000Z";
const objective = { metric: "validation/loss", direction: "minimize" } as const;
const job = jobSchema.parse(jobInput({ earlyStopping: { metric: "validation/loss", patience: 2 } }));

function trialOf(number: number, state: SchedulerTrial["state"], losses: readonly number[], more = {}): SchedulerTrial {
  const reports = losses.map((value, i) => ({ epoch: i + 1, value }));
  return { number, params: { x: number }, state, reports, until: 3, bracket: 0, ...more };
}

/** Trials 0 to 2 wait at the rung of epoch 3. */
const paused = [4, 3, 2].map((loss, number) => trialOf(number, "paused", [9, 9, loss]));

describe("a trial that stops early", () => {
  it("is completed, with the values of its best epoch", async () => {
    const losses = [0.5, 0.25, 0.75, 0.5];
    const trial: Trial = {
      ...{ number: 0, params: {}, state: "running", until: 9, segment: 0, runId: "run-a", reports: [], startedAt: at },
    };
    const metrics = { "validation/loss": 0.25, "train/loss": 0.125 };
    const run = runOf("run-a", { job, status: "completed" });
    const details = {
      run,
      attempts: [],
      steps: [{ step: "LaunchTraining", output: { ...resultOf("run-a"), metrics } }],
    };
    const observed = await observe(
      {
        runs: { find: async () => run, findDetails: async () => details as unknown as RunDetails },
        metrics: {
          read: async () => losses.map((value, i) => ({ step: 10 * (i + 1), value, at: 0 })),
          summaries: async () => [{ metric: "validation/loss", last: 0.5 }],
        } as unknown as Parameters<typeof observe>[0]["metrics"],
        clock: { now: () => 0 },
      },
      { objectives: [objective], constraints: [{ metric: "train/loss", max: 1 }] } as never,
      trial,
    );
    expect(observed).toMatchObject({
      kind: "ended",
      trial: {
        state: "completed",
        values: [0.25],
        constraints: [0.125 - 1],
        reports: losses.map((value, i) => ({ epoch: i + 1, value })),
      },
    });
  });

  it.each(["successive-halving", "hyperband", "asha"] as const)(
    "is neither resumed nor stopped by %s, and does not hold up the others",
    (type) => {
      const settings = { minEpochs: 3, factor: 3, type } as const;
      const context = { maxEpochs: 9, objective, space: {} as never, usesHistory: false, parallel: 2 };
      const scheduler = createScheduler(settings, context);
      // By its last report it is the worst; by its best epoch it is the best.
      const early = trialOf(3, "completed", [1, 9], { values: [1] });
      let trials: readonly SchedulerTrial[] = [...paused, early];
      for (let round = 0; round < 20; round += 1) {
        const actions = scheduler.next(trials, { free: 2, mayCreate: 0 });
        if (actions.length === 0) break;
        for (const action of actions) {
          if (action.type === "create") throw new Error("no trial may be created");
          expect(action.trial).not.toBe(early.number);
          trials = trials.map((trial): SchedulerTrial => {
            if (trial.number !== action.trial) return trial;
            if (action.type === "stop") return { ...trial, state: "stopped" };
            const reports = Array.from({ length: action.until }, (_, i) => ({ epoch: i + 1, value: 2 }));
            const state = action.until === 9 ? "completed" : "paused";
            return { ...trial, until: action.until, state, reports, ...(state === "completed" ? { values: [2] } : {}) };
          });
        }
      }
      expect(trials.every(({ state }) => state === "completed" || state === "stopped" || type === "asha")).toBe(true);
      expect(trials.find(({ number }) => number === early.number)).toBe(early);
    },
  );

  it("shows samplers the value of its best epoch", () => {
    const early = trialOf(12, "completed", [1, 9], { values: [1] });
    const others = Array.from({ length: 12 }, (_, number) => trialOf(number, "paused", [9, 9, 5]));
    const seen = comparable([...others, early], [3, 9], () => true).map((trial: ObservedTrial) =>
      lossesOf(trial, [objective]),
    );
    expect(seen).toEqual([...others.map(() => [5]), [1]]);
  });

  const rate = "hyperparameters.learningRate";
  const plain = jobSchema.parse(jobInput());
  it.each([
    ["in the job", job, rate, true],
    ["in the space", plain, "earlyStopping.minDelta", true],
    ["nowhere", plain, rate, false],
  ])("cannot be a member of a population: early stopping %s", (_name, own, path, isRefused) => {
    const parsed = studyDefinitionSchema.safeParse({
      name: "s",
      job: own,
      objectives: [objective],
      space: { [path]: { type: "float", low: 0.001, high: 0.1 } },
      scheduler: { type: "population" },
      stop: { trials: 8 },
    });
    const rules = parsed.success ? [] : parsed.error.issues.map(({ message }) => message);
    expect(rules.some((rule) => rule.startsWith("cannot be population with earlyStopping"))).toBe(isRefused);
  });
});
