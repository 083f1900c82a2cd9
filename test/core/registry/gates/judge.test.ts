import type { LatencyReport } from "../../../../core/evaluation/shapes";
import type { SlicedPredictions } from "../../../../core/evaluation/slices/judge";
import { isPending } from "../../../../core/registry/gates/external-check";
import { type CandidateFacts, type CheckOutcome, judge as judgeFacts } from "../../../../core/registry/gates/judge";
import type { ComparedChampion, JobEvaluation } from "../../../../core/registry/gates/no-regression";
import { combine } from "../../../../core/registry/gates/requirements";
import { noRules } from "../../../../core/registry/policy";
import { defaultNoRegression, type PolicyRules } from "../../../../core/runs/gate-rules";

interface Given extends Partial<Omit<CandidateFacts, "champion">> {
  readonly thresholds?: Readonly<Record<string, number>>;
  readonly champion?: ComparedChampion;
  readonly job?: JobEvaluation;
  readonly policy?: Partial<PolicyRules>;
  readonly outcome?: CheckOutcome;
  readonly at: string;
}

function judge(given: Given) {
  const { thresholds, job, policy, outcome, at, ...facts } = given;
  const evaluation = { thresholds, ...job };
  return judgeFacts(
    combine(evaluation, { ...noRules, ...policy }),
    {
      metrics: {},
      missingMetric: () => "this run has no metric of that name",
      sliced: { reason: "no rows" },
      identity: "test",
      lacking: "it was not measured",
      primaryMetric: "rmse" in (facts.metrics ?? {}) ? "rmse" : "accuracy",
      ...facts,
    },
    () => outcome ?? { unanswered: "no request was sent" },
    at,
  );
}

const at = "2026-01-01T00:00:00.000Z";
const base = { metrics: { accuracy: 0.95, logLoss: 0.2 }, thresholds: {}, at };
const interval = { confidence: 0.95, rows: 1_000, resamples: 2_000, seed: 7 };
/** Accuracy against the champion's 0.96. */
const against = (difference: number, lower: number, upper: number, metric: "accuracy" | "rmse" = "accuracy") => ({
  champion: {
    version: 1,
    comparison: {
      ...{ kind: "compared" as const, champion: 1, metric, candidateValue: 0.96 + difference, championValue: 0.96 },
      ...{ championPredictions: { sha256: "0".repeat(64), bytes: 1 }, difference, lower, upper, ...interval },
    },
  },
});
const worse = against(-0.02, -0.03, -0.01);
const better = against(0.02, 0.01, 0.03);
const unclear = against(0.01, -0.01, 0.03);
const reasons = ["it needs column x, which the dataset does not have"];
const incompatible = {
  champion: { version: 1, comparison: { kind: "incompatible" as const, champion: 1, reasons } },
};
/** The model's rule of regressions. */
const ruled = (noRegression: PolicyRules["noRegression"]) => ({ policy: { noRegression } });
const credible = { tolerance: 0, rule: "credible", incompatible: "refuse" } as const;
const tolerant = ruled({ ...credible, tolerance: 0.02 });
const mayBeIncompatible = ruled({ ...credible, incompatible: "pass" });
const jobPasses = { incompatibleChampion: "pass" as const };
const excluded = { job: { regressionRule: "excluded" as const } };
const byJob = (regressionTolerance: number) => ({ job: { regressionTolerance } });

