import { judge } from "../../../core/registry/gates";

const base = {
  metrics: { accuracy: 0.95, logLoss: 0.2 },
  thresholds: {},
  tolerance: 0,
  regressionRule: "credible" as const,
  incompatibleChampion: "refuse" as const,
  at: "2026-01-01T00:00:00.000Z",
};
const interval = { confidence: 0.95, rows: 1_000, resamples: 2_000, seed: 7 };
/** Accuracy against the champion's 0.96. */
const against = (difference: number, lower: number, upper: number, metric: "accuracy" | "rmse" = "accuracy") => ({
  champion: {
    version: 1,
    comparison: {
      kind: "compared" as const,
      champion: 1,
      metric,
      candidateValue: 0.96 + difference,
      championValue: 0.96,
      outcomes: { sha256: "0".repeat(64), bytes: 1 },
      difference,
      lower,
      upper,
      ...interval,
    },
  },
});
const incompatible = {
  champion: {
    version: 1,
    comparison: {
      kind: "incompatible" as const,
      champion: 1,
      reasons: ["it needs the column x, which the dataset has no more"],
    },
  },
};
const excluded = { regressionRule: "excluded" as const };

describe("the gates", () => {
  it.each([
    ["nothing asked, nothing refused", {}, true],
    ["at least: reached exactly", { thresholds: { accuracy: 0.95 } }, true],
    ["at least: missed", { thresholds: { accuracy: 0.951 } }, false],
    ["at most, where less is better", { thresholds: { logLoss: 0.2 } }, true],
    ["at most: exceeded", { thresholds: { logLoss: 0.19 } }, false],
    ["a metric that was not measured", { thresholds: { auc: 0.5 } }, false],
    ["NaN is never good enough", { metrics: { accuracy: Number.NaN }, thresholds: { accuracy: 0 } }, false],
    ["credibly worse than the champion", against(-0.02, -0.03, -0.01), false],
    ["worse, but chance may have done it", against(-0.01, -0.03, 0.01), true],
    ["credibly worse, but within the tolerance", { ...against(-0.02, -0.03, -0.01), tolerance: 0.02 }, true],
    ["credibly worse than the tolerance allows", { ...against(-0.05, -0.06, -0.04), tolerance: 0.02 }, false],
    ["better", against(0.02, 0.01, 0.03), true],
    ["as good, row by row", against(0, 0, 0), true],
    ["to be shown: no worse", { ...against(0.02, 0.01, 0.03), ...excluded }, true],
    ["to be shown: chance may hide a regression", { ...against(0.01, -0.01, 0.03), ...excluded }, false],
    ["to be shown, within a tolerance", { ...against(0.01, -0.01, 0.03), ...excluded, tolerance: 0.02 }, true],
    ["RMSE: more is worse", { metrics: { rmse: 1 }, ...against(0.02, 0.01, 0.03, "rmse") }, false],
    ["RMSE: less is better", { metrics: { rmse: 1 }, ...against(-0.02, -0.03, -0.01, "rmse") }, true],
    ["RMSE, to be shown", { metrics: { rmse: 1 }, ...against(-0.02, -0.03, 0.01, "rmse"), ...excluded }, false],
    ["a champion that cannot be given the rows", incompatible, false],
    ["a champion that cannot, and may not", { ...incompatible, incompatibleChampion: "pass" as const }, true],
    ["the champion's own weights", { champion: { version: 1, comparison: "same" as const } }, true],
  ])("%s", (_name, more, passed) => {
    expect(judge({ ...base, ...more }).passed).toBe(passed);
  });

  it("keeps its evidence in words", () => {
    const verdict = judge({ ...base, thresholds: { accuracy: 0.97 } });
    expect(verdict.checks).toEqual([
      {
        gate: "threshold",
        metric: "accuracy",
        value: 0.95,
        limit: 0.97,
        passed: false,
        evidence: "accuracy is 0.95, but must be at least 0.97",
      },
    ]);
  });

  it.each([
    [
      against(-0.02, -0.03, -0.01),
      "accuracy is 0.94, version 1 has 0.96 on the same 1000 rows: -0.02, 95 % interval -0.03 to -0.01; a regression, because the interval ends before 0",
    ],
    [
      against(0.04, 0.03, 0.05),
      "accuracy is 1, version 1 has 0.96 on the same 1000 rows: +0.04, 95 % interval +0.03 to +0.05; better, and not by chance",
    ],
    [
      { ...against(0.01, -0.01, 0.03), ...excluded, tolerance: 0.02 },
      "accuracy is 0.97, version 1 has 0.96 on the same 1000 rows: +0.01, 95 % interval -0.01 to +0.03; no regression, because the interval stays within -0.02",
    ],
    [
      incompatible,
      "not compared with version 1: it needs the column x, which the dataset has no more; evaluation.incompatibleChampion is refuse",
    ],
  ])("say what a comparison rests on: %#", (more, evidence) => {
    const [check] = judge({ ...base, ...more }).checks;
    expect(check).toMatchObject({ gate: "no-regression", evidence });
    if (more !== incompatible) expect(check!.interval).toMatchObject(interval);
  });
});
