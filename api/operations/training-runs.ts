import * as z from "zod";
import { runStatuses } from "../../core/runs/run-states";
import {
  checkpointSummary,
  codeReference,
  damagedCheckpoint,
  logPage,
  run,
  runDetails,
  submittedEnvironment,
} from "../../core/runs/shapes";
import { examples } from "../examples";
import { operationsFor, response } from "../operation";
import { nameText, pageQuery } from "../schemas/common";
import { curveQuery, metricCurve, metricSummaries } from "../schemas/metrics";
import { jobInput, restoreOverrides, runPage } from "../schemas/runs";

const operation = operationsFor("Training runs");
const params = z.strictObject({ runId: nameText });
const answerRun = z.object({ run }).meta({ id: "RunAnswer" });

export const submitTrainingRun = operation("submitTrainingRun", "POST /training-runs", {
  summary: "Submit a job",
  description:
    "Creates a run in state `queued` and starts its state machine. The dataset is resolved now: `latest` becomes the present latest version.",
  body: z
    .strictObject({
      job: jobInput,
      code: codeReference.default({}),
      environment: submittedEnvironment.optional(),
      noCache: z
        .boolean()
        .default(false)
        .meta({ description: "Compute every step, without reusing outputs of earlier runs." }),
      pauseAt: z.int().min(1).optional().meta({
        description: "Number of finished epochs after which the run pauses, until it is resumed.",
      }),
    })
    .meta({ id: "SubmitRequest" }),
  bodyExample: { job: examples.job },
  idempotencyKey: true,
  responses: {
    201: response("The run, new or that of the same key.", answerRun),
  },
  errors: [
    "IDEMPOTENCY_CONFLICT",
    "EXPERIMENT_DELETED",
    "DATASET_NOT_FOUND",
    "DATASET_VERSION_NOT_FOUND",
    "DATASET_VERSION_DEPRECATED",
    "DATASET_WITHOUT_ACTIVE_VERSION",
  ],
});

export const listTrainingRuns = operation("listTrainingRuns", "GET /training-runs", {
  summary: "List runs, newest first",
  description:
    "With a filter, a page may hold fewer runs than `limit` although another follows: request pages while there is a `nextToken`.",
  query: pageQuery.extend({
    experiment: z.string().min(1).max(500).optional().meta({ description: "Name or id of an experiment." }),
    status: z.enum(runStatuses).optional(),
  }),
  pages: "runs",
  responses: { 200: response("A page.", runPage) },
  errors: ["EXPERIMENT_NOT_FOUND"],
});

export const getTrainingRun = operation("getTrainingRun", "GET /training-runs/{runId}", {
  summary: "Get a run with its steps, attempts, workers and progress",
  params,
  responses: {
    200: response("Everything known of it.", runDetails),
  },
  errors: ["RUN_NOT_FOUND"],
});

export const cancelTrainingRun = operation("cancelTrainingRun", "POST /training-runs/{runId}/cancel", {
  summary: "End a run: its row, its execution, its workers",
  description: "Idempotent; a run that ended otherwise is refused.",
  params,
  idempotent: true,
  responses: { 200: response("The run, killed.", answerRun) },
  errors: ["RUN_NOT_FOUND", "RUN_ENDED"],
});

export const resumeTrainingRun = operation("resumeTrainingRun", "POST /training-runs/{runId}/resume", {
  summary: "Continue a paused run from its last checkpoint",
  description:
    "With unchanged bits, on any number of workers. A repeated request with the same `after` resumes the run once.",
  params,
  body: z
    .strictObject({
      after: z.int().min(0).optional().meta({ description: "The segment that was paused. Default: the current one." }),
      pauseAt: z.int().min(1).optional().meta({
        description: "Number of finished epochs at which the run pauses again. Default: it trains to the end.",
      }),
      workers: z.int().min(1).max(1_000).optional().meta({ description: "Default: the job's." }),
    })
    .meta({ id: "ResumeRequest" }),
  bodyExample: { after: 0, pauseAt: 9 },
  idempotent: true,
  responses: { 200: response("The run, queued.", answerRun) },
  errors: ["RUN_NOT_FOUND", "RUN_NOT_PAUSED"],
});

