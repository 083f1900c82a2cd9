import { badRequest, RingmasterError } from "../errors";

export class CorruptShardError extends RingmasterError {
  constructor(reason: string, cause?: unknown) {
    super(
      `the feature shard is damaged: ${reason}; submit the run again with --no-cache to prepare the features again`,
      {
        code: "CORRUPT_FEATURE_SHARD",
        httpStatus: 500,
        cause,
      },
    );
  }
}

export function tooManyValues(column: string, use: "feature" | "label" | "slice", limit: number) {
  const remedy = {
    feature: "choose `encode: top-k` or `encode: hash` in the job's features.columns, or drop the column",
    label: "declare it float where it is a quantity to be predicted, or group its rare classes",
    slice: "slice by a column with fewer values",
  }[use];
  return badRequest(
    "TOO_MANY_VALUES",
    `column ${column} has more than ${limit} distinct values, the maximum for a ${use}; ${remedy}`,
    { column, use, limit },
  );
}

/**
 * Thrown when a row's number, or a feature of it, is infinite in float32, in which models are trained.
 *
 * @param row number of the row in the dataset version, from 1
 */
export function valueTooLarge(what: "feature" | "label", name: string, row: number) {
  const remedy = {
    feature: "correct the row, or scale the column, for example by the step `standardize` or `log` of features.plan",
    label: "correct the row, or train on a smaller unit or the logarithm",
  }[what];
  return badRequest(
    "VALUE_TOO_LARGE",
    `${what} ${name} of row ${row} is beyond ±3.4e38, the range of float32; ${remedy}`,
    { [what]: name, row },
  );
}