describe("the gates", () => {
  it.each([
    ["nothing requested, nothing refused", {}, true],
    ["at least: reached exactly", { thresholds: { accuracy: 0.95 } }, true],
    ["at least: missed", { thresholds: { accuracy: 0.951 } }, false],
    ["at most, where less is better", { thresholds: { logLoss: 0.2 } }, true],
    ["at most: exceeded", { thresholds: { logLoss: 0.19 } }, false],
    ["a metric that was not measured", { thresholds: { auc: 0.5 } }, false],
    ["NaN is never good enough", { metrics: { accuracy: Number.NaN }, thresholds: { accuracy: 0 } }, false],
    ["credibly worse than the champion", worse, false],
    ["worse, but chance may have done it", against(-0.01, -0.03, 0.01), true],
    ["credibly worse, but within the tolerance", { ...worse, ...tolerant }, true],
    ["credibly worse than the tolerance allows", { ...against(-0.05, -0.06, -0.04), ...tolerant }, false],
    ["the model's tolerance, and a stricter job", { ...worse, ...tolerant, ...byJob(0.005) }, false],
    ["a milder job, and a model without a word of it", { ...worse, ...byJob(0.5) }, false],
    ["waived by the model", { ...worse, ...ruled("waived") }, true],
    ["waived by the model, and requested by the job", { ...worse, ...ruled("waived"), ...byJob(0) }, false],
    ["waived by the model, and allowed by the job", { ...worse, ...ruled("waived"), ...byJob(0.05) }, true],
    ["better", better, true],
    ["as good, row by row", against(0, 0, 0), true],
    ["to be shown: no worse", { ...better, ...excluded }, true],
    ["to be shown: chance may hide a regression", { ...unclear, ...excluded }, false],
    ["to be shown, within a tolerance", { ...unclear, ...excluded, ...tolerant }, true],
    ["RMSE: more is worse", { metrics: { rmse: 1 }, ...against(0.02, 0.01, 0.03, "rmse") }, false],
    ["RMSE: less is better", { metrics: { rmse: 1 }, ...against(-0.02, -0.03, -0.01, "rmse") }, true],
    ["RMSE, to be shown", { metrics: { rmse: 1 }, ...against(-0.02, -0.03, 0.01, "rmse"), ...excluded }, false],
    ["a champion that cannot be given the rows", incompatible, false],
    ["a champion that cannot, and need not", { ...incompatible, ...mayBeIncompatible }, true],
    ["a champion that cannot, and a job alone that allows it", { ...incompatible, job: jobPasses }, false],
    ["a champion that cannot, where all is waived", { ...incompatible, ...ruled("waived") }, true],
    ["the champion's own weights", { champion: { version: 1, comparison: { kind: "same-weights" as const } } }, true],
  ])("%s", (_name, more, passed) => {
    expect(judge({ ...base, ...more }).passed).toBe(passed);
  });

  it.each<[string, number, number, string]>([
    ["accuracy", 1, 0.95, "accuracy 1.0 ≥ 0.95"],
    ["accuracy", 0.9499999, 0.95, "accuracy 0.9499999 < 0.95"],
    ["logLoss", 0.2, 0.3, "logLoss 0.2 ≤ 0.3"],
    ["rmse", 12, 11.5, "rmse 12.0 > 11.5"],
    ["accuracy", Number.NaN, 0.95, "accuracy is NaN; the limit is 0.95"],
  ])("compare %s %d with the limit %d", (metric, value, limit, evidence) => {
    const [check] = judge({ ...base, metrics: { [metric]: value }, thresholds: { [metric]: limit } }).checks;
    expect(check).toMatchObject({ gate: "threshold", metric, limit, evidence });
  });

  const difference = "difference -0.02, 95 % CI [-0.03, -0.01]; regression: the interval is entirely below 0";
  const evidence = `accuracy 0.94, version 1 0.96 on the same 1000 rows: ${difference}`;
  const milder = { regressionTolerance: 0.5, incompatibleChampion: "pass" as const };
  it.each([
    [worse, `${evidence}; default rule, which noRegression of the model's policy can change`],
    [
      { ...worse, ...ruled(credible), job: milder },
      `${evidence}; ignored, because the model's rule is stricter: the job's regressionTolerance 0.5, incompatibleChampion pass`,
    ],
    [{ ...worse, ...ruled("waived") }, `waived by the policy (noRegression: waived); ${evidence}`],
    [
      against(0.04, 0.03, 0.05),
      "accuracy 1.0, version 1 0.96 on the same 1000 rows: difference +0.04, 95 % CI [+0.03, +0.05]; significant improvement",
    ],
    [
      { ...unclear, ...excluded, ...tolerant },
      "accuracy 0.97, version 1 0.96 on the same 1000 rows: difference +0.01, 95 % CI [-0.01, +0.03]; regression excluded: no part of the interval is below -0.02",
    ],
    [
      incompatible,
      "not compared with version 1: it needs column x, which the dataset does not have; refused by the rule (incompatibleChampion of the job, noRegression.incompatible of the policy); default rule, which noRegression of the model's policy can change",
    ],
  ])("say what a comparison rests on: %#", (more, expected) => {
    const [check] = judge({ ...base, ...more }).checks;
    expect(check).toMatchObject({ gate: "no-regression", evidence: expected });
    if (more !== incompatible) expect(check!.interval).toMatchObject(interval);
  });

  it.each([
    ["waived, and broken", { ...worse, ...ruled("waived") }, true],
    ["waived, and kept all the same", { ...better, ...ruled("waived") }, undefined],
    ["not to be compared, which may be", { ...incompatible, ...mayBeIncompatible }, true],
    ["kept", better, undefined],
  ])("say which rule was not kept and need not be: %s", (_name, more, waived) => {
    const [check] = judge({ ...base, ...more }).checks;
    expect([check!.passed, check!.waived]).toEqual([true, waived]);
  });
});

