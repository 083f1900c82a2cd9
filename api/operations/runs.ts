import * as z from "zod";
import { metricValue, sha256 } from "../../core/shapes";
import {
  keyText,
  limits,
  paramsInput,
  runCode,
  runRecord,
  runStatus,
  tagChanges,
  tagsInput,
} from "../../core/tracking/shapes";
import { operationsFor, response } from "../operation";
import { datasetGiven, describedRun, experimentIdText, experimentName, runIdText } from "../schemas/runs";

const operation = operationsFor("Runs");
const params = z.strictObject({ runId: runIdText });
const answer = z.object({ run: runRecord }).meta({ id: "RunRecordAnswer" });
/** A time that both a double and a date can hold. */
const milliseconds = z.int().min(0).max(8_640_000_000_000_000).meta({ description: "Milliseconds since the epoch." });
const name = z.string().min(1).max(limits.runName);
const notes = z.string().max(limits.notes).meta({ description: "Markdown." });

export const logRun = operation("logRun", "POST /runs", {
  summary: "Log a run of another program",
  description:
    "One call creates the run with its params, tags and first metrics. A named experiment that does not exist is created. `POST /training-runs` creates training runs.",
  body: z
    .strictObject({
      experimentId: experimentIdText.optional(),
      experiment: experimentName
        .optional()
        .meta({ description: "Name of the experiment; `Default` if neither is given." }),
      name: name.optional().meta({ description: "The run's id where it is left out." }),
      status: runStatus.default("running"),
      startedAt: milliseconds.optional(),
      endedAt: milliseconds
        .optional()
        .meta({ description: "Milliseconds since the epoch; default for an ended run: now." }),
      params: paramsInput.default({}),
      tags: tagsInput.default({}),
      notes: notes.default(""),
      metrics: z
        .record(keyText, metricValue)
        .refine((metrics) => Object.keys(metrics).length <= limits.entries, `must be at most ${limits.entries}`)
        .default({})
        .meta({ description: "First values, at step 0 and the run's start." }),
      parentRunId: runIdText.optional(),
      datasets: z.array(datasetGiven).max(100).default([]),
      code: runCode.default({}),
      lockfileSha256: sha256.optional(),
      seed: z.int().optional(),
    })
    .refine(({ experimentId, experiment }) => experimentId === undefined || experiment === undefined, {
      path: ["experiment"],
      error: "must be left out where experimentId is given",
    })
    .refine(({ startedAt, endedAt }) => startedAt === undefined || endedAt === undefined || endedAt >= startedAt, {
      path: ["endedAt"],
      error: "must not be before startedAt",
    })
    .meta({ id: "LogRunRequest" }),
  bodyExample: { experiment: "digits", params: { depth: "3" }, metrics: { accuracy: 0.97 } },
  idempotencyKey: true,
  responses: { 201: response("The run, new or that of the same key.", answer) },
  errors: [
    "EXPERIMENT_NOT_FOUND",
    "EXPERIMENT_DELETED",
    "RUN_NOT_FOUND",
    "DATASET_NOT_FOUND",
    "DATASET_VERSION_NOT_FOUND",
    "IDEMPOTENCY_CONFLICT",
    "RUN_RECORD_TOO_LARGE",
  ],
});

export const getRun = operation("getRun", "GET /runs/{runId}", {
  summary: "Get a run's record with its metrics' summaries, children and attempts",
  params,
  responses: { 200: response("The run, deleted or not.", describedRun) },
  errors: ["RUN_NOT_FOUND"],
});

export const changeRun = operation("changeRun", "PATCH /runs/{runId}", {
  summary: "Change a run's name, notes or tags, or end it",
  description: "A training run's status and end are its own: `POST /training-runs/{runId}/cancel` ends it.",
  params,
  body: z
    .strictObject({
      name: name.optional(),
      notes: notes.optional(),
      tags: tagChanges.optional().meta({ description: "Tags to set; null removes one. Others stay." }),
      status: runStatus.optional(),
      endedAt: milliseconds.optional(),
    })
    .meta({ id: "RunChange" }),
  bodyExample: { tags: { checked: "yes" }, status: "completed" },
  idempotent: true,
  responses: { 200: response("The changed run.", answer) },
  errors: ["RUN_NOT_FOUND", "RUN_DELETED", "RUN_FIELD_FIXED", "RUN_BUSY", "RUN_RECORD_TOO_LARGE"],
});

export const logParams = operation("logParams", "POST /runs/{runId}/params", {
  summary: "Add params to a run; each is written once",
  description:
    "The same value again changes nothing; another value for a known key is refused, and then none is added.",
  params,
  body: z.strictObject({ params: paramsInput }).meta({ id: "ParamsRequest" }),
  bodyExample: { params: { depth: "3" } },
  idempotent: true,
  responses: { 200: response("The changed run.", answer) },
  errors: ["RUN_NOT_FOUND", "RUN_DELETED", "PARAM_CONFLICT", "RUN_BUSY", "RUN_RECORD_TOO_LARGE"],
});

export const deleteRun = operation("deleteRun", "DELETE /runs/{runId}", {
  summary: "Mark a run as deleted",
  description: "Its data stay: `POST /runs/{runId}/restore` restores it.",
  params,
  responses: { 200: response("The changed run.", answer) },
  errors: ["RUN_NOT_FOUND", "RUN_BUSY"],
});

export const restoreRun = operation("restoreRun", "POST /runs/{runId}/restore", {
  summary: "Restore a deleted run",
  params,
  idempotent: true,
  responses: { 200: response("The changed run.", answer) },
  errors: ["RUN_NOT_FOUND", "RUN_BUSY"],
});
