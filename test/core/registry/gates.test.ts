import { judge } from "../../../core/registry/gates";

const base = {
  metrics: { accuracy: 0.95, logLoss: 0.2 },
  thresholds: {},
  tolerance: 0,
  at: "2026-01-01T00:00:00.000Z",
};
const champion = { version: 1, metrics: { accuracy: 0.96 }, sameEvaluationSet: true };

describe("the gates", () => {
  it.each([
    ["nothing asked, nothing refused", {}, true],
    ["at least: reached exactly", { thresholds: { accuracy: 0.95 } }, true],
    ["at least: missed", { thresholds: { accuracy: 0.951 } }, false],
    ["at most, where less is better", { thresholds: { logLoss: 0.2 } }, true],
    ["at most: exceeded", { thresholds: { logLoss: 0.19 } }, false],
    ["a metric that was not measured", { thresholds: { auc: 0.5 } }, false],
    ["NaN is never good enough", { metrics: { accuracy: Number.NaN }, thresholds: { accuracy: 0 } }, false],
    ["worse than the champion", { champion }, false],
    ["worse, but within the tolerance", { champion, tolerance: 0.02 }, true],
    ["as good as the champion", { champion: { ...champion, metrics: { accuracy: 0.95 } } }, true],
    ["a champion of other rows is not compared", { champion: { ...champion, sameEvaluationSet: false } }, true],
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
});
