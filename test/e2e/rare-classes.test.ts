import { readFileSync } from "node:fs";
import type { VersionReport } from "../../api/report/shapes";
import type { describeRun } from "../../cli/run-description";
import type { ModelVersion } from "../../core/registry/model";
import type { Study, Trial } from "../../core/tuning/shapes";
import { TestStack } from "./harness";

type Shown = ReturnType<typeof describeRun>;

/** Customers, of whom one in twelve leaves: those who spend little, mostly. */
function customers(rows: number): string {
  let state = 7;
  const draw = (): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
  const lines = Array.from({ length: rows }, (_, i) => {
    const left = i % 12 === 0;
    const spend = left ? 60 * draw() : 10 + 90 * draw();
    return [20 + Math.floor(50 * draw()), spend.toFixed(2), ["basic", "pro", "team"][i % 3], left ? "yes" : "no"];
  });
  return ["age,spend,plan,left", ...lines.map((line) => line.join(","))].join("\n");
}

const schema = `columns:
  - { name: age, type: int, role: feature }
  - { name: spend, type: float, role: feature }
  - { name: plan, type: string, role: feature }
  - { name: left, type: string, role: label }
split: { seed: 1, fractions: { train: 0.7, validation: 0.1, test: 0.2 } }
`;

/** `cost`: of each customer who is missed, five times that of one who is called in vain. */
const ownModel = `import { defineTraining } from "ringmaster";
export default defineTraining({
  model: ({ tf, inputShape, outputs }) =>
    tf.sequential({ layers: [tf.layers.dense({ units: outputs, inputShape: [...inputShape] })] }),
  metrics: {
    cost: (labels, outputs) => {
      const called = outputs.squeeze([1]).greater(0).toFloat();
      const left = labels.toFloat();
      return left.mul(called.neg().add(1)).mul(5).add(called.mul(left.neg().add(1)));
    },
  },
});
`;

const job = (hyperparameters: string, more = "") => `experiment: churn
dataset: churn
registerAs: churn
model: { type: mlp, hidden: [8] }
hyperparameters: { batchSize: 64, ${hyperparameters} }
resources: { backend: wasm }
evaluation: { slices: [plan] }
seed: 3
${more}`;