const row = (slice: number, label: number, output: number) => [slice, label, output] as const;
const repeat = (count: number, one: ReturnType<typeof row>) => Array.from({ length: count }, () => one);
/** Group a: 190 of 200 right, 50 % called positive. Group b: 120 of 200 right, 20 % called positive. */
const rows = [
  ...repeat(95, row(0, 1, 1)),
  ...repeat(5, row(0, 0, 1)),
  ...repeat(95, row(0, 0, 0)),
  ...repeat(5, row(0, 1, 0)),
  ...repeat(30, row(1, 1, 1)),
  ...repeat(10, row(1, 0, 1)),
  ...repeat(90, row(1, 0, 0)),
  ...repeat(70, row(1, 1, 0)),
];
const sliced: SlicedPredictions = {
  predictions: {
    classes: 2,
    labels: Int32Array.from(rows, ([, label]) => label),
    outputs: Float32Array.from(rows, ([, , output]) => output),
  },
  classes: [false, true],
  columns: [{ column: "group", values: ["a", "b"], codes: Int32Array.from(rows, ([slice]) => slice) }],
};
const accuracyOf = { column: "group", metric: "accuracy", minRows: 30 };
const rates = { column: "group", minRows: 30 };
const review = { name: "review", kind: "command", command: ["./review.sh"], timeoutSeconds: 60 } as const;

