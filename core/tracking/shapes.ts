import * as z from "zod";
import { runStatuses } from "../runs/run-states";
import { codeReference, job, numericsRecord, phase } from "../runs/shapes";
import { count, instant, type Shape, sha256, texts } from "../shapes";
import { hasPassword, passwordRule } from "../url-password";

/**
 * Limits of a record. They equal those of MLflow 3, so that both APIs have the same rules. Characters are UTF-16 units.
 */
export const limits = {
  experimentName: 500,
  experimentTagValue: 5_000,
  runName: 250,
  key: 250,
  paramValue: 6_000,
  tagValue: 8_000,
  notes: 100_000,
  /** Maximum number of entries of one request. A record is limited only by its row's size. */
  entries: 1_000,
} as const;

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
const control = /[\u0000-\u001f\u007f]/;

export const keyText = z
  .string()
  .min(1)
  .max(limits.key)
  .refine((key) => !control.test(key), "must have no control characters");

const atMost = <Value>(values: Readonly<Record<string, Value>>): boolean =>
  Object.keys(values).length <= limits.entries;
const tooMany = `must be at most ${limits.entries} in a call`;

export const paramsInput = z.record(keyText, z.string().max(limits.paramValue)).refine(atMost, tooMany);
export const tagsInput = z.record(keyText, z.string().max(limits.tagValue)).refine(atMost, tooMany);
/** `null` removes a tag. */
export const tagChanges = z.record(keyText, z.string().max(limits.tagValue).nullable()).refine(atMost, tooMany);

export const experimentName = z
  .string()
  .min(1)
  .max(limits.experimentName)
  .refine((name) => !control.test(name), "must have no control characters")
  .refine((name) => name.trim() !== "", "must not be blank");

const milliseconds = z.number().meta({ description: "Milliseconds since the epoch." });

const lifecycle = z
  .enum(["active", "deleted"])
  .meta({ description: "Deleting is a mark that can be taken off again." });
export type Lifecycle = Shape<typeof lifecycle>;

export const runStatus = z.enum(runStatuses).meta({ id: "RunStatus", description: "Progress of the run." });

export const experiment = z
  .object({
    experimentId: z.string(),
    name: z.string(),
    team: z.string(),
    lifecycle,
    tags: texts,
    artifactLocation: z.string().meta({ description: "Location where clients put artifacts." }),
    createdBy: z.string(),
    createdAt: instant,
    updatedAt: instant,
    revision: z.int(),
  })
  .meta({
    id: "Experiment",
    description: "A team's name for runs that belong together.",
  });
export interface Experiment extends Shape<typeof experiment> {}

export const datasetFields = {
  name: z.string().min(1).max(limits.experimentName),
  digest: z.string().min(1).max(100),
  version: z.int().min(1).optional().meta({ description: "Present for a dataset that is registered here." }),
  sourceType: z.string().max(100),
  source: z
    .string()
    .max(10_000)
    .refine((source) => !hasPassword(source), passwordRule),
  schema: z.string().max(65_535).optional(),
  profile: z.string().max(65_535).optional(),
  tags: z.record(keyText, z.string().max(limits.tagValue)),
};

/** Data in a record has no limits of its own: MLflow's clients log datasets without a digest, and with longer texts. */
const datasetInput = z
  .object({
    ...datasetFields,
    name: z.string(),
    digest: z.string(),
    sourceType: z.string(),
    source: z.string(),
    schema: z.string().optional(),
    profile: z.string().optional(),
    tags: texts,
  })
  .meta({ id: "RunDataset", description: "Data that a run read." });
export interface DatasetInput extends Shape<typeof datasetInput> {}

const codeFields = codeReference.shape;

export const runCode = z
  .strictObject({ ...codeFields, entryPoint: z.string().max(1_000).optional() })
  .meta({ id: "RunCode", description: "The code that made the run." });
export interface RunCode extends Shape<typeof runCode> {}

const environment = z
  .object({
    lockfileSha256: sha256.optional(),
    image: z
      .string()
      .optional()
      .meta({ description: "The trainer's container image, as the job definition names it." }),
    imageDigest: z.string().optional().meta({ description: "Digest of the trainer's container image." }),
    numerics: numericsRecord.optional(),
    hardware: z
      .object({ instanceTypes: z.array(z.string()), cpu: z.string().optional(), gpu: z.string().optional() })
      .optional(),
  })
  .meta({ id: "RunEnvironment", description: "Environment in which it ran." });

export const runRecord = z
  .object({
    runId: z.string(),
    team: z.string(),
    experimentId: z.string(),
    source: z.enum(["training", "logged"]).meta({ description: "Executed here from a job, or logged by a client." }),
    name: z.string(),
    status: runStatus,
    phase: phase.optional().meta({ description: "Present for a training run that has started." }),
    lifecycle,
    deletedAt: instant.optional(),
    createdBy: z.string(),
    submitters: z.array(z.string()).optional().meta({
      description: "Immutable ids of the people who submitted it, if known.",
    }),
    startedAt: milliseconds,
    queuedAt: milliseconds.optional().meta({
      description: "Start of the current wait of a training run's job for free workers; milliseconds since the epoch.",
    }),
    queuedMs: count.optional().meta({
      description: "Milliseconds of the earlier waits of a training run's jobs for free workers.",
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
    primaryMetric: z
      .string()
      .optional()
      .meta({ description: "Present for a training run: the metric of the test split that suits its task." }),
    job: job.optional().meta({ description: "Present for a training run." }),
    weightsSha256: sha256.optional().meta({ description: "Present for a training run that has trained." }),
    reusedFrom: z
      .string()
      .optional()
      .meta({ description: "Id of the run whose training and metrics this training run reuses." }),
    unreadable: z.string().optional().meta({
      description:
        "The reason for which a part of the record cannot be read. That part is absent. The run can be shown and deleted.",
    }),
    revision: z.int(),
  })
  .meta({ id: "RunRecord", description: "A run, trained here or logged by a client." });
export interface RunRecord extends Shape<typeof runRecord> {}

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
  });
export interface ArtifactEntry extends Shape<typeof artifactEntry> {}

/** The immutable part of a run. A process reads it once. */
export interface RunIdentity {
  readonly runId: string;
  readonly team: string;
  readonly experimentId: string;
  /** `training`: executed here, from a job. `logged`: executed elsewhere, and recorded by a client. */
  readonly source: "training" | "logged";
}

/** Maximum length of a path. It is part of a row's key, and DynamoDB accepts 1,024 bytes. */
const maxBytes = 1_000;

/** Returns the rule that an artifact's path breaks; `undefined` if it is valid. */
export function artifactPathRule(path: string): string | undefined {
  if (path === "") return "must not be empty";
  if (Buffer.byteLength(path) > maxBytes) return `must be at most ${maxBytes} bytes as UTF-8`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  if (/[\u0000-\u001f\u007f\\]/.test(path)) return "must have no control characters and no backslash";
  if (Buffer.from(path).toString() !== path) return "must be well-formed Unicode";
  if (path.split("/").some((part) => part === "" || part === "." || part === ".."))
    return "must be relative and normalized: no leading or trailing slash, no empty part, no `.` and no `..`";
  return undefined;
}

/** Limits of one search: the cost of a filter grows with its length, on every run. */
export const searchLimits = {
  filterLength: 16_384,
  depth: 32,
  conditions: 200,
  listLength: 1_000,
  orderTerms: 8,
} as const;
