import * as z from "zod";
import { sha256 } from "../digest";
import { severities } from "../drift/shapes";
import type { RunCause } from "../runs/shapes";
import { instant, type Shape, sha256 as sha256Digest } from "../shapes";

const cause = z
  .discriminatedUnion("type", [
    z.object({ type: z.literal("dataset"), at: instant, dataset: z.string(), version: z.int() }),
    z.object({ type: z.literal("schedule"), at: instant }),
    z.object({
      type: z.literal("drift"),
      at: instant,
      monitor: z.string(),
      windowEnd: instant,
      severity: z.enum(severities),
    }),
    z.object({
      type: z.literal("model"),
      at: instant,
      model: z.string(),
      version: z.int(),
      to: z.string(),
      revision: z.int(),
    }),
    z.object({
      type: z.literal("pipeline"),
      at: instant,
      pipeline: z.string(),
      pipelineRunId: z.string(),
      status: z.string(),
    }),
    z.object({ type: z.literal("webhook"), at: instant, digest: sha256Digest, body: z.string() }),
    z.object({
      type: z.literal("manual"),
      at: instant,
      by: z.string(),
      personId: z.string().optional(),
      key: z.string(),
    }),
  ])
  .meta({ id: "TriggerCause", description: "The event that started the trigger." });
export type Cause = Shape<typeof cause>;

export const causeRecord = z
  .object({
    trigger: z.string(),
    id: z.string().meta({ description: "The same for every event of the cause: `dataset:digits@2`." }),
    cause,
    state: z.enum(["waiting", "started", "submitted", "unchanged", "skipped", "failed"]),
    reason: z.string().optional().meta({ description: "Reason for waiting or skipping; what was not new." }),
    failure: z.object({ code: z.string(), message: z.string() }).optional(),
    runId: z.string().optional().meta({
      description: "The cause's run; for `unchanged` the run that trained the same job on the same version before.",
    }),
    work: sha256Digest.optional().meta({ description: "Digest of the job and the version of its dataset." }),
    heardAt: instant,
    changedAt: instant,
  })
  .meta({ id: "TriggerCauseRecord", description: "A cause and its result." });
export interface CauseRecord extends Shape<typeof causeRecord> {}

/** Returns the cause's id within a trigger. Repeated events of one cause have the same id. */
export function causeIdOf(cause: Cause): string {
  switch (cause.type) {
    case "dataset":
      return `dataset:${cause.dataset}@${cause.version}`;
    case "schedule":
      return `schedule:${cause.at}`;
    case "drift":
      return `drift:${cause.monitor}@${cause.windowEnd}`;
    case "model":
      return `model:${cause.model}@${cause.version}#${cause.revision}`;
    case "pipeline":
      return `pipeline:${cause.pipelineRunId}`;
    case "webhook":
      return `webhook:${cause.digest.slice(0, 16)}`;
    case "manual":
      return `manual:${sha256(cause.key).slice(0, 16)}`;
  }
}

export function idempotencyKeyOf(trigger: string, causeId: string): string {
  return `trigger ${trigger} ${causeId}`;
}

export function runCauseOf(trigger: string, cause: Cause): RunCause {
  return { trigger, type: cause.type, id: causeIdOf(cause), at: cause.at };
}

export function isOpenCause({ state }: Pick<CauseRecord, "state">): boolean {
  return state === "waiting" || state === "started";
}

/** Orders causes by their times. */
export const byTime = (a: Pick<CauseRecord, "id" | "cause">, b: Pick<CauseRecord, "id" | "cause">): number =>
  a.cause.at < b.cause.at || (a.cause.at === b.cause.at && a.id < b.id) ? -1 : 1;
