import type { DatasetManifest } from "../../../core/datasets/shapes";
import { chooseDecision, decided, decisionProblem } from "../../../core/evaluation/decision";
import { metricsOf, type Predictions, predictedClasses } from "../../../core/evaluation/metrics";
import { pairedMetric } from "../../../core/evaluation/paired-bootstrap";
import { encodePredictions, readPredictionTensors } from "../../../core/evaluation/stored-predictions";
import type { LabelEncoding } from "../../../core/features/shapes";
import { problemsOf } from "../../../core/problems";
import { decisionText, type ThresholdRule } from "../../../core/runs/decision";
import { jobSchema } from "../../../core/runs/job";
import { checkJobAgainst } from "../../../core/training/job-checks";
import { createMemoryObjectStore } from "../../adapters/s3/memory-object-store";
import { jobInput } from "../../support/fixtures";

const label = { kind: "class", column: "fraud", classes: ["no", "yes"] } as const;
const value = { kind: "value", column: "price" } as const;
/** Probability of `yes` and the true class, from the highest probability. */
const rows = [
  [0.75, 1],
  [0.5, 0],
  [0.375, 1],
  [0.25, 1],
  [0.125, 0],
  [0.0625, 0],
] as const;
const predictions: Predictions = {
  classes: 2,
  labels: Int32Array.from(rows, ([, truth]) => truth),
  outputs: Float32Array.from(rows, ([probability]) => probability),
};
const choose = (threshold: ThresholdRule | undefined, positive?: string) =>
  chooseDecision({ threshold, positive }, label, async () => predictions);

