import type { DatasetManifest } from "../../../core/datasets/shapes";
import { classificationMetricNames, regressionMetricNames } from "../../../core/evaluation/metrics";
import type { Model } from "../../../core/registry/model";
import { noRules } from "../../../core/registry/policy";
import { jobSchema } from "../../../core/runs/job";
import { checkJobAgainst, checkPolicyAgainst } from "../../../core/training/job-checks";
import { withJudgedSlices } from "../../../core/training/submit";
import { jobInput } from "../../support/fixtures";

const column = (name: string, type: string, role = "feature") => ({ name, type, role });
const manifest = {
  name: "digits",
  version: 1,
  schema: [column("x", "float"), column("stroke", "string"), column("hand", "bool"), column("label", "int", "label")],
  split: { indexes: { train: { rows: 100 } } },
} as unknown as DatasetManifest;
const gates = {
  slices: [{ column: "stroke", metric: "accuracy", worst: 0.5 }],
  fairness: [{ column: "hand", demographicParity: 0.1 }],
};
const job = (evaluation: object) => jobSchema.parse(jobInput({ evaluation }));
const policyOf = (columns: readonly string[]) =>
  ({
    policy: {
      rules: { ...noRules, slices: columns.map((name) => ({ column: name, metric: "f1", minRows: 2, gap: 1 })) },
    },
  }) as unknown as Pick<Model, "policy">;

describe("columns that gates cut the test split by", () => {
  it.each([
    ["none", {}, [], []],
    ["the job's own", { slices: ["label"], gates }, [], ["label", "stroke", "hand"]],
    [
      "its model's policy's, of the dataset's",
      { slices: ["stroke"] },
      ["hand", "stroke", "age", "x"],
      ["stroke", "hand"],
    ],
  ])("are made with the features: %s", (_name, evaluation, policy, slices) => {
    const judged = withJudgedSlices(job(evaluation), manifest, policyOf(policy));
    expect(judged.evaluation.slices).toEqual(slices);
  });

  it("leave a job as it is where they add nothing", () => {
    const own = job({ slices: ["stroke"] });
    expect(withJudgedSlices(own, manifest, undefined)).toBe(own);
  });
});

it("class weights need classes", () => {
  const balanced = jobSchema.parse(jobInput({ hyperparameters: { classWeights: "balanced" }, evaluation: {} }));
  expect(checkJobAgainst(manifest, balanced)).toEqual([]);
  const schema = [column("x", "float"), column("price", "float", "label")];
  expect(checkJobAgainst({ ...manifest, schema } as DatasetManifest, balanced)).toEqual([
    {
      path: "hyperparameters.classWeights",
      rule: "must be left out: the label price is a value and has no classes",
    },
  ]);
});

it("a job's gates must be of its dataset and its task", () => {
  const wrong = job({
    gates: {
      slices: [
        { column: "age", metric: "accuracy", worst: 0.5 },
        { column: "x", metric: "rmse", worst: 0.5 },
      ],
      fairness: [{ column: "x", equalizedOdds: 0.5 }],
    },
  });
  expect(checkJobAgainst(manifest, wrong).map(({ path }) => path)).toEqual([
    "evaluation.gates.slices.0.column",
    "evaluation.gates.slices.1.column",
    "evaluation.gates.fairness.0.column",
    "evaluation.gates.slices.1.metric",
  ]);
  expect(checkJobAgainst(manifest, job({ gates }))).toEqual([]);
  const empty = { slices: [{ column: "stroke", metric: "accuracy" }] };
  expect(() => job({ gates: empty })).toThrow(/must have worst, gap or both/);
});

describe("metrics of thresholds and slice gates", () => {
  const regression = {
    ...manifest,
    schema: [column("x", "float"), column("price", "float", "label")],
  } as unknown as DatasetManifest;

  it.each([
    ["a label with classes", manifest, classificationMetricNames, "rmse"],
    ["a label of type float", regression, regressionMetricNames, "accuracy"],
  ])("are those of the task: %s", (_name, of, names, other) => {
    for (const metric of names) expect(checkJobAgainst(of, job({ thresholds: { [metric]: 0.5 } }))).toEqual([]);
    expect(checkJobAgainst(of, job({ thresholds: { [other]: 0.5 } }))).toEqual([
      {
        path: `evaluation.thresholds.${other}`,
        value: 0.5,
        rule: `must name a metric of this task: ${names.join(", ")}`,
      },
    ]);
  });

  it("of the model's policy are checked against the task, too", () => {
    const rules = {
      ...noRules,
      thresholds: { accuracy: 0.9, rmse: 2 },
      slices: [{ column: "x", metric: "mae", minRows: 30, gap: 1 }],
    };
    expect(checkPolicyAgainst(manifest, rules, { type: "mlp" }).map(({ path, value }) => [path, value])).toEqual([
      ["policy.rules.thresholds.rmse", 2],
      ["policy.rules.slices.0.metric", "mae"],
    ]);
  });
});
