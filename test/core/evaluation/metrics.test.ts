import {
  accuracy,
  classMetrics,
  confusionMatrix,
  logLoss,
  macroAverage,
  weightedAverage,
} from "../../../core/evaluation/classification";
import { metricsOf, predictedClasses, regressionMetrics } from "../../../core/evaluation/metrics";

describe("regressionMetrics", () => {
  it("gives RMSE, MAE and R²", () => {
    // Errors 0.5, -0.5, 0, -1: squares 1.5, absolutes 2. Labels have mean 2.875 and spread 29.1875.
    const { rmse, mae, r2 } = regressionMetrics([3, -0.5, 2, 7], [2.5, 0, 2, 8]);
    expect(rmse).toBeCloseTo(Math.sqrt(1.5 / 4), 14);
    expect(mae).toBe(0.5);
    expect(r2).toBeCloseTo(1 - 1.5 / 29.1875, 14);
  });

  it.each([
    ["worse than the mean", [1, 2, 3], [3, 2, 1], 1 - 8 / 2],
    ["constant labels that are met", [2, 2], [2, 2], 1],
    ["constant labels that are missed", [2, 2], [2, 3], 0],
    ["constant labels of no short binary fraction", [0.1, 0.1, 0.1], [0.1, 0.2, 0.1], 0],
    ["one row", [2], [3], undefined],
  ])("has R² of %s as scikit-learn has it", (_case, labels, predicted, expected) => {
    expect(regressionMetrics(labels, predicted).r2).toBe(expected);
  });
});

const labels = [0, 0, 0, 1, 1, 2, 2, 2];
const predicted = [0, 0, 1, 1, 2, 0, 2, 2];
const confusion = confusionMatrix(labels, predicted, 3);

describe("classification metrics", () => {
  it("counts true classes by row, predicted ones by column", () => {
    expect([...confusion]).toEqual([2, 1, 0, 0, 1, 1, 1, 0, 2]);
  });

  it("gives the share of right rows", () => {
    expect(accuracy(confusion, 3)).toBe(5 / 8);
    expect(() => confusionMatrix([], [], 3)).toThrow(expect.objectContaining({ code: "NO_ROWS_TO_MEASURE" }));
    expect(() => confusionMatrix([1], [1, 2], 3)).toThrow("1 labels cannot be compared with 2 predictions");
  });

  it("gives precision, recall and F1 by class", () => {
    // Class 0: 2 of 3 predicted, 2 of 3 true. Class 1: 1 of 2, 1 of 2. Class 2: 2 of 3, 2 of 3.
    expect(classMetrics(confusion, 3)).toEqual([
      { precision: 2 / 3, recall: 2 / 3, f1: 4 / 6, hits: 2, support: 3, predicted: 3 },
      { precision: 1 / 2, recall: 1 / 2, f1: 2 / 4, hits: 1, support: 2, predicted: 2 },
      { precision: 2 / 3, recall: 2 / 3, f1: 4 / 6, hits: 2, support: 3, predicted: 3 },
    ]);
  });

  it("averages over classes, plain and by support", () => {
    const metrics = classMetrics(confusion, 3);
    expect(macroAverage(metrics).f1).toBeCloseTo((2 / 3 + 1 / 2 + 2 / 3) / 3, 15);
    // (3 · 2/3 + 2 · 1/2 + 3 · 2/3) / 8 = 5/8: weighted recall is accuracy.
    expect(weightedAverage(metrics).recall).toBeCloseTo(5 / 8, 15);
  });

  // Class 1 is true once and never predicted; class 2 is predicted once and never true; class 3 is nowhere. Precisions
  // 1/2, x, 0; recalls 1/2, 0, x; F1 1/2, 0, 0, where x is what stands for n / 0.
  it.each([
    ["0", undefined, [0.5 / 3, 0.5 / 3, 0.5 / 3], [1 / 3, 1 / 3]],
    ["1", 1, [1.5 / 3, 1.5 / 3, 0.5 / 3], [(2 * (1 / 2) + 1) / 3, 1 / 3]],
    ["left out", Number.NaN, [0.5 / 2, 0.5 / 2, 0.5 / 3], [1 / 2, 1 / 3]],
  ])("has n / 0 as %s, and leaves classes that nobody named out of the macro average", (_case, given, macro, of) => {
    const metrics = classMetrics(confusionMatrix([0, 0, 1], [0, 2, 0], 4), 4, given);
    const zero = given ?? 0;
    expect(metrics[3]).toMatchObject({ precision: zero, recall: zero, f1: zero });
    const found = macroAverage(metrics);
    for (const [at, key] of (["precision", "recall", "f1"] as const).entries())
      expect(found[key]).toBeCloseTo(macro[at]!, 15);
    const { precision, recall } = weightedAverage(metrics);
    expect([precision, recall]).toEqual(of.map((value) => expect.closeTo(value, 15)));
  });
});

