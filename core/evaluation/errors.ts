import { RingmasterError } from "../errors";

/** Thrown when the model predicts NaN or an infinity for a test row. */
export class NonFinitePredictionError extends RingmasterError {
  constructor(row: number, value: number) {
    super(
      `the model predicts ${value} for row ${row} of the test split, but predictions must be finite; ` +
        "lower hyperparameters.learningRate or set hyperparameters.clipNorm, and look at the column ranges in the dataset's profile",
      { code: "NON_FINITE_PREDICTION", httpStatus: 409, details: { row, value: String(value) } },
    );
  }
}

/** Thrown when the model's outputs do not fit the features' label. */
export class OutputMismatchError extends RingmasterError {
  constructor(expected: number, found: number) {
    super(
      `the model has ${found} outputs per row, but the label needs ${expected}; a user module must build its model with context.outputs outputs`,
      { code: "MODEL_OUTPUT_MISMATCH", httpStatus: 409, details: { expected, found } },
    );
  }
}

/** Thrown when there are no rows to measure. */
export class NoRowsError extends RingmasterError {
  constructor() {
    super(
      "no metric can be computed, because the test split is empty; push a version of the dataset with enough rows for a test split",
      { code: "NO_ROWS_TO_MEASURE", httpStatus: 409 },
    );
  }
}

/**
 * Checks that there are rows.
 *
 * @throws NoRowsError
 * @throws RangeError if the numbers of labels and predictions differ
 */
export function requireRows(labels: number, predictions = labels): void {
  if (labels !== predictions)
    throw new RangeError(`${labels} labels cannot be compared with ${predictions} predictions`);
  if (labels === 0) throw new NoRowsError();
}
