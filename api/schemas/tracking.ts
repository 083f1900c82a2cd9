import { z } from "zod";
import type { ArtifactEntry } from "../../core/tracking/artifacts";
import type { Experiment } from "../../core/tracking/experiment";
import { experimentName, keyText, limits } from "../../core/tracking/records/limits";
import type { DatasetInput, RunRecord } from "../../core/tracking/run-record";
import { count, instant, sha256 } from "./common";
import { numericsRecord } from "./models";
import { attempt, codeReference, job, metricSummary, phase } from "./runs";

const texts = z.record(z.string(), z.string());
const milliseconds = z.number().meta({ description: "Milliseconds since the epoch." });
const lifecycle = z
  .enum(["active", "deleted"])
  .meta({ description: "Deleting is a mark that can be taken off again." });

export const runStatus = z
  .enum(["queued", "running", "completed", "failed", "killed"])
  .meta({ id: "RunStatus", description: "How far the run is." });

export const lifecycleView = z
  .enum(["active", "deleted", "all"])
  .default("active")
  .meta({ description: "Which of them: those not deleted, the deleted, or both." });

export const experimentIdText = z.string().regex(/^\d{1,12}$/, "must be the digits of an experiment's id");
export const runIdText = z.string().min(1).max(255);

export const experiment = z
  .object({
    experimentId: z.string(),
    name: z.string(),
    team: z.string(),
    lifecycle,
    tags: texts,
    artifactLocation: z.string().meta({ description: "Where clients are told to put artifacts." }),
    createdBy: z.string(),
    createdAt: instant,
    updatedAt: instant,
    revision: z.int(),
  })
  .meta({
    id: "Experiment",
    description: "A team's name for runs that belong together.",
  }) satisfies z.ZodType<Experiment>;

const datasetFields = {
  name: z.string().min(1).max(limits.experimentName),
  digest: z.string().min(1).max(100),
  version: z.int().min(1).optional().meta({ description: "Of a dataset that is registered here." }),
  sourceType: z.string().max(100),
  source: z.string().max(10_000),
  schema: z.string().max(65_535).optional(),
  profile: z.string().max(65_535).optional(),
  tags: z.record(keyText, z.string().max(limits.tagValue)),
};
export const datasetInput = z
  .object(datasetFields)
  .meta({ id: "RunDataset", description: "Data that a run read." }) satisfies z.ZodType<DatasetInput>;
/** As clients tell of it. */
export const datasetGiven = z
  .strictObject({
    ...datasetFields,
    sourceType: datasetFields.sourceType.default("local"),
    source: datasetFields.source.default(""),
    tags: datasetFields.tags.default({}),
  })
  .meta({ id: "RunDatasetInput", description: "Data that a run read, as its client tells of it." });

const codeFields = codeReference.shape;
export const runCode = z
  .strictObject({ ...codeFields, entryPoint: z.string().max(1_000).optional() })
  .meta({ id: "RunCode", description: "The code that made the run." });

const environment = z
  .object({
    lockfileSha256: sha256.optional(),
    image: z
      .string()
      .optional()
      .meta({ description: "The trainer's container image, as the job definition names it." }),
    imageDigest: z.string().optional().meta({ description: "Of the trainer's container image." }),
    numerics: numericsRecord.optional(),
    hardware: z
      .object({ instanceTypes: z.array(z.string()), cpu: z.string().optional(), gpu: z.string().optional() })
      .optional(),
  })
  .meta({ id: "RunEnvironment", description: "What it ran in." });

export const runRecord = z
  .object({
    runId: z.string(),
    team: z.string(),
    experimentId: z.string(),
    source: z.enum(["training", "logged"]).meta({ description: "Trained here from a job, or told of by a client." }),
    name: z.string(),
    status: runStatus,
    phase: phase.optional().meta({ description: "Of a training run that has begun." }),
    lifecycle,
    deletedAt: instant.optional(),
    createdBy: z.string(),
    submitters: z.array(z.string()).optional().meta({
      description: "Immutable ids of the people who submitted it, where they are known.",
    }),
    startedAt: milliseconds,
    awaitingSince: milliseconds.optional().meta({
      description:
        "Milliseconds since the epoch: when a training run first waited for an approval, the end of its own work.",
    }),
    endedAt: milliseconds.optional(),
    params: texts.meta({ description: "Written once each; of a training run its job's leaves by dotted path, too." }),
    tags: texts,
    notes: z.string().meta({ description: "Markdown." }),
    parentRunId: z.string().optional(),
    datasets: z.array(datasetInput),
    modelInputs: z.array(z.string()),
    modelOutputs: z.array(z.object({ modelId: z.string(), step: z.int() })),
    code: runCode,
    environment,
    seed: z.number().optional(),
    artifactUri: z.string(),
    job: job.optional().meta({ description: "Of a training run." }),
    weightsSha256: sha256.optional().meta({ description: "Of a training run that has trained." }),
    reusedFrom: z
      .string()
      .optional()
      .meta({ description: "Id of the run whose training, with its metrics, this training run reuses." }),
    revision: z.int(),
  })
  .meta({ id: "RunRecord", description: "A run, trained here or logged by a client." }) satisfies z.ZodType<RunRecord>;

export const artifactEntry = z
  .object({
    path: z.string(),
    isDirectory: z.boolean(),
    bytes: count.optional(),
    sha256: sha256.optional(),
  })
  .meta({
    id: "ArtifactEntry",
    description: "A file of a run, or a directory of files' names.",
  }) satisfies z.ZodType<ArtifactEntry>;

export const runView = z
  .object({
    run: runRecord,
    metrics: z.array(metricSummary).meta({ description: "By name." }),
    children: z.array(z.string()).meta({ description: "Ids of the runs that name this one as their parent." }),
    attempts: z.array(attempt).optional().meta({ description: "Of a training run: its Batch jobs." }),
  })
  .meta({ id: "RunView", description: "A run's record and what belongs to it." });

export { experimentName };
