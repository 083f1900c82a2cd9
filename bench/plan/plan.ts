import { jobSchema } from "../../core/runs/job";

/** Twenty transforms of flights; `pipeline.py` has the same. The target is the delay, and its folds are days. */
const plan = [
  { kind: "standardize", column: "distance", name: "standardized" },
  { kind: "minmax", column: "distance", name: "range" },
  { kind: "robust", column: "distance", name: "robust" },
  { kind: "log", column: "distance", name: "log" },
  { kind: "standardize", column: "log", name: "standardized log" },
  { kind: "bucketize", column: "distance", quantiles: 10, name: "decile" },
  { kind: "bucketize", column: "distance", boundaries: [200, 500, 1_000, 2_000], name: "haul" },
  { kind: "date", column: "date", part: "hour", name: "hour" },
  { kind: "date", column: "date", part: "days", name: "day", output: false },
  { kind: "one-hot", column: "hour", name: "hours" },
  { kind: "cycle", column: "date", part: "minuteOfDay", name: "time" },
  { kind: "cycle", column: "date", part: "dayOfWeek", name: "week" },
  { kind: "ratio", numerator: "distance", denominator: "hour", name: "distance by hour" },
  { kind: "product", columns: ["log", "hour"], name: "log by hour" },
  { kind: "one-hot", column: "origin", name: "from" },
  { kind: "ordinal", column: "destination", name: "number" },
  { kind: "hash", column: "destination", buckets: 64, name: "bucket" },
  { kind: "ngrams", column: "origin", n: 2, buckets: 16, name: "letters" },
  { kind: "cross", columns: ["origin", "destination"], name: "route", output: false },
  { kind: "hash", column: "route", buckets: 1_024, name: "route bucket" },
  { kind: "target", column: "origin", target: "delay", foldBy: "day", name: "delay from" },
  { kind: "target", column: "destination", target: "delay", foldBy: "day", name: "delay to" },
] as const;

/** Steps that only other steps use do not count. */
export const transforms = plan.filter((step) => !("output" in step)).length;
export const features = jobSchema.shape.features.parse({ plan });

export const datasetSchema = `columns:
  - {name: date, type: timestamp}
  - {name: distance, type: int}
  - {name: origin, type: string}
  - {name: destination, type: string}
  - {name: delay, type: float, role: label}
`;
