import * as z from "zod";
import { nextToken } from "../../core/shapes";
import { exportTables } from "../../core/tables";
import { experiment, keyText, limits, runRecord } from "../../core/tracking/shapes";
import { hasPassword, passwordRule } from "../../core/url-password";
import { operationsFor, response } from "../operation";
import { pageQuery } from "../schemas/common";
import { describedRun, experimentIdText, experimentName, lifecycleView, runIdText } from "../schemas/runs";

const operation = operationsFor("Experiments");
const params = z.strictObject({ experimentId: experimentIdText });
const tagValue = z.string().max(limits.experimentTagValue);
const answer = z.object({ experiment }).meta({ id: "ExperimentAnswer" });
export const createExperiment = operation("createExperiment", "POST /experiments", {
  summary: "Create an experiment",
  description: "A submitted job creates its experiment if it does not exist.",
  body: z
    .strictObject({
      name: experimentName,
      tags: z.record(keyText, tagValue).default({}),
      artifactLocation: z
        .string()
        .min(1)
        .max(1_000)
        .refine((location) => !hasPassword(location), passwordRule)
        .optional()
        .meta({ description: "Location where clients put artifacts; default: the platform's own store." }),
    })
    .meta({ id: "ExperimentRequest" }),
  bodyExample: { name: "digits" },
  idempotencyKey: true,
  responses: { 201: response("The experiment, new or that of the same key.", answer) },
  errors: ["EXPERIMENT_EXISTS", "EXPERIMENT_TOO_LARGE"],
});

export const listExperiments = operation("listExperiments", "GET /experiments", {
  summary: "List experiments in the order of their creation, or find one by its name",
  query: pageQuery.extend({
    name: z
      .string()
      .min(1)
      .max(limits.experimentName)
      .optional()
      .meta({ description: "Only the experiment with this name." }),
    view: lifecycleView,
  }),
  pages: "experiments",
  responses: {
    200: response("A page.", z.object({ experiments: z.array(experiment), nextToken }).meta({ id: "ExperimentPage" })),
  },
});

export const getExperiment = operation("getExperiment", "GET /experiments/{experimentId}", {
  summary: "Get an experiment",
  params,
  responses: { 200: response("The experiment, deleted or not.", answer) },
  errors: ["EXPERIMENT_NOT_FOUND"],
});

export const changeExperiment = operation("changeExperiment", "PATCH /experiments/{experimentId}", {
  summary: "Rename an experiment, change its tags, delete or restore it",
  description:
    "The experiment is marked as deleted: it accepts no new runs and keeps its runs unchanged. Its name stays in use.",
  params,
  body: z
    .strictObject({
      name: experimentName.optional(),
      tags: z
        .record(keyText, tagValue.nullable())
        .optional()
        .meta({ description: "Tags to set; null removes one. Others stay." }),
      lifecycle: z.enum(["active", "deleted"]).optional(),
    })
    .meta({ id: "ExperimentChange" }),
  bodyExample: { tags: { goal: "a smaller model" } },
  idempotent: true,
  responses: { 200: response("The changed experiment.", answer) },
  errors: ["EXPERIMENT_NOT_FOUND", "EXPERIMENT_EXISTS", "EXPERIMENT_BUSY", "EXPERIMENT_TOO_LARGE"],
});

export const listExperimentRuns = operation("listExperimentRuns", "GET /experiments/{experimentId}/runs", {
  summary: "List an experiment's runs, newest start first",
  description:
    "A page may be short, or empty, although there are more. A run of the last second may be missing: `POST /runs/search` sees it.",
  params,
  query: pageQuery.extend({ view: lifecycleView }),
  pages: "runs",
  responses: {
    200: response("A page.", z.object({ runs: z.array(runRecord), nextToken }).meta({ id: "RunRecordPage" })),
  },
  errors: ["EXPERIMENT_NOT_FOUND"],
});

export const getExperimentRun = operation("getExperimentRun", "GET /experiments/{experimentId}/runs/{runId}", {
  summary: "Get a run of an experiment",
  params: params.extend({ runId: runIdText }),
  responses: { 200: response("Like `GET /runs/{runId}`.", describedRun) },
  errors: ["RUN_NOT_FOUND"],
});

export const exportExperiment = operation("exportExperiment", "GET /experiments/{experimentId}/export", {
  summary: "Export a table of an experiment's runs as a stream",
  description:
    "`runs`, `params`, `tags`, `metrics` (last, minimum and maximum of each) or `points` (every metric point), joined by `run_id`. Deleted runs are omitted. Every run and point that was " +
    "stored before the request is included.",
  function: "stream-metrics",
  params,
  query: z.strictObject({ table: z.enum(exportTables), format: z.enum(["csv", "parquet"]).default("parquet") }),
  responses: { 200: { description: "The table.", content: ["text/csv", "application/vnd.apache.parquet"] } },
  errors: ["EXPERIMENT_NOT_FOUND"],
});
