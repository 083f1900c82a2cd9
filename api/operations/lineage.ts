import * as z from "zod";
import { run } from "../../core/runs/shapes";
import { sha256 } from "../../core/shapes";
import { lineageGraph } from "../lineage/shapes";
import { operationsFor, response } from "../operation";
import { reproduction } from "../reproduction/shapes";
import { nameText, pageQuery, versionNumber } from "../schemas/common";

const ofRun = z.strictObject({ runId: nameText });

export const reproduceTrainingRun = operationsFor("Training runs")(
  "reproduceTrainingRun",
  "POST /training-runs/{runId}/reproduce",
  {
    summary: "Repeat a run from its record",
    description:
      "Creates a run of the same job, code, dataset version and seed, with every step computed. It ends after its evaluation, and registers and promotes nothing. " +
      "`GET /training-runs/{runId}/reproduction` of the new run shows whether its weights are the same.",
    params: ofRun,
    idempotencyKey: true,
    class: "heavy",
    responses: {
      201: response(
        "The run that reproduces, new or that of the same key.",
        z.object({ run }).meta({ id: "RunAnswer" }),
      ),
    },
    errors: [
      "RUN_NOT_FOUND",
      "RUN_NOT_TRAINED",
      "IDEMPOTENCY_CONFLICT",
      "DATASET_NOT_FOUND",
      "DATASET_VERSION_NOT_FOUND",
    ],
  },
);

export const getReproduction = operationsFor("Training runs")(
  "getReproduction",
  "GET /training-runs/{runId}/reproduction",
  {
    summary: "Compare a run's weights with those of the run that it reproduces, or of another",
    params: ofRun,
    query: z.strictObject({
      of: nameText.optional().meta({ description: "The other run; by default the one that this run reproduces." }),
    }),
    responses: {
      200: response("The verdict.", z.object({ reproduction }).meta({ id: "ReproductionAnswer" })),
    },
    errors: ["RUN_NOT_FOUND", "NOT_A_REPRODUCTION"],
  },
);

const answerLineage = z.object({ lineage: lineageGraph }).meta({ id: "LineageAnswer" });

const nameAndVersion = z.strictObject({ name: nameText, version: versionNumber });

export const getDatasetLineage = operationsFor("Datasets")(
  "getDatasetLineage",
  "GET /datasets/{name}/versions/{version}/lineage",
  {
    summary: "Show the files of a version, and the runs and models that used it",
    description: "Runs come by pages; files, shards and models with the first.",
    params: nameAndVersion,
    query: pageQuery,
    responses: { 200: response("Both ways.", answerLineage) },
    errors: ["DATASET_NOT_FOUND", "DATASET_VERSION_NOT_FOUND"],
  },
);

export const getModelVersionLineage = operationsFor("Models")(
  "getModelVersionLineage",
  "GET /models/{name}/versions/{version}/lineage",
  {
    summary: "Show the origin of a version: run, code, features, data, raw files and their rows",
    params: nameAndVersion,
    responses: { 200: response("Back to the raw files.", answerLineage) },
    errors: ["MODEL_NOT_FOUND", "MODEL_VERSION_NOT_FOUND", "DATASET_NOT_FOUND", "DATASET_VERSION_NOT_FOUND"],
  },
);

export const getContentLineage = operationsFor("Contents")("getContentLineage", "GET /contents/{sha256}/lineage", {
  summary: "Show the datasets, runs and models that used a raw file or a shard",
  description:
    "The content is identified by its SHA-256; a raw file need not be in the store. For each dataset version the first runs are listed; the version's own lineage has the others.",
  params: z.strictObject({ sha256 }),
  responses: { 200: response("Forward to models.", answerLineage) },
  errors: ["CONTENT_NOT_FOUND"],
});