describe("gates on slices", () => {
  // Accuracy 0.95 and 0.6; selected 0.5 and 0.2; TPR 0.95 and 0.3; FPR 0.05 and 0.1. Standard errors of b's are about 0.035.
  it.each<[string, Partial<PolicyRules>, boolean]>([
    ["the worst is good enough", { slices: [{ ...accuracyOf, worst: 0.6 }] }, true],
    ["the worst is not, but chance may have done it", { slices: [{ ...accuracyOf, worst: 0.63 }] }, true],
    ["the same, to be shown", { slices: [{ ...accuracyOf, worst: 0.63, rule: "excluded" }] }, false],
    ["the worst is not", { slices: [{ ...accuracyOf, worst: 0.75 }] }, false],
    ["the worst is shown to be good enough", { slices: [{ ...accuracyOf, worst: 0.5, rule: "excluded" }] }, true],
    ["the gap is too wide", { slices: [{ ...accuracyOf, gap: 0.2 }] }, false],
    ["the gap may be", { slices: [{ ...accuracyOf, gap: 0.3 }] }, true],
    ["the gap is, to be shown", { slices: [{ ...accuracyOf, gap: 0.4, rule: "excluded" }] }, false],
    ["less is better: the worst has the most", { slices: [{ ...accuracyOf, metric: "logLoss", worst: 1 }] }, false],
    ["parity", { fairness: [{ ...rates, demographicParity: 0.25 }] }, true],
    ["no parity", { fairness: [{ ...rates, demographicParity: 0.15 }] }, false],
    ["parity, to be shown", { fairness: [{ ...rates, demographicParity: 0.35, rule: "excluded" }] }, false],
    ["odds", { fairness: [{ ...rates, equalizedOdds: 0.7 }] }, true],
    ["unequal odds", { fairness: [{ ...rates, equalizedOdds: 0.5 }] }, false],
    ["a column that the evaluation lacks", { slices: [{ ...accuracyOf, column: "age", worst: 0 }] }, false],
  ])("%s", (_name, policy, passed) => {
    expect(judge({ sliced, policy, at }).passed).toBe(passed);
  });

  it("say which slices, with which numbers, by which rule", () => {
    const policy = { slices: [{ ...accuracyOf, gap: 0.2 }], fairness: [{ ...rates, equalizedOdds: 0.5 }] };
    const [gap, odds] = judge({ sliced, policy, at }).checks;
    expect(gap).toMatchObject({ gate: "slice-gap", metric: "accuracy", limit: 0.2, value: expect.closeTo(0.35, 10) });
    expect(gap!.evidence).toMatch(
      /^accuracy gap 0\.35 between 2 slices \(group = a: 0\.95 over 200 rows; group = b: 0\.6 over 200 rows\), 95 % CI \[0\.2\d*, 0\.4\d*\]; the interval is entirely above the maximum 0\.2$/,
    );
    const [worst] = judge({ sliced, policy: { slices: [{ ...accuracyOf, worst: 0.75 }] }, at }).checks;
    expect(worst!.evidence).toMatch(
      /^worst of 2 slices: group = b: accuracy 0\.6 over 200 rows, 95 % CI \[0\.\d+, 0\.\d+\]; the interval is entirely below the minimum 0\.75$/,
    );
    expect(odds).toMatchObject({ gate: "equalized-odds", slices: { rate: "true-positive", positive: true } });
    expect(odds!.evidence).toContain("true-positive rate of true");
    const [lacking] = judge({ policy, at }).checks;
    expect(lacking).toMatchObject({ value: null, evidence: "accuracy by group cannot be evaluated: no rows" });
  });
});

const latency: LatencyReport = {
  ...{ predictions: 1_000, warmUp: 50, p50Ms: 1, p90Ms: 2, p99Ms: 4, maxMs: 9, histogram: [] },
  machine: { cpu: "a", processors: 2, memoryMb: 512, host: "local", node: "v20", platform: "linux", arch: "x64" },
};

describe("gates on resources", () => {
  it.each<[string, Given, boolean]>([
    ["fast enough", { latency, policy: { latency: { p99Ms: 4 } }, at }, true],
    ["too slow", { latency, policy: { latency: { p99Ms: 3.9 } }, at }, false],
    ["not timed", { policy: { latency: { p99Ms: 4 } }, at }, false],
    ["small enough", { artifactBytes: 100, policy: { size: { bytes: 100 } }, at }, true],
    ["too large", { artifactBytes: 101, policy: { size: { bytes: 100 } }, at }, false],
    ["of unknown size", { policy: { size: { bytes: 100 } }, at }, false],
  ])("%s", (_name, given, passed) => {
    const verdict = judge(given);
    expect(verdict.passed).toBe(passed);
    expect(verdict.checks[0]!.evidence).toMatch(passed ? / ≤ / : / > |not measured|not known/);
  });
});

