import { regressionMetrics } from "../../../core/evaluation/metrics";

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
