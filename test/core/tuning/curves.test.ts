import type { ObservedTrial } from "../../../core/tuning/history";
import { detrended, gpSampler } from "../../../core/tuning/samplers/gp";
import { comparable } from "../../../core/tuning/schedulers/rank";
import { spaceSchema } from "../../../core/tuning/space";

const minimize = { metric: "validation/loss", direction: "minimize" } as const;
const trial = (number: number, ...values: readonly number[]): ObservedTrial => ({
  number,
  params: { x: number / 10 },
  state: "stopped",
  reports: [],
  curve: values.map((value, i) => ({ at: i / 2, value })),
});

describe("the curves of stopped trials", () => {
  it("are compared without the trend that they share", () => {
    // The two trials with a second value fell by 2 and 1, the larger of which is the middle; the third value fell by 1.
    const history = [trial(0, 5), trial(1, 4, 2), trial(2, 3, 2, 1)];
    expect(detrended(history, minimize).map(({ trial: { number }, at, loss }) => [number, at, loss])).toEqual([
      [0, 0, 5],
      [1, 0, 4],
      [1, 0.5, 3],
      [2, 0, 3],
      [2, 0.5, 3],
      [2, 1, 3],
    ]);
  });

  it("are losses where the objective is maximized, and trials of earlier studies count at the end", () => {
    const earlier: ObservedTrial = { number: -1, params: { x: 1 }, state: "completed", reports: [], values: [0.75] };
    const found = detrended([earlier, trial(0, 0.5)], { ...minimize, direction: "maximize" });
    expect(found.map(({ at, loss }) => [at, loss])).toEqual([
      [1, -0.75],
      [0, -0.5],
    ]);
  });

  it("are passed to samplers with the trials that their scheduler stopped, and without those that failed", () => {
    const reports = (count: number) => Array.from({ length: count }, (_, i) => ({ epoch: i + 1, value: 10 - i }));
    const trials = [
      { number: 0, params: {}, state: "stopped", until: 1, reports: reports(1) },
      { number: 1, params: {}, state: "completed", until: 9, reports: reports(9) },
      { number: 2, params: {}, state: "failed", until: 9, reports: reports(4) },
      { number: 3, params: {}, state: "running", until: 3, reports: reports(2) },
    ] as const;
    const seen = comparable(trials, [1, 3, 9], ({ number }) => number < 3);
    expect(seen.map(({ number, curve }) => [number, curve])).toEqual([
      [0, [{ at: 0, value: 10 }]],
      [
        1,
        [
          { at: 0, value: 10 },
          { at: 0.5, value: 8 },
          { at: 1, value: 2 },
        ],
      ],
      [2, []],
      [3, undefined],
    ]);
  });

  it("lead to settings that end best, not to those that learn fast", () => {
    const space = spaceSchema.parse({ x: { type: "float", low: 0, high: 1 } });
    // Early, a high x is better; at the end, a low one is.
    const lossOf = (x: number, at: number) => (1 - at) * (2 - x) + at * x;
    const history = Array.from({ length: 24 }, (_, number): ObservedTrial => {
      const x = ((number * 7) % 24) / 24;
      const places = number % 4 === 0 ? [0, 0.5, 1] : [0, 0.5];
      return {
        number,
        params: { x },
        state: "stopped",
        reports: [],
        curve: places.map((at) => ({ at, value: lossOf(x, at) })),
      };
    });
    const sampler = gpSampler({ space, objectives: [minimize], seed: 1 }, { startupTrials: 10 });
    const suggested = [24, 25, 26, 27, 28].map((number) => sampler.suggest(history, number)?.["x"] as number);
    expect(Math.max(...suggested)).toBeLessThan(0.35);
    expect(sampler.suggest(history, 24)).toEqual({ x: suggested[0] });
  });
});
