import * as z from "zod";
import { category, count, metrics, type Shape } from "../shapes";

export const pairedInterval = z
  .object({
    difference: z.number(),
    lower: z.number(),
    upper: z.number(),
    confidence: z.number(),
    rows: count,
    resamples: count,
    seed: count,
  })
  .meta({ id: "PairedInterval", description: "Candidate minus champion on the same rows: a paired bootstrap." });
export interface PairedInterval extends Shape<typeof pairedInterval> {}

export const sliceReport = z.object({ column: z.string(), value: category.nullable(), rows: count, metrics });
export interface SliceReport extends Shape<typeof sliceReport> {}

/** `auc`: one-vs-rest. */
export const classReport = z.object({
  value: category,
  support: count,
  precision: z.number(),
  recall: z.number(),
  f1: z.number(),
  auc: z.number().optional(),
});
export interface ClassReport extends Shape<typeof classReport> {}

export const sliceEvidence = z
  .object({
    column: z.string(),
    positive: category.optional().meta({ description: "The class whose rates were compared." }),
    rate: z.enum(["selection", "true-positive", "false-positive"]).optional(),
    estimate: z.number(),
    lower: z.number(),
    upper: z.number(),
    confidence: z.number(),
    resamples: count,
    seed: count,
    rows: count,
    minimumRows: count,
    slices: z.array(
      z.object({
        value: category.nullable(),
        rows: count,
        estimate: z.number(),
        lower: z.number(),
        upper: z.number(),
      }),
    ),
    judged: count,
    leftOut: count,
  })
  .meta({
    id: "SliceEvidence",
    description: "Slices of the test split, with intervals that hold for all of them together.",
  });
export interface SliceEvidence extends Shape<typeof sliceEvidence> {}
export type SliceRow = SliceEvidence["slices"][number];

export const latency = z
  .object({
    predictions: count,
    warmUp: count,
    p50Ms: z.number(),
    p90Ms: z.number(),
    p99Ms: z.number(),
    maxMs: z.number(),
    histogram: z.array(z.object({ fromMs: z.number(), toMs: z.number(), count })),
    machine: z.object({
      cpu: z.string(),
      /** Number of processors that the process may use. */
      processors: count,
      memoryMb: count,
      /** `lambda`, `batch` or `local`. */
      host: z.string(),
      node: z.string(),
      platform: z.string(),
      arch: z.string(),
    }),
  })
  .meta({ id: "Latency", description: "Times of single predictions, on the machine that evaluated." });
export interface LatencyReport extends Shape<typeof latency> {}

export const importance = z
  .object({
    metric: z.string().meta({ description: "The main metric of the task: `accuracy`, `auc` or `rmse`." }),
    baseline: z.number().meta({ description: "The metric of the sampled rows, without a permutation." }),
    rows: count.meta({ description: "Rows of the test split that were sampled." }),
    repeats: count.meta({ description: "Permutations of each column." }),
    seed: count,
    columns: z.array(
      z.object({
        columns: z.array(z.string()).meta({ description: "A column, or columns that a step of the plan combines." }),
        mean: z.number().meta({ description: "Mean loss of the metric over the permutations." }),
        deviation: z.number().meta({ description: "Sample standard deviation over the permutations." }),
      }),
    ),
    omitted: count.optional().meta({ description: "Number of further columns, which were not measured." }),
  })
  .meta({ id: "Importance", description: "Permutation importance of the columns, the most important first." });
export interface ImportanceReport extends Shape<typeof importance> {}

export const calibration = z
  .object({
    of: z.enum(["positive", "predicted"]),
    bins: z.array(
      z.object({ from: z.number(), to: z.number(), rows: count, confidence: z.number(), observed: z.number() }),
    ),
    error: z.number().meta({ description: "Expected calibration error." }),
  })
  .meta({ id: "Calibration" });
export interface Calibration extends Shape<typeof calibration> {}
