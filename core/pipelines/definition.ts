import * as z from "zod";
import { codeReference } from "../runs/shapes";
import { type Shape, sha256 } from "../shapes";

/** Limits of a definition. A run with more steps is split by `pipeline` steps or by `forEach`. */
export const pipelineLimits = { steps: 2_500, bytes: 1_000_000, expression: 4_000, items: 10_000, depth: 8 } as const;

/** A name is also an identifier of JSONata, so that expressions need no quotes. */
const name = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_]{0,63}$/, "must be 1–64 letters, digits and underscores, starting with a letter");

export const pipelineName = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9-]{0,62}$/,
    "must be 1–63 lower-case letters, digits and hyphens, starting with a letter or digit",
  );

export const valueTypes = ["string", "number", "integer", "boolean", "array", "object"] as const;
const valueType = z.enum(valueTypes);
export type ValueType = z.output<typeof valueType>;

const parameter = z.strictObject({
  type: valueType,
  default: z.unknown().optional(),
  enum: z.array(z.unknown()).min(1).optional(),
  description: z.string().max(1_000).optional(),
});

const values = z.record(z.string(), z.unknown());

const functionOfModule = z.strictObject({
  /** Path of a module whose default export is the function. The CLI bundles it and fills in the digests. */
  module: z.string().min(1).max(1_000),
  sha256: sha256.optional(),
  /** Digest of each source file of the bundle, so that a miss of the cache can name the changed one. */
  files: z.record(z.string(), sha256).optional(),
});

/** The kinds of steps: a step has exactly one of these fields. */
const kindFields = {
  /** A module of the user, or the ARN of a Lambda function. */
  function: z.union([z.string().min(1).max(1_000), functionOfModule]),
  /** A job, as in `job.yaml`. Its values may be expressions. */
  train: values,
  /** An operation of the API, by its id. */
  api: z.strictObject({
    operation: z.string().max(100),
    params: values.optional(),
    query: values.optional(),
    body: z.unknown().optional(),
  }),
  /** A run of another pipeline, whose output is the object of its steps' outputs. */
  pipeline: z.strictObject({
    name: z.union([pipelineName, z.string().startsWith("${")]),
    parameters: values.optional(),
  }),
  /** The message with which the run fails. */
  fail: z.string().max(10_000),
} as const;

export const stepKinds = [
  "function",
  "train",
  "api",
  "pipeline",
  "fail",
] as const satisfies readonly (keyof typeof kindFields)[];
export type StepKind = (typeof stepKinds)[number];

const stepFields = z.strictObject({
  ...z.object(kindFields).partial().shape,
  /** The function's argument. Expressions in it are `${…}`. */
  input: values.optional(),
  /** Steps that must have ended before, next to those that its expressions name. */
  after: z.array(name).max(pipelineLimits.steps).optional(),
  /** The step is skipped unless this expression is true. */
  when: z.string().optional(),
  /** The step runs once for each item of this list; its output is the list of their outputs. */
  forEach: z.union([z.string(), z.array(z.unknown())]).optional(),
  /** Maximum items at the same time. */
  concurrency: z.int().min(1).max(1_000).default(40),
  /** `all`: skipped if a parent was skipped. `any`: skipped if all parents were. */
  join: z.enum(["all", "any"]).default("all"),
  /** Further attempts after a failure. */
  retries: z.int().min(0).max(10).default(0),
  /** Time limit of one attempt. */
  minutes: z
    .number()
    .positive()
    .max(60 * 24 * 30)
    .default(60 * 24),
  /** Whether an equal step reuses the output. Default: functions and trainings. */
  cache: z.boolean().optional(),
  /** Values on which the output depends and that are not in the input, e.g. the version of a data source. */
  environment: values.optional(),
  /** Types of the output's fields. The planner checks references to them, and the output is checked at the end. */
  output: z.record(z.string(), valueType).optional(),
  /** Origin of a job's code; the CLI fills it in. */
  code: codeReference.optional(),
});

export const stepDefinition = stepFields.check((context) => {
  const kinds = stepKinds.filter((kind) => context.value[kind] !== undefined);
  if (kinds.length === 1) return;
  const message = `must have exactly one of ${stepKinds.join(", ")}; it has ${kinds.join(" and ") || "none"}`;
  context.issues.push({ code: "custom", message, input: context.value });
});

const steps = z.record(name, stepDefinition);

export const pipelineDefinition = z.strictObject({
  name: pipelineName,
  description: z.string().max(10_000).optional(),
  parameters: z.record(name, parameter).default({}),
  steps: steps.refine((all) => Object.keys(all).length > 0, "must have a step"),
  /** Steps that run at the end, whatever happened before. */
  finally: steps.default({}),
  /** `stop`: a failure cancels the other steps. `finish`: steps that do not depend on it go on. */
  onFailure: z.enum(["stop", "finish"]).default("stop"),
  /** A run that takes longer fails. */
  limits: z
    .strictObject({
      hours: z
        .number()
        .positive()
        .max(24 * 365),
    })
    .optional(),
});
export interface PipelineDefinition extends Shape<typeof pipelineDefinition> {}
export interface StepDefinition extends Shape<typeof stepDefinition> {}

export function kindOf(step: StepDefinition): StepKind {
  return stepKinds.find((kind) => step[kind] !== undefined)!;
}
