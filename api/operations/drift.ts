import * as z from "zod";
import { inferenceBatch, loggedRow, maxInferenceRows } from "../../core/drift/shapes";
import { monitor, monitorDefinition, monitorWindow, windowReport } from "../../core/monitors/shapes";
import { count, nextToken } from "../../core/shapes";
import { operationsFor, pageOf, response } from "../operation";
import { nameText, pageQuery, versionNumber } from "../schemas/common";
import { modelName } from "../schemas/models";

const operation = operationsFor("Drift");
const version = z.int().min(1).max(999_999_999);

export const logInferences = operation("logInferences", "POST /models/{name}/inferences", {
  summary: "Log the inferences of a version",
  description:
    "Stores the rows of the sampled units: the largest rate of the model's monitors, or all units without a monitor. The hash of the unit decides. Idempotent: a batch that is sent again is stored once. Rows are stored for 30 days; rows of an earlier time are refused.",
  params: z.strictObject({ name: modelName }),
  body: z
    .strictObject({
      version: version.meta({ description: "The version that predicted." }),
      rows: z.array(loggedRow).min(1).max(maxInferenceRows),
    })
    .meta({ id: "InferenceReport" }),
  bodyExample: {
    version: 3,
    rows: [{ unit: "user-17", at: "2026-01-01T09:30:00Z", row: { age: 41, plan: "basic" }, prediction: true }],
  },
  idempotent: true,
  responses: {
    200: response(
      "Number of stored rows.",
      z
        .object({
          stored: count.meta({ description: "Rows of this batch that are in the log." }),
          repeated: z.boolean().meta({ description: "Whether the batch was in the log already." }),
          rate: z.number().meta({ description: "Share of units that are stored." }),
        })
        .meta({ id: "InferenceAnswer" }),
    ),
  },
  errors: ["MODEL_NOT_FOUND", "MODEL_VERSION_NOT_FOUND", "INFERENCE_LOG_BUSY"],
});

export const listInferenceBatches = operation(
  "listInferenceBatches",
  "GET /models/{name}/versions/{version}/inferences",
  {
    summary: "List the inferences of a version, by batches, oldest first",
    params: z.strictObject({ name: modelName, version: versionNumber }),
    query: pageQuery.extend({
      after: z.coerce.number<number | string>().int().min(0).max(999_999_999).default(0).meta({
        description: "Only batches after this sequence.",
      }),
    }),
    pages: "batches",
    responses: {
      200: response(
        "A page. The rows are in the content store: compressed JSON by column.",
        z
          .object({
            totals: z
              .object({ batches: count, rows: count })
              .meta({ description: "All batches that were stored, also expired ones." }),
            batches: z.array(inferenceBatch),
            nextToken,
          })
          .meta({ id: "InferenceBatchPage" }),
      ),
    },
    errors: ["MODEL_NOT_FOUND", "MODEL_VERSION_NOT_FOUND"],
  },
);

const params = z.strictObject({ monitor: nameText });
const answer = z.object({ monitor }).meta({ id: "MonitorAnswer" });
const creation = z.object({ created: z.boolean(), monitor }).meta({ id: "MonitorCreation" });

export const createMonitor = operation("createMonitor", "POST /monitors", {
  summary: "Watch the inferences of a model, or the versions of a dataset",
  description:
    "Windows are measured when they end: after a number of stored rows, on a schedule, or at a new version. A window with drift publishes the event `Drift Detected`, for triggers. Idempotent for the same definition.",
  body: monitorDefinition,
  bodyExample: { name: "churn-inputs", target: { type: "model", model: "churn", everyRows: 5_000 } },
  idempotent: true,
  responses: {
    200: response("The same monitor already exists.", creation),
    201: response("The monitor.", creation),
  },
  errors: [
    ...(["MONITOR_EXISTS", "MONITOR_BUSY", "MODEL_NOT_FOUND", "MODEL_VERSION_NOT_FOUND"] as const),
    ...(["DATASET_NOT_FOUND", "DATASET_VERSION_NOT_FOUND", "DATASET_WITHOUT_ACTIVE_VERSION"] as const),
  ],
});

export const listMonitors = operation("listMonitors", "GET /monitors", {
  summary: "List monitors by name",
  ...pageOf({ id: "MonitorPage" }, monitor),
});

export const getMonitor = operation("getMonitor", "GET /monitors/{monitor}", {
  summary: "Get a monitor and its state",
  description: "A deleted one, too.",
  params,
  responses: { 200: response("The monitor.", answer) },
  errors: ["MONITOR_NOT_FOUND"],
});

export const deleteMonitor = operation("deleteMonitor", "DELETE /monitors/{monitor}", {
  summary: "End a monitor",
  description: "Its windows can still be read. Idempotent.",
  params,
  responses: { 200: response("The monitor.", answer) },
  errors: ["MONITOR_NOT_FOUND", "MONITOR_BUSY"],
});

export const listMonitorWindows = operation("listMonitorWindows", "GET /monitors/{monitor}/windows", {
  summary: "List the windows of a monitor, newest first",
  params,
  ...pageOf({ id: "MonitorWindowPage" }, monitorWindow),
  errors: ["MONITOR_NOT_FOUND"],
});

export const getMonitorWindow = operation("getMonitorWindow", "GET /monitors/{monitor}/windows/{window}", {
  summary: "Get a window with its whole report",
  params: z.strictObject({ monitor: nameText, window: versionNumber }),
  responses: {
    200: response(
      "The window.",
      z.object({ window: monitorWindow, report: windowReport }).meta({ id: "MonitorWindowAnswer" }),
    ),
  },
  errors: ["MONITOR_NOT_FOUND", "MONITOR_WINDOW_NOT_FOUND"],
});
