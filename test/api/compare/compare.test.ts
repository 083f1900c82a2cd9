import { compareRuns } from "../../../api/compare/compare";
import { goalOf } from "../../../core/evaluation/metric-goal";
import { comparedRuns, hostile, requestOf } from "./compared";

const compare = (request: Parameters<typeof requestOf>[0] = {}) => compareRuns(comparedRuns(), requestOf(request));

describe("a comparison", () => {
  it("tells params that differ from those in common; numbers by their value", async () => {
    const { params } = await compare();
    expect(params.common).toEqual([{ name: "rate", value: "1e-3" }]);
    expect(params.differing).toEqual([
      { name: hostile, values: [null, hostile, null] },
      { name: "depth", values: ["3", "4", null] },
      { name: "only", values: ["a", null, null] },
    ]);
  });

  it("tells metrics with the distance to the baseline's, and the best", async () => {
    const { metrics, baseline } = await compare({ baseline: "a" });
    expect(baseline).toBe("a");
    expect(metrics.map(({ metric, goal, best }) => [metric, goal, best])).toEqual([
      ["validation/loss", "min", ["b"]],
      // All equal values are best; without a goal none is.
      ["acc", "max", ["a", "b"]],
      ["steps", undefined, []],
    ]);
    expect(metrics[0]!.values).toEqual([
      { last: 0.5, lastStep: 20, min: 0.4, max: 2 },
      { last: 0.25, lastStep: 20, min: 0.25, max: 2, delta: -0.25, relativeDelta: -0.5 },
      { last: Number.NaN, lastStep: 20, min: 1, max: 2 },
    ]);
    expect(metrics[1]!.values[2]).toBeNull();
    expect(metrics[2]!.values[1]).toEqual({ last: Number.NaN, lastStep: 0, min: Number.NaN, max: Number.NaN });
  });

  it("takes what is better from who asks", async () => {
    const { metrics } = await compare({ goals: { "validation/loss": "max", steps: "min" } });
    expect(metrics.map(({ goal, best }) => [goal, best])).toEqual([
      ["max", ["a"]],
      ["max", ["a", "b"]],
      // One value alone is not the best of any.
      ["min", []],
    ]);
  });

  it("tells what else is not the same", async () => {
    const { differences } = await compare();
    expect(differences).toEqual({
      code: [
        { name: "commit", values: ["c1", "c2", null] },
        { name: "dirty", values: [null, "true", null] },
      ],
      data: [{ name: "digits", values: ["version 1 (dddddddddddd)", null, null] }],
      environment: [{ name: "seed", values: ["1", "1", "2"] }],
    });
  });

  it.each([
    ["step", [0, 10, 20], [2, Number.NaN, 0.5], [5], [0, 20]],
    // In the order of the clock.
    ["time", [1_000, 2_000, 3_000], [2, 0.5, Number.NaN], [90_000], [5_000, 6_500]],
    ["relative-time", [0, 1, 2], [2, 0.5, Number.NaN], [0], [0, 1.5]],
  ] as const)("draws curves by %s", async (axis, a, values, b, c) => {
    const { curves } = await compare({ axis });
    // Only metrics that have a history.
    expect(curves.map(({ metric }) => metric)).toEqual(["validation/loss"]);
    expect(curves[0]!.series).toEqual([
      { runId: "a", x: a, y: values, total: 3 },
      { runId: "b", x: b, y: [0.25], total: 1 },
      { runId: "c", x: c, y: [Number.POSITIVE_INFINITY, 1], total: 2 },
    ]);
  });

  it("reads the requested curves of the runs that have them, and at most as many points as fit", async () => {
    const ports = comparedRuns();
    await compareRuns(ports, requestOf({ metrics: ["acc", "nothing"], points: 50 }));
    expect(ports.read).toEqual(["a/acc/50", "b/acc/50"]);
    ports.read.length = 0;
    await compareRuns(ports, requestOf({ points: 0 }));
    expect(ports.read).toEqual([]);
    const metrics = Array.from({ length: 100 }, (_, i) => `m${i}`);
    await compareRuns(ports, requestOf({ metrics: ["validation/loss", ...metrics], points: 2_000 }));
    expect(ports.read[0]).toBe(`a/validation/loss/${Math.floor(80_000 / (3 * 24))}`);
  });

  it("takes the best of a search, by a short name too", async () => {
    const top = { experimentIds: ["1"], filter: "", metric: "val_loss", count: 2 };
    const { runs, rankedBy, metrics } = await compare({ runs: top });
    expect(runs.map(({ runId }) => runId)).toEqual(["b", "a"]);
    expect(rankedBy).toEqual({ metric: "validation/loss", goal: "min" });
    expect(metrics[0]!.metric).toBe("validation/loss");
    // NaN is the worst either way, and who has none is none of them.
    const worst = await compare({ runs: { ...top, goal: "max", count: 9 } });
    expect(worst.runs.map(({ runId }) => runId)).toEqual(["a", "b", "c"]);
    const filtered = await compare({ runs: { ...top, filter: "params.depth = 3 OR params.depth = 9" } });
    expect(filtered.runs.map(({ runId }) => runId)).toEqual(["a"]);
  });

  it("adds a baseline that is not among the runs", async () => {
    const idsOf = async (request: Parameters<typeof requestOf>[0]) =>
      (await compare(request)).runs.map(({ runId }) => runId);
    expect(await idsOf({ runs: ["a", "b", "a"], baseline: "c" })).toEqual(["c", "a", "b"]);
    expect(await idsOf({ runs: ["a", "b"], baseline: "b" })).toEqual(["a", "b"]);
    const top = { experimentIds: ["1"], filter: "", metric: "acc", count: 1 };
    expect(await idsOf({ runs: top, baseline: "d" })).toEqual(["d", "a"]);
  });

  it.each([
    [{ runs: ["a", "nobody"] }, "RUN_NOT_FOUND", "nobody"],
    [
      { runs: { experimentIds: [], filter: "", metric: "steps", count: 3 } },
      "INVALID_INPUT",
      'set goal: "min" or "max"',
    ],
    [
      { runs: { experimentIds: [], filter: "", metric: "none-loss", count: 3 } },
      "INVALID_INPUT",
      "not a metric of any run",
    ],
    [{ runs: { experimentIds: [], filter: "nonsense", metric: "acc", count: 3 } }, "INVALID_INPUT", "character 2"],
  ])("of %j is refused", async (request, code, message) => {
    await expect(compare(request)).rejects.toMatchObject({ code });
    await expect(compare(request)).rejects.toThrow(message);
  });
});

describe("a metric's goal", () => {
  it.each([
    ["validation/loss", "min"],
    ["val_loss", "min"],
    ["valLoss", "min"],
    ["accuracy_loss", "min"],
    ["accuracy", "max"],
    ["top-5-accuracy", "max"],
    ["R2", "max"],
    ["epoch", undefined],
    ["train/learning-rate", undefined],
    ["accumulated", undefined],
  ])("of %s is %s", (metric, goal) => {
    expect(goalOf(metric)).toBe(goal);
  });
});
