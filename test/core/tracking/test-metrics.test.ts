import { leadingMetrics, summaryMetrics, taskKindOf } from "../../../core/evaluation/metrics";
import { recordTestMetrics } from "../../../core/tracking/test-metrics";
import { createTestPlatform, useEmbedded } from "../../support/embedded";
import { runOf } from "../../support/fixtures";

describe("an evaluation's metrics in the metric store", () => {
  const embedded = useEmbedded();

  it("are metrics of the run at its last step, once, without those that are undefined", async () => {
    const { platform } = createTestPlatform(embedded);
    await platform.runs.create(runOf("run-e1"));
    const { metrics } = platform;
    await metrics.append("run-e1", [{ metric: "train/loss", steps: [40], values: [0.5], times: [1] }]);
    const evaluation = { metrics: { accuracy: 0.75, logLoss: 0.5, auc: Number.NaN } };
    const answers: boolean[] = [];
    const counting: typeof metrics = {
      ...metrics,
      async append(...given) {
        const answer = await metrics.append(...given);
        answers.push(answer.duplicate);
        return answer;
      },
    };
    const later = { now: () => platform.clock.now() + 1_000 };
    await recordTestMetrics(
      { metrics: counting, clock: platform.clock },
      "run-e1",
      { steps: 40, metrics: {} },
      evaluation,
    );
    await recordTestMetrics({ metrics: counting, clock: later }, "run-e1", { steps: 40, metrics: {} }, evaluation);
    expect(answers).toEqual([false, true]);
    expect((await metrics.summaries("run-e1")).map(({ metric, last, lastStep }) => [metric, last, lastStep])).toEqual([
      ["test/accuracy", 0.75, 40],
      ["test/logLoss", 0.5, 40],
      ["train/loss", 0.5, 40],
    ]);
    expect((await metrics.history("run-e1", "test/accuracy", { limit: 10 })).points).toHaveLength(1);
    const [filter, orderBy] = ["metrics.test/accuracy > 0.7", ["metrics.`test/logLoss` ASC"]];
    const query = { experimentIds: [], filter, orderBy, limit: 10, view: "active" } as const;
    const { runs } = await platform.runSearch.search(query);
    expect(runs.map(({ record }) => record.runId)).toEqual(["run-e1"]);
  });
});

describe("the metrics that suit a task", () => {
  const all = { accuracy: 1, auc: 1, prAuc: 1, f1: 1, f1Macro: 1, logLoss: 0, precision: 1, recall: 1 };

  it.each([
    [[], "regression"],
    [[60, 40], "balanced"],
    [[3, 97], "imbalanced"],
    [[20, 30, 40], "multiclass"],
    [[10, 10, 980], "rare-classes"],
    [[0, 10, 980], "long-tail"],
    [[1, ...Array.from({ length: 20 }, () => 9)], "long-tail"],
  ] as const)("%j rows of each class: %s", (supports, kind) => {
    expect(taskKindOf(supports)).toBe(kind);
  });

  it("lead with the primary one, and leave out what is undefined", () => {
    expect(leadingMetrics("imbalanced", all).slice(0, 3)).toEqual(["auc", "prAuc", "logLoss"]);
    expect(leadingMetrics("multiclass", { accuracy: 1, f1Macro: 1, logLoss: 0 })).toEqual([
      "accuracy",
      "f1Macro",
      "logLoss",
    ]);
    expect(leadingMetrics("regression", { rmse: 1, mae: 1 })).toEqual(["rmse", "mae"]);
  });

  it("a summary names the thresholds' metrics first", () => {
    expect(summaryMetrics("balanced", all, { recall: 0.5 })).toEqual([
      "recall",
      "accuracy",
      "auc",
      "prAuc",
      "f1",
      "logLoss",
    ]);
    expect(summaryMetrics("regression", { r2: 1, rmse: 0 }, { accuracy: 1 })).toEqual(["rmse", "r2"]);
  });
});