describe("a decision", () => {
  // Rows that are predicted as positive, with their hits: 1/1, 2/1, 3/2, 4/3, 5/3, 6/3 of 3 positives.
  it.each([
    ["f1", 0.1875, 6 / 7], // 4 predicted, 3 hits: 6 / (4 + 3)
    ["accuracy", 0.1875, 6 / 7], // 3 hits and 2 of 3 others right
    ["balancedAccuracy", 0.1875, 6 / 7],
    [{ recall: 0.6 }, 0.1875, 6 / 7], // precision 3/4 with all found is more than 2/3 with two
    [{ recall: 0.3 }, 0.625, 2 / 4],
    [{ precision: 0.7 }, 0.1875, 6 / 7], // 3 of 4
    [{ precision: 1 }, 0.625, 2 / 4],
  ] as const)("by %j is the threshold between two probabilities that fulfils it best", async (rule, threshold, f1) => {
    const found = await choose(rule);
    expect(found).toMatchObject({ positive: "yes", threshold, rule, validation: { rows: 6 } });
    expect(found?.validation?.f1).toBeCloseTo(f1, 12);
    expect(metricsOf(decided(predictions, label, found))["f1"]).toBeCloseTo(f1, 12);
  });

  it("is the best of all thresholds, for either positive class", async () => {
    for (const positive of ["no", "yes"]) {
      for (const rule of ["f1", "accuracy"] as const) {
        const chosen = await choose(rule, positive);
        const at = (threshold: number) =>
          metricsOf(decided(predictions, label, { positive, threshold }))[rule] as number;
        const all = Array.from({ length: 101 }, (_, i) => at(i / 100));
        expect(at(chosen!.threshold)).toBeCloseTo(Math.max(...all), 12);
        expect(chosen!.validation![rule]).toBeCloseTo(Math.max(...all), 12);
      }
    }
  });

  it("without a rule is 0.5, and without settings there is none", async () => {
    const never = () => Promise.reject(new Error("validation was read"));
    expect(await chooseDecision({ positive: "no" }, label, never)).toEqual({ positive: "no", threshold: 0.5 });
    const byNumber = { positive: "yes", threshold: 0.2, rule: 0.2 };
    expect(await chooseDecision({ threshold: 0.2 }, label, never)).toEqual(byNumber);
    expect(await chooseDecision({}, label, never)).toBeUndefined();
    expect(decided(predictions, label, undefined)).toBe(predictions);
  });

  it("changes predictions, and the class whose precision, recall and average precision are computed", () => {
    const first = decided(predictions, label, { positive: "no", threshold: 0.7 });
    expect([...predictedClasses(first)]).toEqual([1, 1, 1, 0, 0, 0]);
    expect(metricsOf(first)).toMatchObject({ precision: 2 / 3, recall: 2 / 3 });
    const mirrored = metricsOf({
      classes: 2,
      labels: predictions.labels.map((one) => 1 - one),
      outputs: predictions.outputs.map((one) => 1 - one),
    });
    expect(metricsOf(first)["prAuc"]).toBeCloseTo(mirrored["prAuc"]!, 12);
    expect(metricsOf(first)["auc"]).toBeCloseTo(metricsOf(predictions)["auc"]!, 12);
  });

  it("is stored with predictions that have no report", async () => {
    const objects = createMemoryObjectStore();
    for (const one of [predictions, decided(predictions, label, { positive: "no", threshold: 0.7 })]) {
      const reference = await objects.putContent(encodePredictions(one));
      expect(await readPredictionTensors(objects, reference)).toEqual(one);
    }
  });

  it("of each model holds in a comparison, on the candidate's positive class", () => {
    const candidate = decided(predictions, label, { positive: "no", threshold: 0.5 });
    const champion = decided(predictions, label, { positive: "yes", threshold: 0.2 });
    expect(pairedMetric("recall", candidate, champion, 1)).toMatchObject({
      candidateValue: 1, // the last five rows are predicted as `no`: all three of them
      championValue: 2 / 3, // the last two rows
    });
    expect(pairedMetric("precision", candidate, champion, 1)).toMatchObject({
      candidateValue: 3 / 5,
      championValue: 1,
    });
  });

  it.each<[string, LabelEncoding, Parameters<typeof decisionProblem>[0], string | undefined]>([
    ["nothing is set", value, {}, undefined],
    ["the class is one of two", label, { positive: "yes" }, undefined],
    ["the class is unknown", label, { positive: "maybe" }, "must be one of the classes of fraud: no, yes"],
    ["there are three classes", { ...label, classes: [1, 2, 3] }, { threshold: "f1" }, "fraud has 3 classes, not two"],
    ["the label is a value", value, { positive: 1 }, "price is a value and has no classes"],
  ])("is checked: %s", (_name, encoding, settings, rule) => {
    if (rule === undefined) expect(decisionProblem(settings, encoding)).toBeUndefined();
    else expect(decisionProblem(settings, encoding)?.rule).toContain(rule);
  });

  const manifest = (type: string, validationRows: number) =>
    ({
      name: "cards",
      version: 2,
      schema: [
        { name: "x", type: "float", role: "feature" },
        { name: "fraud", type, role: "label" },
      ],
      split: { indexes: { train: { rows: 100 }, validation: { rows: validationRows } } },
    }) as unknown as DatasetManifest;

  const both = ["positive", "threshold"].map((member) => [`evaluation.${member}`, "the label is a value"]);
  it.each([
    ["string", 10, { positive: "yes", threshold: "f1" }, []],
    ["string", 0, { threshold: 0.3 }, []],
    ["string", 0, { threshold: "f1" }, [["evaluation.threshold", "cards@2 has no validation rows"]]],
    ["float", 10, { positive: 1, threshold: 0.3 }, both],
  ])("of a job is checked against its dataset: %s, %d validation rows, %j", (type, rows, evaluation, expected) => {
    const job = jobSchema.parse(jobInput({ evaluation: evaluation as never }));
    expect(checkJobAgainst(manifest(type, rows), job)).toEqual(
      expected.map(([path, rule]) => expect.objectContaining({ path, rule: expect.stringContaining(rule!) })),
    );
  });

  it.each([
    ["best", "threshold", 'must be a number, or one of "f1", "accuracy", "balancedAccuracy", or a mapping'],
    [{ recall: 0 }, "threshold.recall", "must be more than 0"],
    [{ recall: 0.5, precision: 0.5 }, "threshold.precision", "is not a known key"],
    [1, "threshold", "must be less than 1"],
  ])("%j is no threshold", (threshold, path, rule) => {
    const parsed = jobSchema.safeParse({ ...jobInput(), evaluation: { threshold } }, { reportInput: true });
    expect(parsed.error && problemsOf(parsed.error)).toMatchObject([
      { path: `evaluation.${path}`, rule: expect.stringContaining(rule) },
    ]);
  });

  it("is described with its origin", async () => {
    expect(decisionText((await choose({ recall: 0.6 }))!)).toBe(
      "yes above 0.1875 (recall at least 0.6 on validation; there: precision 0.75, recall 1)",
    );
    expect(decisionText({ positive: true, threshold: 0.5 })).toBe("true above 0.5");
  });
});
