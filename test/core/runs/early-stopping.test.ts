import type { DatasetManifest } from "../../../core/datasets/shapes";
import { issuesOf } from "../../../core/problems";
import { stoppingText } from "../../../core/runs/early-stopping";
import { jobSchema } from "../../../core/runs/job";
import { checkJobAgainst } from "../../../core/training/job-checks";
import { jobInput } from "../../support/fixtures";

const column = (name: string, type: string, role = "feature") => ({ name, type, role });
const manifestOf = (labelType: string, validationRows = 20) =>
  ({
    name: "digits",
    version: 1,
    schema: [column("x", "float"), column("label", labelType, "label")],
    split: { indexes: { train: { rows: 100 }, validation: { rows: validationRows } } },
  }) as unknown as DatasetManifest;
const userModule = { type: "module" as const, path: "m.js", sha256: "a".repeat(64) };

describe("earlyStopping of a job", () => {
  const problem = (member: string, rule: string, value?: string) => ({
    ...{ path: `earlyStopping.${member}`, rule },
    ...(value && { value }),
  });
  const unknown = (value: string, known: string) =>
    problem("metric", `must be a metric that the model's validation records: ${known}`, value);
  const required = problem(
    "direction",
    "is required (minimize or maximize): validation/cost is a metric of the module",
  );
  const [loss, accuracy, auc, cost] = ["loss", "accuracy", "auc", "cost"].map((name) => `validation/${name}`) as [
    ...[string, string, string, string],
  ];
  const ofModule = { model: userModule };

  it.each<[name: string, labelType: string, given: object, more: object, problems: readonly object[]]>([
    ["the loss", "int", { metric: loss }, {}, []],
    ["the accuracy of classes", "string", { metric: accuracy }, {}, []],
    ["a module's metric with a direction", "int", { metric: cost, direction: "minimize" }, ofModule, []],
    ["a module's metric with a known name", "int", { metric: auc }, ofModule, []],
    ["an unknown metric", "int", { metric: auc }, {}, [unknown(auc, "validation/loss, validation/accuracy")]],
    ["the accuracy of a value", "float", { metric: accuracy }, {}, [unknown(accuracy, "validation/loss")]],
    ["a module's metric without a direction", "int", { metric: cost }, ofModule, [required]],
  ])("with %s is checked against the dataset", (_name, labelType, given, more, problems) => {
    const job = jobSchema.parse(
      jobInput({ ...more, evaluation: {}, earlyStopping: { patience: 3, ...given } as never }),
    );
    expect(checkJobAgainst(manifestOf(labelType), job)).toEqual(problems);
  });

  it("needs validation rows", () => {
    const job = jobSchema.parse(
      jobInput({ evaluation: {}, earlyStopping: { metric: "validation/loss", patience: 1 } }),
    );
    expect(checkJobAgainst(manifestOf("int", 0), job)).toEqual([
      {
        path: "earlyStopping",
        rule: "must be left out: digits@1 has no validation rows. Push a version with a validation split",
      },
    ]);
  });

  it.each<[unknown, readonly string[]]>([
    [{ metric: "train/loss", patience: 1 }, ["earlyStopping.metric"]],
    [{ metric: "validation/", patience: 0 }, ["earlyStopping.metric", "earlyStopping.patience"]],
    [{ metric: "validation/loss", patience: 1.5, minDelta: -1 }, ["earlyStopping.patience", "earlyStopping.minDelta"]],
    [{ metric: "validation/loss", patience: 1, mode: "min" }, ["earlyStopping"]],
  ])("%j is refused at %j", (earlyStopping, paths) => {
    const parsed = jobSchema.safeParse({ ...jobInput(), earlyStopping });
    expect(parsed.success ? [] : issuesOf(parsed.error).map(({ path }) => path.join("."))).toEqual(paths);
  });

  it("is described for people", () => {
    const outcome = { metric: "validation/loss", bestEpoch: 4, value: 0.123456789, stopped: true };
    expect(stoppingText(outcome, 7)).toBe(
      "stopped at epoch 7; weights of epoch 4, the best by validation/loss (0.123457)",
    );
    expect(stoppingText({ ...outcome, stopped: false }, 7)).toMatch(/^trained all 7 epochs; /);
  });
});
