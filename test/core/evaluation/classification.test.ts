import {
  accuracy,
  classMetrics,
  confusionMatrix,
  logLoss,
  macroAverage,
  weightedAverage,
} from "../../../core/evaluation/classification";

/** Three classes over eight rows, as in a table: rows true, columns predicted, [[2, 1, 0], [0, 1, 1], [1, 0, 2]]. */
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

  it("has 0 where nothing is there to divide by, and leaves classes that nobody named out of the macro average", () => {
    // Class 1 is true once and never predicted; class 2 is predicted once and never true; class 3 is nowhere.
    const metrics = classMetrics(confusionMatrix([0, 0, 1], [0, 2, 0], 4), 4);
    expect(metrics.map(({ precision, recall, f1 }) => [precision, recall, f1])).toEqual([
      [1 / 2, 1 / 2, 2 / 4],
      [0, 0, 0],
      [0, 0, 0],
      [0, 0, 0],
    ]);
    expect(macroAverage(metrics).precision).toBeCloseTo(0.5 / 3, 15);
    expect(weightedAverage(metrics).precision).toBeCloseTo(1 / 3, 15);
  });

  it.each([
    // The classes of the test above: precisions 1/2, x, 0; recalls 1/2, 0, x; F1 1/2, 0, 0, where x is what stands for n / 0.
    ["1", 1, [1.5 / 3, 1.5 / 3, 0.5 / 3], [(2 * (1 / 2) + 1) / 3, 1 / 3]],
    ["left out", Number.NaN, [0.5 / 2, 0.5 / 2, 0.5 / 3], [1 / 2, 1 / 3]],
  ])("has n / 0 as %s where requested", (_case, zeroDivision, macro, [precision, recall]) => {
    const metrics = classMetrics(confusionMatrix([0, 0, 1], [0, 2, 0], 4), 4, zeroDivision);
    expect(metrics[3]).toMatchObject({ precision: zeroDivision, recall: zeroDivision, f1: zeroDivision });
    const found = macroAverage(metrics);
    for (const [at, key] of (["precision", "recall", "f1"] as const).entries())
      expect(found[key]).toBeCloseTo(macro[at]!, 15);
    expect(weightedAverage(metrics).precision).toBeCloseTo(precision!, 15);
    expect(weightedAverage(metrics).recall).toBeCloseTo(recall!, 15);
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
