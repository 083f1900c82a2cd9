import * as z from "zod";
import { columnSchema } from "../datasets/shapes";
import { category, count, datasetReference, instant, type Shape, sha256 } from "../shapes";

export const severities = ["warning", "critical"] as const;
export type Severity = (typeof severities)[number];

export const thresholdsInput = z.strictObject({
  level: z.number().gt(0).max(0.5).default(0.01).meta({
    description:
      "Largest share of false findings among the columns that are reported: level of the tests after Benjamini and Hochberg's adjustment.",
  }),
  distance: z.number().min(0).max(1).default(0.05).meta({
    description:
      "Smallest distance of the distributions that is reported: the Kolmogorov-Smirnov statistic, or half the sum of the differences of the categories' shares.",
  }),
  psi: z.number().gt(0).default(0.2).meta({ description: "Population stability index above which drift is critical." }),
});

export const driftThresholds = thresholdsInput.meta({
  id: "DriftThresholds",
  description: "Conditions for drift of a column: all of level and distance; psi makes it critical.",
});
export interface DriftThresholds extends Shape<typeof driftThresholds> {}

export const defaultThresholds: DriftThresholds = driftThresholds.parse({});

const side = z.object({ rows: count, missing: count });

const bins = z
  .object({
    names: z.array(z.string()).meta({ description: "Categories, or ranges of numbers." }),
    baseline: z.array(count),
    current: z.array(count),
  })
  .meta({ id: "DriftBins", description: "Rows by bin, for a plot." });
export interface DriftBins extends Shape<typeof bins> {}

export const columnDrift = z
  .object({
    column: z.string(),
    type: columnSchema.shape.type,
    role: z.enum([...columnSchema.shape.role.options, "prediction"]),
    baseline: side,
    current: side,
    psi: z.number(),
    kl: z.number().meta({ description: "Kullback-Leibler divergence of the current rows from the baseline, in nats." }),
    js: z.number().meta({ description: "Jensen-Shannon distance, from 0 to 0.833." }),
    test: z.enum(["kolmogorov-smirnov", "chi-square"]),
    statistic: z.number(),
    pValue: z.number().meta({ description: "Of χ²: rare categories are joined, or tested exactly." }),
    adjustedPValue: z.number().meta({ description: "After Benjamini and Hochberg's adjustment over all columns." }),
    distance: z.number().meta({ description: "See `distance` of the thresholds." }),
    wasserstein: z
      .number()
      .optional()
      .meta({ description: "Wasserstein distance in standard deviations of the baseline; for numbers." }),
    severity: z.enum(severities).optional().meta({ description: "Absent: no drift." }),
    bins,
  })
  .meta({ id: "ColumnDrift" });
export interface ColumnDrift extends Shape<typeof columnDrift> {}

export const schemaChange = z
  .object({
    column: z.string(),
    change: z.enum(["added", "removed", "type"]),
    before: z.string().optional(),
    after: z.string().optional(),
    severity: z.enum(severities),
  })
  .meta({ id: "SchemaChange" });
export interface SchemaChange extends Shape<typeof schemaChange> {}

const multivariateDrift = z
  .object({
    auc: z.number().meta({
      description:
        "AUC of a classifier that separates baseline rows from current rows on which it was not trained. 0.5: it cannot.",
    }),
    low: z.number().meta({ description: "Lower end of the interval at 95 %." }),
    high: z.number(),
    pValue: z.number(),
    rows: z
      .object({ baseline: count, current: count })
      .meta({ description: "Size of the samples, at most about 2,500." }),
    columns: count.meta({ description: "Number of columns, at most 200." }),
    severity: z.enum(severities).optional().meta({
      description:
        "The p-value is below the level, and 2 AUC − 1 is at least the distance; critical above an AUC of 0.7.",
    }),
  })
  .meta({ id: "MultivariateDrift", description: "Two-sample test of all columns together." });
export interface MultivariateDrift extends Shape<typeof multivariateDrift> {}

const measurement = {
  thresholds: driftThresholds,
  rows: z.object({ baseline: count, current: count }).meta({
    description: "Rows that were measured: all of them, or a sample that depends on the row numbers alone.",
  }),
  schema: z.array(schemaChange),
  columns: z.array(columnDrift),
  multivariate: multivariateDrift.optional().meta({ description: "Absent for samples of fewer than 100 rows." }),
  severity: z.enum(severities).optional().meta({ description: "Highest severity of a finding; absent: no drift." }),
};
export interface Measurement extends Shape<z.ZodObject<typeof measurement>> {}

export const driftReport = z
  .object({ baseline: datasetReference, current: datasetReference, ...measurement })
  .meta({ id: "DriftReport", description: "Differences between the rows of two dataset versions." });
export interface DriftReport extends Shape<typeof driftReport> {}

export const modelDriftReport = z
  .object({
    model: z.string(),
    version: z.int().min(1),
    baseline: datasetReference.meta({ description: "The dataset version that the model version was trained on." }),
    ...measurement,
  })
  .meta({ id: "ModelDriftReport", description: "Differences between the rows of training and the inferences." });
export interface ModelDriftReport extends Shape<typeof modelDriftReport> {}

export const inferenceBatch = z
  .object({
    sequence: z.int().min(1).meta({ description: "Batches of a version are numbered as they arrive." }),
    rows: count,
    before: count.meta({ description: "Rows of the earlier batches." }),
    from: instant.meta({ description: "Time of the first prediction." }),
    to: instant,
    receivedAt: instant,
    sha256: sha256.meta({ description: "The rows, in the content store." }),
    bytes: count,
  })
  .meta({ id: "InferenceBatch", description: "Inferences that were stored together." });

export interface InferenceBatch extends Shape<typeof inferenceBatch> {}

export const maxInferenceRows = 1_000;

const maxColumns = 10_000;

export const loggedRow = z
  .strictObject({
    unit: z.string().min(1).max(1_000).meta({
      description: "User, session or device. Its hash decides whether the row is in the sample, and alone is stored.",
    }),
    at: z.iso.datetime({ offset: true }).meta({ description: "Time of the prediction, at most 30 days ago." }),
    row: z
      .record(z.string().min(1).max(255), z.unknown())
      .refine((row) => Object.keys(row).length <= maxColumns, `must have at most ${maxColumns} columns`)
      .meta({ description: "The raw row as the model received it." }),
    prediction: category.meta({ description: "The predicted class or value." }),
    label: category.optional().meta({ description: "The true label, if it is known." }),
  })
  .meta({ id: "InferenceRow" });

export interface LoggedRow extends Shape<typeof loggedRow> {}