describe("a model of a rare class", () => {
  const stack = TestStack.of("churn");
  const submit = (name: string, ...of: Parameters<typeof job>) =>
    stack.json<Shown>(["submit", stack.file(`${name}.yaml`, job(...of)), "--wait"], [0, 3]);
  let first: Shown;
  let second: Shown;

  beforeAll(async () => {
    await stack.up();
    const csv = stack.file("churn.csv", customers(1_200));
    await stack.json(["datasets", "push", "churn", "--file", csv, "--schema", stack.file("schema.yaml", schema)]);
    // It predicts that everybody stays, and is right for eleven of twelve.
    first = await submit("majority", "epochs: 20, learningRate: 0.01", "drop: [spend]\n");
    await stack.json(["models", "approve", "churn", "1", "--reason", "the first"]);
    second = await submit("weighted", "epochs: 20, learningRate: 0.01, classWeights: balanced");
  });
  afterAll(() => stack.remove());

  it("is compared with the champion by its AUC, not by its accuracy", async () => {
    const [before, after] = [first.evaluation!, second.evaluation!];
    expect(after["accuracy"]).toBeLessThan(before["accuracy"]!);
    expect(after["auc"]).toBeGreaterThan(before["auc"]!);
    const { version } = await stack.get<{ version: ModelVersion }>("/models/churn/versions/2");
    expect(version.gate).toMatchObject({
      passed: true,
      checks: [{ gate: "no-regression", metric: "auc", value: after["auc"], limit: before["auc"] }],
    });
  });

  it("leads lists and comparisons with its AUC", async () => {
    const list = await stack.run("runs", "list");
    expect(list.stdout).toMatch(/^RUN .* test\/auc\s*$/m);
    expect(list.stdout).not.toContain("test/accuracy");
    const search = await stack.run("runs", "search");
    expect(search.stdout).toMatch(/ metrics\.test\/auc .*metrics\.test\/accuracy/);
    const { runId } = second.run;
    const compared = await stack.json<{ metrics: { metric: string }[] }>(["runs", "compare", first.run.runId, runId]);
    expect(compared.metrics[0]!.metric).toBe("test/auc");
    expect(second.primaryMetric).toBe("test/auc");
  });

  it("is compared by the metrics of its module, which are those of the test split", async () => {
    stack.file("own.ts", ownModel);
    const ownJob = (rate: number, evaluation: string) => `experiment: own
dataset: churn
registerAs: own
model: { type: module, path: own.ts }
hyperparameters: { batchSize: 64, epochs: 3, learningRate: ${rate} }
resources: { backend: wasm }
evaluation: { ${evaluation} }
`;
    const file = stack.file("own.yaml", ownJob(0.01, "thresholds: { cost: 0.9 }"));
    expect((await stack.run("submit", file)).stderr).toContain("evaluation.directions.cost is required");
    const declared = "directions: { cost: minimize }, thresholds: { cost: 0.9 }, regressionMetric: cost";
    const shown: Shown[] = [];
    for (const rate of [0.05, 0.02]) {
      shown.push(await stack.json<Shown>(["submit", stack.file("own.yaml", ownJob(rate, declared)), "--wait"], [0, 3]));
      if (rate === 0.05) await stack.json(["models", "approve", "own", "1", "--reason", "the first"]);
    }
    const [champion, candidate] = shown.map(({ evaluation }) => evaluation!["cost"]!);
    const report = await stack.json<VersionReport>(["models", "report", "own", "2"]);
    const [[, vain], [missed]] = report.evaluation!.confusionMatrix as [[number, number], [number, number]];
    expect(candidate).toBeCloseTo((5 * missed + vain) / 240, 5);
    const { version } = await stack.get<{ version: ModelVersion }>("/models/own/versions/2");
    const checks = version.gate!.checks;
    expect(checks[0]).toMatchObject({ gate: "threshold", metric: "cost", value: candidate, passed: candidate! <= 0.9 });
    expect(checks[2]).toMatchObject({
      metric: "cost",
      value: candidate,
      limit: champion,
      passed: candidate! <= champion!,
    });
    expect((await stack.run("runs", "metrics", shown[1]!.run.runId)).stdout).toContain("test/cost");
  });

  it("is searched by the AUC of validation, unless an objective is given", async () => {
    stack.file("study-job.yaml", job("epochs: 2").replace("registerAs: churn\n", ""));
    const study = stack.file(
      "study.yaml",
      `name: rare
job: study-job.yaml
space: { hyperparameters.learningRate: { type: float, low: 0.001, high: 0.1, log: true } }
stop: { trials: 2 }
`,
    );
    const { study: ended, trials } = await stack.json<{ study: Study; trials: Trial[] }>([
      "study",
      "create",
      study,
      "--wait",
    ]);
    expect(ended.definition.objectives).toEqual([{ metric: "validation/auc", direction: "maximize" }]);
    expect(trials.map(({ state, values }) => [state, values])).toEqual(
      trials.map(() => ["completed", [expect.any(Number)]]),
    );
  });

  it("shows its slices and the noise of the importance: the run, the gates and the report", async () => {
    const { runId } = second.run;
    const shown = await stack.json<Shown>(["runs", "show", runId]);
    expect(shown.slices!.map(({ column, value, rows }) => [column, value, rows])).toEqual(
      ["basic", "pro", "team"].map((value) => ["plan", value, expect.any(Number)]),
    );
    expect(shown.slices!.reduce((sum, { rows }) => sum + rows, 0)).toBe(240);
    expect(shown.importance).toMatchObject({ metric: "auc", rows: 240, repeats: 20 });
    const texts = [
      (await stack.run("runs", "show", runId)).stdout,
      (await stack.run("models", "gates", "churn", "2")).stdout,
      (await stack.run("models", "report", "churn", "2")).stdout,
    ];
    for (const text of texts) {
      expect(text.toLowerCase()).toContain("slices by plan");
      expect(text).toMatch(/plan[ |]+rows[ |]+auc[ |]+prAuc[ |]+logLoss/);
      expect(text).toMatch(/basic[ |]+\d+[ |]+0\.\d+/);
      expect(text).toContain("mean ± standard deviation of 20 permutations of 240 test rows");
      expect(text).toMatch(/spend[ |]+0\.\d+ ± 0\.\d+/);
    }
    const page = stack.file("run.html", "");
    await stack.json(["runs", "page", runId, "--html", page]);
    const html = readFileSync(page, "utf8");
    expect(html).toMatch(/Slices by plan[\s\S]*<th>auc<\/th>[\s\S]*<td>basic<\/td><td class="number">\d+<\/td>/);
    expect(html).toContain("mean ± standard deviation of 20 permutations of 240 test rows");
    expect(html).toMatch(/0\.\d+ ± 0\.\d+/);
  });
});