describe("logLoss", () => {
  it.each([
    ["of halves is ln 2", [0.5, 0.5], Math.log(2)],
    ["is the mean over rows", [0.9, 0.4], -(Math.log(0.9) + Math.log(0.4)) / 2],
    ["clips a certain mistake at float32's eps", [0], -Math.log(2 ** -23)],
    ["clips a certain hit", [1], -Math.log(1 - 2 ** -23)],
  ])("%s", (_case, probabilities, expected) => {
    expect(logLoss(probabilities.length, (row) => probabilities[row]!)).toBeCloseTo(expected, 14);
  });

  it("takes the eps of float64 where the probabilities are such, and no row for no loss", () => {
    expect(logLoss(1, () => 0, 2 ** -52)).toBeCloseTo(-Math.log(2 ** -52), 14);
    expect(() => logLoss(0, () => 1)).toThrow(expect.objectContaining({ code: "NO_ROWS_TO_MEASURE" }));
  });
});

describe("predictedClasses", () => {
  it("takes the likeliest class, the first of equals", () => {
    const outputs = Float32Array.from([0.2, 0.5, 0.3, 0.4, 0.2, 0.4]);
    expect([...predictedClasses({ classes: 3, labels: new Int32Array(2), outputs })]).toEqual([1, 0]);
  });

  it("takes the second of two above a half", () => {
    const outputs = Float32Array.from([0.5, 0.50001, 0.1]);
    expect([...predictedClasses({ classes: 2, labels: new Int32Array(3), outputs })]).toEqual([0, 1, 0]);
  });
});

describe("metricsOf", () => {
  it("judges two classes by the second", () => {
    // Predicted 1, 0, 1, 0: one hit, one miss, one false alarm.
    const metrics = metricsOf({
      classes: 2,
      labels: Int32Array.from([1, 1, 0, 0]),
      outputs: Float32Array.from([0.75, 0.25, 0.625, 0.125]),
    });
    expect(metrics).toMatchObject({ accuracy: 0.5, precision: 0.5, recall: 0.5, f1: 0.5, auc: 0.75 });
    expect(metrics["logLoss"]).toBeCloseTo(
      -(Math.log(0.75) + Math.log(0.25) + Math.log(0.375) + Math.log(0.875)) / 4,
      14,
    );
    expect(metrics["prAuc"]).toBeCloseTo(1 / 2 + (1 / 2) * (2 / 3), 14);
  });

  it("judges more classes by macro averages, one against the rest", () => {
    const metrics = metricsOf({
      classes: 3,
      labels: Int32Array.from([0, 1, 2, 2]),
      outputs: Float32Array.from([0.5, 0.25, 0.25, 0.5, 0.25, 0.25, 0.125, 0.125, 0.75, 0.25, 0.25, 0.5]),
    });
    // Predicted 0, 0, 2, 2. F1: 2/3, 0, 1. Class 0 ties once in three pairs, class 1 twice, class 2 is perfect.
    expect(metrics["f1"]).toBeCloseTo((2 / 3 + 0 + 1) / 3, 14);
    expect(metrics["f1Weighted"]).toBeCloseTo((2 / 3 + 0 + 2) / 4, 14);
    expect(metrics["auc"]).toBeCloseTo((2.5 / 3 + 2 / 3 + 1) / 3, 14);
    expect(metrics["accuracy"]).toBe(0.75);
  });

  it("leaves out what is undefined", () => {
    const one = metricsOf({ classes: 2, labels: Int32Array.from([1]), outputs: Float32Array.from([0.75]) });
    expect(Object.keys(one)).not.toContain("auc");
    expect(one["accuracy"]).toBe(1);
    expect(metricsOf({ classes: 0, labels: Float32Array.from([1]), outputs: Float32Array.from([3]) })).toEqual({
      rmse: 2,
      mae: 2,
    });
  });

  it.each([0, 2, 3])("says so where there are no rows, of %i classes", (classes) => {
    const none = { classes, labels: new Int32Array(0), outputs: new Float32Array(0) };
    expect(() => metricsOf(none)).toThrow(expect.objectContaining({ code: "NO_ROWS_TO_MEASURE" }));
  });
});
