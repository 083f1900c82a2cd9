import * as z from "zod";
import { run } from "../../core/runs/shapes";
import { sha256 } from "../../core/shapes";
import { examples } from "../examples";
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
        { run: { ...examples.run, reproducedFrom: examples.run.runId } },
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
      200: response("The verdict.", z.object({ reproduction }).meta({ id: "ReproductionAnswer" }), {
        reproduction: {
          runId: "run-b",
          of: "run-a",
          verdict: "different",
          originalSha256: "a".repeat(64),
          reproductionSha256: "b".repeat(64),
          differences: [{ kind: "parameters", field: "seed", original: "7", reproduction: "8" }],
          agreement: {
            steps: 1,
            checkpoints: 0,
            first: { by: "metric", step: 1, metric: "train/loss", original: "1.098", reproduction: "1.127" },
          },
          explanation:
            "the weights differ: train/loss is the same before step 1, and 1.098 there against 1.127; the first fact that differs is of the parameters: seed is 7 there and 8 here",
        },
      }),
    },
    errors: ["RUN_NOT_FOUND", "NOT_A_REPRODUCTION"],
  },
);

const answerLineage = z.object({ lineage: lineageGraph }).meta({ id: "LineageAnswer" });

const nameAndVersion = z.strictObject({ name: nameText, version: versionNumber });

const file = { id: `file:${"a".repeat(64)}`, kind: "file", name: "a".repeat(64) } as const;

const example = {
  lineage: {
    root: "dataset:digits@2",
    nodes: [
      { ...file, details: { file: "march.csv", bytes: 1_024, firstRow: 0, lastRow: 99 } },
      { id: "dataset:digits@2", kind: "dataset", name: "digits@2", details: { rows: 100 } },
      { id: "run:run-a", kind: "run", name: "run-a", details: { status: "completed" } },
      {
        id: "model-version:digits@3",
        kind: "model-version",
        name: "digits@3",
        details: { model: "digits", version: 3 },
      },
    ],
    edges: [
      { from: file.id, to: "dataset:digits@2" },
      { from: "dataset:digits@2", to: "run:run-a" },
      { from: "run:run-a", to: "model-version:digits@3" },
    ],
  },
} as const;

export const getDatasetLineage = operationsFor("Datasets")(
  "getDatasetLineage",
  "GET /datasets/{name}/versions/{version}/lineage",
  {
    summary: "Show the files of a version, and the runs and models that used it",
    description: "Runs come by pages; files, shards and models with the first.",
    params: nameAndVersion,
    query: pageQuery,
    responses: { 200: response("Both ways.", answerLineage, example) },
    errors: ["DATASET_NOT_FOUND", "DATASET_VERSION_NOT_FOUND"],
  },
);

export const getModelVersionLineage = operationsFor("Models")(
  "getModelVersionLineage",
  "GET /models/{name}/versions/{version}/lineage",
  {
    summary: "Show the origin of a version: run, code, features, data, raw files and their rows",
    params: nameAndVersion,
    responses: { 200: response("Back to the raw files.", answerLineage, example) },
    errors: ["MODEL_NOT_FOUND", "MODEL_VERSION_NOT_FOUND", "DATASET_NOT_FOUND", "DATASET_VERSION_NOT_FOUND"],
  },
);

export const getContentLineage = operationsFor("Contents")("getContentLineage", "GET /contents/{sha256}/lineage", {
  summary: "Show the datasets, runs and models that used a raw file or a shard",
  description:
    "The content is identified by its SHA-256; a raw file need not be in the store. For each dataset version the first runs are listed; the version's own lineage has the others.",
  params: z.strictObject({ sha256 }),
  responses: { 200: response("Forward to models.", answerLineage, example) },
  errors: ["CONTENT_NOT_FOUND"],
});
