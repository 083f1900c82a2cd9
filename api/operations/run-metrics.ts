import * as z from "zod";
import { nextToken } from "../../core/shapes";
import { operationsFor, response } from "../operation";
import {
  curveQuery,
  logMetricsBody,
  metricName as metric,
  metricCurve,
  metricLimits,
  metricSummaries,
} from "../schemas/metrics";
import { metricPoint, runIdText } from "../schemas/runs";

const operation = operationsFor("Runs");
const params = z.strictObject({ runId: runIdText });
export const logMetrics = operation("logMetrics", "POST /runs/{runId}/metrics", {
  summary: "Log points of metrics to a run",
  description:
    "All of a call is stored before it is answered. A point of a logged run is one by metric, step, time and value; of a training run by metric and step, where the later one stands. " +
    "Sending the same points again therefore changes nothing where they have times, or where the call has a writer and a sequence.",
  params,
  body: logMetricsBody,
  bodyExample: {
    series: [
      { metric: "train/loss", steps: [1, 2], values: [0.7, "NaN"], times: [1_767_259_800_000, 1_767_259_800_500] },
    ],
  },
  responses: {
    200: response(
      "Stored, now or before.",
      z
        .object({
          duplicate: z
            .boolean()
            .meta({ description: "The writer's batch of that sequence was stored before; nothing was written." }),
        })
        .meta({ id: "LogMetricsAnswer" }),
    ),
  },
  errors: ["RUN_NOT_FOUND", "RUN_DELETED", "RUN_FIELD_FIXED"],
});

export const getRunMetrics = operation("getRunMetrics", "GET /runs/{runId}/metrics", {
  summary: "Get a run's metrics: summaries of all, or a view of one",
  description: "The default view has 1,000 points. It takes as long for a million stored points as for a few thousand.",
  params,
  query: z
    .strictObject({ metric: metric.optional(), ...curveQuery })
    .refine(
      ({ metric, points, fromStep, toStep }) => metric !== undefined || (points ?? fromStep ?? toStep) === undefined,
      {
        path: ["metric"],
        error: "is required where points or steps are given",
      },
    ),
  responses: {
    200: response(
      "Without `metric`: last, min and max value of each. With it: a view of its points.",
      z.union([metricSummaries, metricCurve]).meta({ id: "LoggedMetrics" }),
    ),
  },
  errors: ["RUN_NOT_FOUND"],
});

export const getRunMetricHistory = operation("getRunMetricHistory", "GET /runs/{runId}/metrics/history", {
  summary: "Read every point of a metric, page by page",
  params,
  query: z.strictObject({
    metric,
    limit: z.coerce.number<number | string>().int().min(1).max(metricLimits.page).default(1_000),
    nextToken: z.string().max(100).optional().meta({ description: "Token of the previous page." }),
  }),
  pages: "points",
  responses: {
    200: response(
      "A page, by time, then step, then value.",
      z.object({ points: z.array(metricPoint), nextToken }).meta({ id: "MetricHistoryPage" }),
    ),
  },
  errors: ["RUN_NOT_FOUND"],
});
