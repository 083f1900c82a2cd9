import { conflict } from "../errors";

export const nonFinitePrediction = (row: number, value: number) =>
  conflict(
    "NON_FINITE_PREDICTION",
    `the model predicts ${value} for row ${row} of the test split, but predictions must be finite; ` +
      "lower hyperparameters.learningRate or set hyperparameters.clipNorm, and look at the column ranges in the dataset's profile",
    { row, value: String(value) },
  );

export const outputMismatch = (expected: number, count: number) =>
  conflict(
    "MODEL_OUTPUT_MISMATCH",
    `the model has ${count} outputs per row, but the label needs ${expected}; a user module must build its model with context.outputs outputs`,
    { expected, found: count },
  );

export const noRows = () =>
  conflict(
    "NO_ROWS_TO_MEASURE",
    "no metric can be computed, because the test split is empty; push a version of the dataset with enough rows for a test split",
  );

/**
 * Checks that there are rows.
 *
 * @throws NO_ROWS_TO_MEASURE
 * @throws RangeError if the numbers of labels and predictions differ
 */
export function requireRows(labels: number, predictions = labels): void {
  if (labels !== predictions)
    throw new RangeError(`${labels} labels cannot be compared with ${predictions} predictions`);
  if (labels === 0) throw noRows();
}
