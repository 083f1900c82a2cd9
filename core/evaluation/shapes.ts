import * as z from "zod";
import { taskKind } from "../datasets/shapes";
import { decision } from "../runs/decision";
import type { RunStepKind } from "../runs/run-states";
import { numericsRecord } from "../runs/shapes";
import { category, contentReference, count, datasetReference, metrics, type Shape, storedNumber } from "../shapes";

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
  .meta({ id: "Latency", description: "Times of single predictions. Percentiles are medians of five rounds." });
export interface LatencyReport extends Shape<typeof latency> {}

export const importance = z
  .object({
    metric: z.string().meta({ description: "The primary metric of the task." }),
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

export const evaluationReport = z.object({
  dataset: datasetReference,
  split: z.literal("test"),
  rows: count,
  label: z.string(),
  metrics,
  decision: decision.optional().meta({
    description: "Present if the job chose it. Absent: the second of two classes, above 0.5.",
  }),
  classes: z.array(classReport).optional().meta({ description: "Present for a label with classes." }),
  confusionMatrix: z.array(z.array(count)).optional().meta({
    description: "`counts[true class][predicted class]`, in the order of `classes`.",
  }),
  slices: z.array(sliceReport),
  task: taskKind,
  importance: importance.optional().meta({ description: "Absent for a trial, a model of one column, and few rows." }),
  predictions: contentReference.meta({
    description:
      "Safetensors, in the test split's order: `label` [rows]; for classes `predicted` I32 [rows] and `probabilities` F32 [rows, classes] (binary: [rows], of the second class); for regression `predicted` F32 [rows]; with slice columns `slices` I32 [rows, columns], indexes into the column's `slices` of this report. Two models that were evaluated on the same rows can be compared row by row.",
  }),
});

const comparison = z.discriminatedUnion("kind", [
  pairedInterval.extend({
    kind: z.literal("compared"),
    champion: count,
    metric: z.string().meta({ description: "The primary metric of the task, unless a rule names another one." }),
    candidateValue: z.number().meta({ description: "The metric of each model on the same rows." }),
    championValue: z.number(),
    championPredictions: contentReference.meta({ description: "The champion's predictions for the rows." }),
  }),
  z.object({ kind: z.literal("incompatible"), champion: count, reasons: z.array(z.string()) }),
]);
export type ChampionComparison = Shape<typeof comparison>;

const engine = z.object({
  backend: numericsRecord.shape.backend,
  device: numericsRecord.shape.device,
  ran: z.enum(["function", "job"]).meta({
    description: "The function of the state machine, or a Batch job (docs/adr/071-large-datasets.md).",
  }),
});
export interface EvaluationEngine extends Shape<typeof engine> {}

export const evaluationOutput = z.object({
  report: contentReference.meta({ description: "The full report, JSON in the content store." }),
  metrics: z.record(z.string().min(1).max(250), storedNumber).meta({
    description: "Overall metrics on the test split: `accuracy`, `f1`, `auc`, `logLoss`, …",
  }),
  validation: metrics.optional().meta({ description: "The same of the validation split. Present for a trial." }),
  decision: decision.optional().meta({ description: "Present if the job chose it." }),
  comparison: comparison.optional().meta({
    description: "Absent if the model has no champion, or if the candidate has the champion's weights.",
  }),
  engine: engine.optional(),
  latency: latency.optional().meta({ description: "Latency of one row's prediction on the evaluating machine." }),
  task: taskKind,
});
export interface EvaluationOutput extends Shape<typeof evaluationOutput> {}
export const evaluationKind: RunStepKind<EvaluationOutput> = { step: "Evaluate", output: evaluationOutput };
