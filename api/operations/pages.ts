import * as z from "zod";
import { searchLimits } from "../../core/tracking/shapes";
import { operationsFor } from "../operation";
import { nameText, versionNumber } from "../schemas/common";
import { modelName } from "../schemas/models";
import { experimentIdText, runIdText } from "../schemas/runs";

const operation = operationsFor("Pages");
const run = z.strictObject({ runId: runIdText });
const page = { description: "A self-contained page.", content: ["text/html"] } as const;
/** `false` for a page that is saved as a file, where links have no target. */
const links = z
  .enum(["true", "false"])
  .default("true")
  .meta({ description: "`false`: without links, for a page that is kept as a file." });

export const getExperimentsPage = operation("getExperimentsPage", "GET /pages/experiments", {
  summary: "Show the list of experiments",
  query: z.strictObject({ nextToken: z.string().max(4_096).optional() }),
  responses: { 200: page },
});

export const getExperimentPage = operation("getExperimentPage", "GET /pages/experiments/{experimentId}", {
  summary: "Show an experiment: a table of its runs to filter, order and compare",
  description: "The page reports an invalid filter next to it.",
  params: z.strictObject({ experimentId: experimentIdText }),
  query: z.strictObject({
    filter: z.string().max(searchLimits.filterLength).default("").meta({ description: "docs/search.md" }),
    orderBy: z.string().max(2_000).default("").meta({ description: "`metrics.val_loss ASC`; empty: newest first." }),
    pageToken: z.string().max(6_000).optional(),
    links,
  }),
  responses: { 200: page },
  errors: ["EXPERIMENT_NOT_FOUND"],
});

export const getRunPage = operation("getRunPage", "GET /pages/runs/{runId}", {
  summary: "Show a run: curves, metrics, params, notes, code, environment, data, attempts, files, lineage",
  params: run,
  query: z.strictObject({ links }),
  responses: { 200: page },
  errors: ["RUN_NOT_FOUND"],
});

const registration = { params: run, query: z.strictObject({ as: modelName }) } as const;

export const getRegisterPage = operation("getRegisterPage", "GET /pages/runs/{runId}/register", {
  summary: "Show what the registration of a run's model does, and confirm it",
  ...registration,
  responses: { 200: page },
  errors: ["RUN_NOT_FOUND"],
});

export const confirmRegistration = operation("confirmRegistration", "POST /pages/runs/{runId}/register", {
  summary: "Register a run's model, from its page",
  description:
    "For the form of `GET` on the same path. A browser must state that the form belongs to the API's own page (`Sec-Fetch-Site: same-origin`). Programs use `POST /training-runs/{runId}/register`. Idempotent.",
  ...registration,
  headers: z.object({ "sec-fetch-site": z.string().max(100).optional() }),
  idempotent: true,
  responses: { 303: { description: "To the run's page.", content: [], headers: { Location: "Relative." } } },
  errors: [
    ...(["CROSS_SITE_REQUEST", "RUN_NOT_FOUND", "RUN_NOT_COMPLETED", "RUN_NOT_EVALUATED"] as const),
    ...(["REPRODUCTION_NOT_REGISTERED", "REGISTRY_BUSY"] as const),
  ],
});

export const getStudyPage = operation("getStudyPage", "GET /pages/studies/{study}", {
  summary: "Show a study: best value so far, learning curves, parallel coordinates, importance, slices, savings",
  params: z.strictObject({ study: nameText }),
  query: z.strictObject({ links }),
  responses: { 200: page },
  errors: ["STUDY_NOT_FOUND"],
});

export const getMonitorPage = operation("getMonitorPage", "GET /pages/monitors/{monitor}", {
  summary: "Show a monitor: its settings and its newest windows",
  params: z.strictObject({ monitor: nameText }),
  query: z.strictObject({ links }),
  responses: { 200: page },
  errors: ["MONITOR_NOT_FOUND"],
});

export const getWindowPage = operation("getWindowPage", "GET /pages/monitors/{monitor}/windows/{window}", {
  summary: "Show a window of a monitor: drift of all columns, with their distributions",
  params: z.strictObject({ monitor: nameText, window: versionNumber }),
  responses: { 200: page },
  errors: ["MONITOR_NOT_FOUND", "MONITOR_WINDOW_NOT_FOUND"],
});

export const getRunFile = operation("getRunFile", "GET /pages/runs/{runId}/artifact", {
  summary: "Redirect to the download of a run's file",
  params: run,
  query: z.strictObject({ path: z.string().min(1).max(1_000) }),
  responses: {
    307: {
      description: "To the store.",
      content: [],
      headers: { Location: "A presigned URL that lives 15 minutes." },
    },
  },
  errors: ["RUN_NOT_FOUND", "ARTIFACT_NOT_FOUND"],
});

export const getComparisonPage = operation("getComparisonPage", "GET /pages/compare", {
  summary: "Show runs next to each other",
  query: z.strictObject({
    runs: z
      .string()
      .max(16_384)
      .meta({ description: "JSON: a list of ids of runs, at most 50.", example: '["run-1","run-2"]' }),
    baseline: runIdText.optional(),
  }),
  class: "heavy",
  responses: { 200: page },
  errors: ["RUN_NOT_FOUND"],
});
