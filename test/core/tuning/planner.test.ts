import { bestTrials } from "../../../core/tuning/history";
import { type PlannedStudy, plan } from "../../../core/tuning/planner";
import type { SchedulerTrial } from "../../../core/tuning/scheduler";
import { spaceSchema } from "../../../core/tuning/space";
import { simulate } from "./simulated-study";

const floats = spaceSchema.parse({ x: { type: "float", low: 0, high: 1 } });
const four = spaceSchema.parse({
  a: { type: "categorical", choices: ["p", "q"] },
  b: { type: "int", low: 1, high: 3, when: { parameter: "a", in: ["p"] } },
});
const loss = { metric: "validation/loss", direction: "minimize" } as const;
const accuracy = { metric: "validation/accuracy", direction: "maximize" } as const;

const definitionOf = (given: Partial<PlannedStudy["definition"]>): PlannedStudy["definition"] => ({
  ...{ space: floats, objectives: [loss], parallel: 2, maxEpochs: 4, stop: { trials: 8 } },
  sampler: { type: "random", seed: 0 },
  scheduler: { type: "none" },
  ...given,
});
const planOf = (given: Partial<PlannedStudy["definition"]>, more: Partial<PlannedStudy> = {}) =>
  plan({ definition: definitionOf(given), warmStart: [], trials: [], hours: 0, dollars: 0, ...more });

const ended = (number: number, values: readonly number[], more: Partial<SchedulerTrial> = {}): SchedulerTrial => ({
  ...{ number, params: { x: number / 100 }, state: "completed", until: 4, reports: [], values },
  ...more,
});

describe("a plan", () => {
  it("starts as many trials as may run, with the next numbers", () => {
    const { actions } = planOf({ parallel: 3 }, { trials: [ended(0, [1], { state: "running" })] });
    expect(actions).toMatchObject([
      { type: "create", number: 1, until: 4 },
      { type: "create", number: 2, until: 4 },
    ]);
  });

  it("suggests the same parameters whether trials are planned together or one after the other", () => {
    const together = planOf({ parallel: 2 }).actions;
    const [first] = planOf({ parallel: 1 }).actions;
    expect(together[0]).toEqual(first);
    const trials = [ended(0, [1], first?.type === "create" ? { params: first.params } : {})];
    expect(planOf({ parallel: 1 }, { trials }).actions[0]).toEqual(together[1]);
  });

  it.each([
    ["hours", { hours: 2 }, { hours: 2 }, "the limit of 2 hours is reached"],
    ["dollars", { dollars: 5 }, { dollars: 5.01 }, "the limit of 5 dollars is reached"],
    ["noImprovement", { noImprovement: 2 }, {}, "2 trials ended without a better value, and noImprovement is 2"],
  ])("starts nothing after the limit of %s, and ends with the last running trial", (_, stop, used, reason) => {
    const trials = [ended(0, [1]), ended(1, [2]), ended(2, [3]), ended(3, [NaN], { state: "running" })];
    const running = planOf({ stop }, { trials, ...used });
    expect(running).toEqual({ actions: [] });
    expect(planOf({ stop }, { trials: trials.slice(0, 3), ...used })).toEqual({ actions: [], finished: { reason } });
  });

  it("ends when every point of a finite space has been tried once", () => {
    const definition = definitionOf({ space: four, stop: { trials: 100 } });
    const { trials, reason } = simulate({ definition, curve: () => 1, next: () => 0 });
    expect(reason).toBe("every point of the space has been tried");
    expect(trials.map(({ params }) => JSON.stringify(params)).sort()).toEqual(
      [{ a: "p", b: 1 }, { a: "p", b: 2 }, { a: "p", b: 3 }, { a: "q" }].map((point) => JSON.stringify(point)),
    );
  });

  it("ends with the last point of a grid", () => {
    const definition = definitionOf({ space: four, sampler: { type: "grid", seed: 0 }, stop: {} });
    const { trials, reason } = simulate({ definition, curve: () => 1, next: () => 0 });
    expect([trials.length, reason]).toEqual([4, "every point of the space has been tried"]);
  });

  it("ends when all trials have failed", () => {
    const { trials, reason } = simulate({ definition: definitionOf({}), curve: () => undefined, next: () => 0 });
    expect(trials.map(({ state }) => state)).toEqual(Array(8).fill("failed"));
    expect(reason).toBe("all 8 trials have ended");
  });
});

describe("the best trial", () => {
  const numbersOf = (trials: readonly SchedulerTrial[], objectives: Parameters<typeof bestTrials>[1] = [loss]) =>
    bestTrials(trials, objectives).map(({ number }) => number);

  it("is the completed one with the least loss, and the first of equal ones", () => {
    const others = [ended(4, [0.1], { state: "failed" }), ended(5, [0.1], { state: "stopped" })];
    const trials = [ended(0, [0.3]), ended(1, [0.2]), ended(2, [0.2]), ended(3, [NaN]), ...others];
    expect(numbersOf(trials)).toEqual([1]);
    expect(numbersOf(trials, [accuracy])).toEqual([0]);
    expect(numbersOf([])).toEqual([]);
  });

  it("is one that has not completed only while none has", () => {
    const trials = [0.4, 0.3].map((value, number) =>
      ended(number, [], { state: "paused", values: undefined as never, reports: [{ epoch: 1, value }] }),
    );
    expect(numbersOf(trials)).toEqual([1]);
  });

  it("keeps its constraints if any trial does, and otherwise exceeds them least", () => {
    const trials = [
      ended(0, [0.1], { constraints: [2] }),
      ended(1, [0.2], { constraints: [0.5, 0.25] }),
      ended(2, [0.3], { constraints: [-1, 0.75] }),
    ];
    expect(numbersOf(trials)).toEqual([1]);
    expect(numbersOf([...trials, ended(3, [9], { constraints: [0] })])).toEqual([3]);
  });

  it("of several objectives is the Pareto front", () => {
    const trials = [ended(0, [1, 0.5]), ended(1, [2, 0.9]), ended(2, [2, 0.8]), ended(3, [3, 0.9])];
    expect(numbersOf(trials, [loss, accuracy])).toEqual([0, 1]);
  });
});
