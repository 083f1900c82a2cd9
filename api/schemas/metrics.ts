import * as z from "zod";
import { metricValue } from "../../core/shapes";
import { keyText } from "../../core/tracking/shapes";
import { metricPoint, metricSummary } from "./runs";

/** Limits of one request, far above what logging each step needs, and of one response. */
export const metricLimits = { series: 10_000, points: 100_000, curve: 10_000, page: 25_000 } as const;

const step = z.int().meta({ description: "May be negative." });

const time = z.int().meta({ description: "Milliseconds since the epoch." });

export const metricName = keyText.meta({ description: "A metric's name.", example: "train/loss" });

const loggedSeries = z
  .strictObject({
    metric: metricName,
    steps: z.array(step).min(1),
    values: z.array(metricValue),
    times: z.array(time).optional(),
  })
  .refine(({ steps, values }) => values.length === steps.length, {
    path: ["values"],
    error: "must be as many as the steps",
  })
  .refine(({ steps, times }) => times === undefined || times.length === steps.length, {
    path: ["times"],
    error: "must be as many as the steps",
  })
  .meta({
    id: "LoggedSeries",
    description:
      "Parallel columns: the i-th point is (steps[i], values[i], times[i]). Without times all points have the time of the request.",
  });

export const logMetricsBody = z
  .strictObject({
    writer: z.string().min(1).max(100).optional().meta({
      description:
        "Identifies the sender within the run. With `sequence`, a repeated batch is recognised and not stored again.",
    }),
    sequence: z.int().min(0).optional().meta({ description: "The batch's number among the writer's." }),
    series: z
      .array(loggedSeries)
      .min(1)
      .max(metricLimits.series)
      .refine((all) => all.reduce((sum, { steps }) => sum + steps.length, 0) <= metricLimits.points, {
        error: `must have at most ${metricLimits.points} points in all: send the rest in another call`,
      }),
  })
  .refine(({ writer, sequence }) => (writer === undefined) === (sequence === undefined), {
    path: ["sequence"],
    error: "must be given with writer, and only with it",
  })
  .meta({ id: "LogMetricsRequest" });

const stepQuery = z.coerce.number<number | string>().int();

/** Query parameters of a view of a metric. */
export const curveQuery = {
  points: z.coerce.number<number | string>().int().min(1).max(metricLimits.curve).optional().meta({
    description: "At most this many: first and last, and the min and max of each stretch at their own steps.",
  }),
  fromStep: stepQuery.optional().meta({ description: "This step and later ones." }),
  toStep: stepQuery.optional().meta({ description: "This step and earlier ones." }),
};

export const metricCurve = z
  .object({
    metric: z.string(),
    points: z.array(metricPoint).meta({ description: "Ascending by step." }),
    total: z.int().min(0).meta({ description: "Number of points in the range." }),
  })
  .meta({ id: "MetricCurve" });

export const metricSummaries = z
  .object({
    metrics: z.array(metricSummary),
    reusedFrom: z
      .string()
      .optional()
      .meta({ description: "Id of the run whose training and metrics a training run reuses." }),
  })
  .meta({ id: "MetricSummaries" });
