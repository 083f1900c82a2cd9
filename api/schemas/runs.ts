import * as z from "zod";
import { jobSchema } from "../../core/runs/job";
import { market, run } from "../../core/runs/shapes";
import { metricValue, nextToken } from "../../core/shapes";

/** A job as people write it. */
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