export const listCheckpoints = operation("listCheckpoints", "GET /training-runs/{runId}/checkpoints", {
  summary: "List a run's checkpoints, oldest first",
  params,
  responses: {
    200: response(
      "The checkpoints that are kept now.",
      z
        .object({ checkpoints: z.array(checkpointSummary), damaged: z.array(damagedCheckpoint).default([]) })
        .meta({ id: "CheckpointList" }),
    ),
  },
  errors: ["RUN_NOT_FOUND"],
});

export const restoreTrainingRun = operation(
  "restoreTrainingRun",
  "POST /training-runs/{runId}/checkpoints/{epoch}/restore",
  {
    summary: "Create a run that continues from a checkpoint of another",
    description:
      "The other run does not change. Overrides may change the execution and the length, but nothing that determines the result of a step.",
    params: params.extend({ epoch: z.coerce.number<number | string>().int().min(0).max(999_999_999) }),
    body: z
      .strictObject({
        overrides: restoreOverrides.default({}),
        allowOtherNumerics: z
          .boolean()
          .default(false)
          .meta({ description: "Go on although the machine computes otherwise; the result is then marked." }),
      })
      .meta({ id: "RestoreRequest" }),
    bodyExample: { overrides: { hyperparameters: { epochs: 10 } } },
    idempotencyKey: true,
    responses: {
      201: response("The new run, or that of the same key.", answerRun),
    },
    errors: [
      "IDEMPOTENCY_CONFLICT",
      "EXPERIMENT_DELETED",
      "RUN_NOT_FOUND",
      "CHECKPOINT_NOT_FOUND",
      "DATASET_NOT_FOUND",
      "DATASET_VERSION_NOT_FOUND",
      "DATASET_VERSION_DEPRECATED",
    ],
  },
);

/**
 * Without `metric` all metrics' summaries, with it one's points; with `Accept: text/event-stream` a stream of events.
 */
export const getTrainingRunMetrics = operation("getTrainingRunMetrics", "GET /training-runs/{runId}/metrics", {
  summary: "Get a run's metrics: summaries of all, the points of one, or events that follow it",
  description:
    "With `Accept: text/event-stream` the answer follows the run until it ends: `run` (its state, at first and when it changes), `metrics` (new points of some metrics, ascending by step, each point once) and " +
    "`end`, after which nothing comes. A comment is sent at least each 15 seconds. The stream ends by itself after 14 minutes, or when something fails: reconnect with " +
    "`Last-Event-ID`, as an `EventSource` does. After `end`, a reconnection is answered with 204.",
  function: "stream-metrics",
  headers: z.object({
    "last-event-id": z
      .string()
      .max(8_192)
      .optional()
      .meta({ description: "Id of an earlier stream's last event; the stream continues after it." }),
  }),
  params,
  query: z
    .strictObject({
      metric: z
        .string()
        .min(1)
        .max(250)
        .optional()
        .meta({ description: "The points of this one.", example: "train/loss" }),
      ...curveQuery,
    })
    .refine(
      ({ metric, points, fromStep, toStep }) => metric !== undefined || (points ?? fromStep ?? toStep) === undefined,
      { path: ["metric"], error: "is required where points or steps are given" },
    ),
  responses: {
    200: {
      description:
        "Without `metric`: last, min and max value of each. With it: its points, ascending by step, and how many there are.",
      schema: z.union([metricSummaries, metricCurve]).meta({ id: "RunMetrics" }),
      content: ["application/json", "text/event-stream"],
    },
    204: { description: "The previous stream already sent the run's end; the client must not reconnect.", content: [] },
  },
  errors: ["RUN_NOT_FOUND"],
});

export const getTrainingRunLogs = operation("getTrainingRunLogs", "GET /training-runs/{runId}/logs", {
  summary: "Read the logs of a run's workers",
  params,
  query: z.strictObject({
    worker: z.coerce
      .number<number | string>()
      .int()
      .min(0)
      .max(100_000)
      .optional()
      .meta({ description: "Only this one." }),
    nextToken: z.string().max(4_096).optional(),
  }),
  pages: "lines",
  class: "heavy",
  responses: {
    200: response("A page.", logPage),
  },
  errors: ["RUN_NOT_FOUND"],
});