describe("checks of one's own", () => {
  const answer = { passed: true, evidence: "all is well", by: "ada", at };

  it("are waited for, pass, or fail", () => {
    const policy = { checks: [review] };
    const waiting = judge({ policy, at });
    expect(waiting).toMatchObject({
      passed: false,
      checks: [{ pending: true, evidence: "review has no answer yet: no request was sent" }],
    });
    expect(isPending(waiting)).toBe(true);
    const passed = judge({ policy, at, outcome: { answer: { ...answer, exitCode: 0 } } });
    expect(passed).toMatchObject({
      passed: true,
      checks: [{ evidence: "review passed (exit code 0), reported by ada: all is well" }],
    });
    expect(passed.checks[0]).not.toHaveProperty("pending");
    const failed = judge({ policy, at, outcome: { answer: { ...answer, passed: false } } });
    expect([failed.passed, isPending(failed)]).toEqual([false, false]);
  });

  it("are not waited for where something else has failed", () => {
    expect(
      isPending(judge({ policy: { checks: [review] }, thresholds: { accuracy: 1 }, metrics: { accuracy: 0 }, at })),
    ).toBe(false);
  });
});

describe("of a job's gates and its model's", () => {
  it("the stricter hold", () => {
    const job: JobEvaluation = {
      thresholds: { accuracy: 0.9, logLoss: 0.3, f1: 0.5 },
      regressionTolerance: 0.05,
      regressionRule: "credible",
      incompatibleChampion: "pass",
      gates: {
        slices: [{ ...accuracyOf, worst: 0.8, rule: "credible" }],
        fairness: [{ ...rates, demographicParity: 0.1, rule: "excluded" }],
        latency: { p99Ms: 10 },
      },
    };
    const policy: PolicyRules = {
      thresholds: { accuracy: 0.95, logLoss: 0.5, auc: 0.7 },
      noRegression: { tolerance: 0.01, rule: "excluded", incompatible: "refuse" },
      slices: [
        { ...accuracyOf, minRows: 10, worst: 0.7, gap: 0.2 },
        { ...accuracyOf, column: "other", gap: 0.1 },
      ],
      fairness: [{ ...rates, demographicParity: 0.2, equalizedOdds: 0.3 }],
      latency: { p99Ms: 20 },
      size: { bytes: 5 },
      checks: [review],
    };
    expect(combine(job, policy)).toEqual({
      directions: {},
      thresholds: { accuracy: 0.95, logLoss: 0.3, f1: 0.5, auc: 0.7 },
      regression: {
        metrics: [undefined],
        tolerance: 0.01,
        rule: "excluded",
        incompatible: "refuse",
        from: "policy",
        waived: false,
        milder: ["regressionTolerance 0.05", "regressionRule credible", "incompatibleChampion pass"],
      },
      slices: [
        { ...accuracyOf, minRows: 10, worst: 0.8, gap: 0.2, rule: "credible" },
        { ...accuracyOf, column: "other", gap: 0.1 },
      ],
      fairness: [{ ...rates, demographicParity: 0.1, equalizedOdds: 0.3, rule: "excluded" }],
      latencyP99Ms: 10,
      artifactBytes: 5,
      checks: [review],
    });
    const byDefault = {
      ...{ metrics: [undefined], tolerance: 0, rule: "credible", incompatible: "refuse" },
      ...{ from: "default", waived: false },
    };
    expect(combine({}, noRules).regression).toEqual({ ...byDefault, milder: [] });
    const byAuc = { ...noRules, noRegression: { ...defaultNoRegression, metric: "auc" } };
    expect(combine({ regressionMetric: "f1" }, byAuc).regression.metrics).toEqual(["auc", "f1"]);
    expect(combine({ regressionMetric: "auc" }, byAuc).regression.metrics).toEqual(["auc"]);
    expect(combine({ regressionMetric: "auc" }, noRules).regression.metrics).toEqual([undefined, "auc"]);
    // A job that says what the default says asks for nothing else.
    const same = { regressionTolerance: 0, regressionRule: "credible", incompatibleChampion: "refuse" } as const;
    expect(combine(same, noRules).regression).toEqual({ ...byDefault, milder: [] });
  });
});
