import { RingmasterError } from "../errors";

/** Thrown when a feature shard's bytes do not match its manifest. */
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

/** Thrown when a column has too many distinct values for a one-hot, a label's classes or a slice. */
export class TooManyValuesError extends RingmasterError {
  constructor(column: string, use: "feature" | "label" | "slice", limit: number) {
    const remedy = {
      feature: "choose `encode: top-k` or `encode: hash` in the job's features.columns, or drop the column",
      label: "declare it float where it is a quantity to be predicted, or group its rare classes",
      slice: "slice by a column with fewer values",
    }[use];
    super(`column ${column} has more than ${limit} distinct values, the maximum for a ${use}; ${remedy}`, {
      code: "TOO_MANY_VALUES",
      httpStatus: 400,
      details: { column, use, limit },
    });
  }
}
