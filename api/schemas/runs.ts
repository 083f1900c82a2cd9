import * as z from "zod";
import { jobSchema } from "../../core/runs/job";
import { attempt, market, run } from "../../core/runs/shapes";
import { metricValue, nextToken } from "../../core/shapes";
import { datasetFields, experimentName, runRecord } from "../../core/tracking/shapes";

export const lifecycleView = z
  .enum(["active", "deleted", "all"])
  .default("active")
  .meta({ description: "Active ones, deleted ones, or both." });

export const experimentIdText = z.string().regex(/^\d{1,12}$/, "must be the digits of an experiment's id");

export const runIdText = z.string().min(1).max(255);

/** A dataset as a client describes it. */
export const datasetGiven = z
  .strictObject({
    ...datasetFields,
    sourceType: datasetFields.sourceType.default("local"),
    source: datasetFields.source.default(""),
    tags: datasetFields.tags.default({}),
  })
  .meta({ id: "RunDatasetInput", description: "Data that a run read, as its client reports it." });

export const jobInput = jobSchema.meta({
  id: "JobInput",
  description: "A job as people write it, with defaults for omitted fields.",
});

export const runPage = z
  .object({
    runs: z.array(run),
    unreadable: z.array(z.string()).optional().meta({
      description: "Ids of runs of this page whose rows are damaged. They can be deleted.",
    }),
    nextToken,
  })
  .meta({ id: "RunPage", description: "Runs, newest first." });

const metricStep = z.number().int();

const metricTime = z.number().meta({ description: "Milliseconds since the epoch." });

export const metricSummary = z
  .object({
    metric: z.string(),
    last: metricValue.meta({
      description: "Value at the highest step; ties by the latest time, then by the largest value.",
    }),
    lastStep: metricStep,
    lastTime: metricTime,
    min: metricValue,
    max: metricValue,
  })
  .meta({ id: "MetricSummary" });

export const metricPoint = z
  .object({ step: metricStep, value: metricValue, time: metricTime })
  .meta({ id: "MetricPoint" });

/** Fields that may differ from the checkpoint's run. The job's schema checks the values. */
export const restoreOverrides = z
  .strictObject({
    hyperparameters: z.strictObject({ epochs: z.number().optional() }).optional(),
    resources: z
      .strictObject({
        workers: z.number().optional(),
        minWorkers: z.number().optional(),
        market: market.optional(),
        placement: z.enum(["spread", "cluster"]).optional(),
        memoryMbPerWorker: z.number().optional(),
      })
      .optional(),
    checkpoint: z.strictObject({ everySteps: z.number().optional(), keep: z.number().optional() }).optional(),
    retries: z.number().optional(),
  })
  .meta({ id: "RestoreOverrides", description: "Fields that may differ from the checkpoint's run." });

export const describedRun = z
  .object({
    run: runRecord,
    metrics: z.array(metricSummary).meta({ description: "Sorted by name." }),
    children: z.array(z.string()).meta({ description: "Ids of the runs that name this one as their parent." }),
    attempts: z.array(attempt).optional().meta({ description: "Batch jobs of a training run." }),
  })
  .meta({ id: "DescribedRun", description: "A run's record and what belongs to it." });

export { experimentName };

/** A record without its long parts, which no search reads. `GET /runs/{runId}` returns all. */
const runSummary = runRecord
  .omit({ job: true, environment: true })
  .meta({ id: "RunSummary", description: "A run's record without its job (whose leaves are params) and environment." });

export const searchedRun = z
  .object({ run: runSummary, metrics: z.array(metricSummary).meta({ description: "Sorted by name." }) })
  .meta({ id: "SearchedRun" });
