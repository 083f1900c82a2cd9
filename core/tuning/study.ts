import * as z from "zod";
import { type Job, jobSchema } from "../runs/job";
import { codeReference, submittedEnvironment } from "../runs/shapes";
import type { DeepReadonly } from "../shapes";
import { objectiveSchema } from "./history";
import { samplerSettingsSchema, schedulerSettingsSchema } from "./settings";
import { spaceSchema } from "./space";
import { studyProblems } from "./study-problems";

const name = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9-]{0,62}$/,
    "must be 1–63 lower-case letters, digits and hyphens, starting with a letter or digit",
  );

/** DynamoDB reads a study with its trials for each decision, in pages of 1 MB. */
export const maxTrials = 10_000;
const maxParallel = 256;
const maxObjectives = 4;

const constraint = z.strictObject({
  metric: z.string().min(1).max(250),
  /** Limits of the metric's last value; one of them or both. */
  min: z.number().optional(),
  max: z.number().optional(),
});

const stop = z.strictObject({
  /** Number of trials to start. */
  trials: z.int().min(1).max(maxTrials).optional(),
  /** Hours from the study's start after which no trial starts or continues. */
  hours: z
    .number()
    .positive()
    .max(24 * 365)
    .optional(),
  /** Estimated cost of all trials, in US dollars, after which no trial starts or continues. */
  dollars: z.number().positive().optional(),
  /** Number of consecutive ended trials without a better value. */
  noImprovement: z.int().min(1).max(maxTrials).optional(),
});

const warmStart = z
  .array(
    z.union([
      z.strictObject({ study: name }),
      z.strictObject({ runs: z.array(z.string().min(1).max(256)).min(1).max(1_000) }),
    ]),
  )
  .max(16)
  .default([]);

const fields = {
  name,
  /** Default: the primary metric of the task on the validation split, or with a scheduler what a training logs of it. */
  objectives: z.array(objectiveSchema).max(maxObjectives).default([]),
  space: spaceSchema,
  sampler: samplerSettingsSchema.prefault({ type: "auto" }),
  scheduler: schedulerSettingsSchema.prefault({ type: "none" }),
  /** Maximum number of trials that train at the same time. */
  parallel: z.int().min(1).max(maxParallel).default(1),
  stop: stop
    .refine((limits) => Object.values(limits).some((limit) => limit !== undefined), {
      error: "must have at least one of trials, hours, dollars, noImprovement: a study needs an end",
    })
    .meta({ example: { trials: 24 } }),
  /** Limits that a trial must keep to be the best. */
  constraints: z.array(constraint).max(16).default([]),
  warmStart,
  /** Trains the best trial's settings on all epochs and registers the model. Default: nothing is registered. */
  best: z.strictObject({ registerAs: name }).optional(),
};

export const studyDefinitionOf = <JobSchema extends typeof jobSchema>(job: JobSchema) =>
  z
    .strictObject({
      ...fields,
      job,
      code: codeReference.default({}),
      environment: submittedEnvironment.optional(),
    })
    .check(studyProblems((study) => study["job"]));

export const studyDefinitionSchema = studyDefinitionOf(jobSchema);
export type StudyDefinition = DeepReadonly<z.output<typeof studyDefinitionSchema>>;

/** `objective` is the short form of one objective. @param readJob the valid job at a path relative to the file */
export const studyFileSchema = (readJob: (path: string) => Job | undefined) =>
  z
    .strictObject({
      ...fields,
      objective: objectiveSchema.optional(),
      job: z.string({ error: "must be the path of a job file, relative to the study file" }).min(1),
    })
    .check(studyProblems((study) => (typeof study["job"] === "string" ? readJob(study["job"]) : undefined)))
    .refine(({ objective, objectives }) => objective === undefined || objectives.length === 0, {
      path: ["objective"],
      error: "must be left out, or objectives, which are for several",
    });
