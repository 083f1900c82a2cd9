import { type Predictions, predictedClasses, probabilityOf } from "./metrics";
import type { Calibration } from "./shapes";

const tenths = 10;

/**
 * Returns the reliability diagram: equal tenths of the probability, the last one closed. `undefined` for regression.
 */
export function calibrationOf(predictions: Predictions): Calibration | undefined {
  const { classes, labels, positive = 1 } = predictions;
  if (classes === 0) return undefined;
  const predicted = predictedClasses(predictions);
  const sums = Array.from({ length: tenths }, () => ({ rows: 0, confidence: 0, right: 0 }));
  for (let row = 0; row < labels.length; row += 1) {
    const scored = classes === 2 ? positive : predicted[row]!;
    const probability = probabilityOf(predictions, row, scored);
    const bin = sums[Math.min(tenths - 1, Math.max(0, Math.floor(probability * tenths)))]!;
    bin.rows += 1;
    bin.confidence += probability;
    if (labels[row] === scored) bin.right += 1;
  }
  const bins = sums.map(({ rows, confidence, right }, at) => ({
    from: at / tenths,
    to: (at + 1) / tenths,
    rows,
    confidence: rows === 0 ? 0 : confidence / rows,
    observed: rows === 0 ? 0 : right / rows,
  }));
  const error = bins.reduce((sum, bin) => sum + bin.rows * Math.abs(bin.observed - bin.confidence), 0) / labels.length;
  return { of: classes === 2 ? "positive" : "predicted", bins, error };
}
