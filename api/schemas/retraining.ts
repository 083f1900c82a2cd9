import { z } from "zod";
import type { CauseRecord } from "../../core/retraining/cause";
import {
  type RetrainingRule,
  type RuleState,
  ruleDefinitionOf,
  severities,
  triggerSchema,
} from "../../core/retraining/rule";
import { count, instant, nextToken } from "./common";
import { codeReference, job, jobInput } from "./runs";

export const trigger = triggerSchema.meta({
  id: "RetrainingTrigger",
  description: "When to retrain: a new version of a dataset, a time, or drift that a monitor finds.",
});

export const ruleDefinition = ruleDefinitionOf(jobInput).meta({
  id: "RetrainingRuleDefinition",
  description: "When to retrain, and by which job. The job's dataset is without a version.",
});

export const retrainingRule = z
  .object({
    name: z.string(),
    trigger,
    job,
    code: codeReference,
    cooldownMinutes: count,
    maxConcurrentRuns: z.int().optional(),
    team: z.string(),
    revision: z.int().min(1),
    enabled: z.boolean(),
    pausedReason: z.string().optional(),
    since: instant.meta({ description: "What happened before is no cause." }),
    createdBy: z.string(),
    authors: z.array(z.string()).optional().meta({
      description: "Ids of all who have written the definition: they count as submitters of its runs.",
    }),
    updatedBy: z.string().optional().meta({ description: "Who made the last change." }),
    createdAt: instant,
    updatedAt: instant,
    deletedAt: instant.optional(),
  })
  .meta({ id: "RetrainingRule" }) satisfies z.ZodType<RetrainingRule>;

export const ruleState = z
  .object({
    rule: retrainingRule,
    starts: count.meta({ description: "Runs begun so far." }),
    lastStartedAt: instant.optional(),
    scheduledRevision: z.int().optional().meta({ description: "The revision that the Scheduler has." }),
    lastFailure: z
      .object({ cause: z.string(), code: z.string(), message: z.string(), at: instant })
      .optional()
      .meta({ description: "The latest cause that no run could be made of." }),
  })
  .meta({ id: "RetrainingRuleState", description: "A rule, and what became of it." }) satisfies z.ZodType<RuleState>;

export const rulePage = z.object({ items: z.array(ruleState), nextToken }).meta({ id: "RetrainingRulePage" });

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
      type: z.literal("manual"),
      at: instant,
      by: z.string(),
      personId: z.string().optional(),
      key: z.string(),
    }),
  ])
  .meta({ id: "RetrainingCause", description: "What happened." });

export const causeRecord = z
  .object({
    rule: z.string(),
    id: z.string().meta({ description: "The same however many events told of it: `dataset:digits@2`." }),
    cause,
    state: z.enum(["waiting", "started", "submitted", "skipped", "failed"]),
    reason: z.string().optional().meta({ description: "Why it waits or was skipped." }),
    failure: z.object({ code: z.string(), message: z.string() }).optional(),
    runId: z.string().optional(),
    heardAt: instant,
    changedAt: instant,
  })
  .meta({ id: "RetrainingCauseRecord", description: "What became of a cause." }) satisfies z.ZodType<CauseRecord>;

export const causePage = z.object({ items: z.array(causeRecord), nextToken }).meta({ id: "RetrainingCausePage" });
