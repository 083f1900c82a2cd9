import * as z from "zod";
import { count, instant, type Shape, sha256 } from "../shapes";
import { pipelineName } from "./definition";

const failure = z.object({ code: z.string(), message: z.string() });
export type StepFailure = Shape<typeof failure>;

export const pipelineVersion = z
  .object({
    name: pipelineName,
    version: z.int().min(1),
    planSha256: sha256.meta({ description: "The canonical definition, in the content store." }),
    steps: count.meta({ description: "Number of its steps, those of `finally` included." }),
    createdBy: z.string(),
    authors: z
      .array(z.string())
      .optional()
      .meta({ description: "Immutable ids of the people who pushed it, if known." }),
    createdAt: instant,
  })
  .meta({ id: "PipelineVersion" });
export interface PipelineVersion extends Shape<typeof pipelineVersion> {}

export const pipelineRunStatuses = ["running", "succeeded", "failed", "cancelled"] as const;

const stepReference = z.object({ pipelineRunId: z.string(), step: z.string(), item: count.optional() });
/** A step of a run, or one item of it. */
export interface StepReference extends Shape<typeof stepReference> {}

export const pipelineRun = z
  .object({
    pipelineRunId: z.string(),
    team: z.string(),
    pipeline: pipelineName,
    version: z.int(),
    planSha256: sha256,
    parameters: z.record(z.string(), z.unknown()),
    status: z.enum(pipelineRunStatuses),
    stopping: z
      .object({ status: z.enum(["failed", "cancelled"]), failure })
      .optional()
      .meta({
        description: "Set once no further step may begin; `finally` still runs.",
      }),
    failure: failure.extend({ step: z.string().optional() }).optional(),
    noCache: z.array(z.string()).optional().meta({ description: "Steps that reuse no output; empty: all." }),
    resumedFrom: z.string().optional().meta({ description: "The run whose finished steps it takes over." }),
    parent: stepReference.optional().meta({ description: "The step of another run that started it." }),
    depth: count,
    cause: z.object({ trigger: z.string(), type: z.string(), id: z.string(), at: instant }).optional(),
    requestDigest: z.string(),
    createdBy: z.string(),
    submitters: z.array(z.string()).optional(),
    createdAt: instant,
    endedAt: instant.optional(),
  })
  .meta({ id: "PipelineRun" });
export interface PipelineRun extends Shape<typeof pipelineRun> {}

export const stepStatuses = ["running", "succeeded", "failed", "skipped", "cancelled"] as const;
export type StepStatus = (typeof stepStatuses)[number];

/** The parts of a step's key: digests, and small values as they are. A miss names the parts that changed. */
const keyParts = z.record(z.string(), z.string());
export type KeyParts = Shape<typeof keyParts>;

export const stepState = z
  .object({
    step: z.string(),
    item: count.optional(),
    status: z.enum(stepStatuses),
    attempt: z.int().min(1),
    why: z.string().optional().meta({ description: "`hit: as in RUN`, `miss: …`, or why it was skipped." }),
    key: z.string().optional(),
    keyParts: keyParts.optional(),
    input: z.unknown().optional().meta({ description: "The input, if it is small." }),
    output: z.unknown().optional().meta({ description: "The output, if it is small." }),
    outputSha256: sha256.optional().meta({ description: "The output as JSON in the content store." }),
    failure: failure.optional(),
    waitsFor: z.object({ kind: z.enum(["run", "pipeline"]), id: z.string() }).optional(),
    map: z.object({ total: count, next: count, ended: count, failed: count, itemsSha256: sha256 }).optional(),
    startedAt: instant,
    endedAt: instant.optional(),
  })
  .meta({ id: "PipelineStepState" });
export interface StepState extends Shape<typeof stepState> {}

export const referenceOf = ({ pipelineRunId }: PipelineRun, step: string, item?: number): StepReference =>
  item === undefined ? { pipelineRunId, step } : { pipelineRunId, step, item };

export const pathOf = ({ step, item }: Pick<StepReference, "step" | "item">): string =>
  item === undefined ? step : `${step}[${item}]`;
