import * as z from "zod";
import { pipelineName, stepKinds } from "../../core/pipelines/definition";
import { pipelineRun, pipelineVersion, stepState } from "../../core/pipelines/records";
import { examples } from "../examples";
import { operationsFor, pageOf, response } from "../operation";
import { nameText, pageQuery } from "../schemas/common";

const operation = operationsFor("Pipelines");
const runParams = z.strictObject({ pipelineRunId: nameText });
const stepParams = runParams.extend({ step: nameText });
const runAnswer = z.object({ run: pipelineRun }).meta({ id: "PipelineRunAnswer" });
const answeredRun = response("The run.", runAnswer);
const versionAnswer = z.object({ created: z.boolean(), pipeline: pipelineVersion }).meta({ id: "PipelineCreation" });
const values = z.record(z.string(), z.unknown());
const startErrors = ["PIPELINE_NOT_FOUND", "PIPELINE_TOO_DEEP", "IDEMPOTENCY_CONFLICT"] as const;

const stepSummary = z
  .object({
    name: z.string(),
    kind: z.enum(stepKinds),
    after: z
      .array(z.string())
      .meta({ description: "Its parents: those of `after` and those that its expressions name." }),
    final: z.boolean().meta({ description: "Whether it is a step of `finally`." }),
    state: stepState
      .omit({ input: true, output: true, keyParts: true })
      .optional()
      .meta({ description: "Absent until it begins." }),
  })
  .meta({ id: "PipelineStepSummary" });

export const pushPipeline = operation("pushPipeline", "POST /pipelines", {
  summary: "Store a definition as the next version of its pipeline",
  description: "Every problem is reported at once. Idempotent: an equal newest version is returned.",
  body: values.meta({ id: "PipelineDefinition", description: "The definition, as docs/pipelines.md describes it." }),
  bodyExample: examples.pipelineDefinition,
  idempotent: true,
  responses: {
    200: response("The same version exists.", versionAnswer),
    201: response("The version.", versionAnswer),
  },
  errors: ["PIPELINE_BUSY"],
});

export const listPipelines = operation("listPipelines", "GET /pipelines", {
  summary: "List the newest version of each pipeline, by name",
  ...pageOf({ id: "PipelinePage" }, pipelineVersion),
});

export const startPipelineRun = operation("startPipelineRun", "POST /pipelines/runs", {
  summary: "Start a run of a pipeline",
  body: z
    .strictObject({
      pipeline_id: pipelineName,
      version: z.int().min(1).optional().meta({ description: "Default: the newest." }),
      config: values.default({}).meta({ description: "The values of its parameters." }),
      no_cache: z
        .array(z.string())
        .max(1_000)
        .optional()
        .meta({ description: "Steps that reuse no output; an empty list: all." }),
    })
    .meta({ id: "PipelineRunRequest" }),
  bodyExample: { pipeline_id: "weekly", config: { rows: 1_000 } },
  idempotencyKey: true,
  responses: { 201: answeredRun },
  errors: startErrors,
});

export const listPipelineRuns = operation("listPipelineRuns", "GET /pipelines/runs", {
  summary: "List runs of pipelines, newest first",
  ...pageOf({ id: "PipelineRunPage" }, pipelineRun),
  query: pageQuery.extend({ pipeline: pipelineName.optional() }),
});

export const getPipelineRun = operation("getPipelineRun", "GET /pipelines/runs/{pipelineRunId}", {
  summary: "Get a run with its graph, the states of its steps, and the reasons of each",
  params: runParams,
  responses: {
    200: response(
      "The run.",
      z.object({ run: pipelineRun, steps: z.array(stepSummary) }).meta({ id: "PipelineRunDetails" }),
    ),
  },
  errors: ["PIPELINE_RUN_NOT_FOUND"],
});

export const getPipelineStep = operation("getPipelineStep", "GET /pipelines/runs/{pipelineRunId}/steps/{step}", {
  summary: "Get a step of a run, or an item of it, with its input and output",
  params: stepParams,
  query: z.strictObject({ item: z.coerce.number<number | string>().int().min(0).optional() }),
  responses: {
    200: response(
      "The step.",
      z.object({ state: stepState, output: z.unknown().optional() }).meta({ id: "PipelineStepDetails" }),
      {
        state: { step: "clean", status: "succeeded", attempt: 1, startedAt: "2026-01-01T09:30:00.000Z" },
      },
    ),
  },
  errors: ["PIPELINE_STEP_NOT_FOUND"],
});

export const listPipelineItems = operation(
  "listPipelineItems",
  "GET /pipelines/runs/{pipelineRunId}/steps/{step}/items",
  {
    summary: "List the items of a step with forEach",
    params: stepParams,
    ...pageOf({ id: "PipelineItemPage" }, stepState, {
      step: "clean",
      item: 0,
      status: "succeeded",
      attempt: 1,
      startedAt: "2026-01-01T09:30:00.000Z",
    }),
    errors: ["PIPELINE_STEP_NOT_FOUND"],
  },
);

export const resumePipelineRun = operation("resumePipelineRun", "POST /pipelines/runs/{pipelineRunId}/resume", {
  summary: "Run a failed or cancelled run again, as a new run that takes over what succeeded",
  params: runParams,
  body: z
    .strictObject({
      newest: z.boolean().default(false).meta({ description: "By the newest version of the pipeline." }),
    })
    .meta({ id: "PipelineResume" }),
  bodyExample: { newest: true },
  idempotencyKey: true,
  responses: { 201: answeredRun },
  errors: ["PIPELINE_RUN_NOT_FOUND", "PIPELINE_RUN_RUNNING", ...startErrors],
});

export const cancelPipelineRun = operation("cancelPipelineRun", "POST /pipelines/runs/{pipelineRunId}/cancel", {
  summary: "Cancel a run; the steps of `finally` run",
  params: runParams,
  idempotent: true,
  responses: { 200: answeredRun },
  errors: ["PIPELINE_RUN_NOT_FOUND", "PIPELINE_RUN_ENDED"],
});
