import * as z from "zod";
import { severities } from "../drift/shapes";
import { jobSchema } from "../runs/job";
import { type CodeReference, codeReference, job } from "../runs/shapes";
import { ExpressionError, isTimeZone, nextFire, parseExpression } from "../schedules/expression";
import { count, type DeepReadonly, instant, type Shape } from "../shapes";

const name = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9-]{0,62}$/,
    "must be 1–63 lower-case letters, digits and hyphens, starting with a letter or digit",
  );

/** At most 31 characters, because `<team>.<rule>` is the name of a schedule, which has at most 64. */
export const ruleNameSchema = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9-]{0,30}$/,
    "must be 1–31 lower-case letters, digits and hyphens, starting with a letter or digit",
  );

const expression = z
  .string()
  .max(256)
  .superRefine((text, context) => {
    const problem = expressionProblem(text);
    if (problem !== undefined) context.addIssue({ code: "custom", message: problem, input: text });
  });

export const triggerSchema = z.discriminatedUnion("type", [
  /** Each new version of the dataset. */
  z.strictObject({ type: z.literal("dataset"), dataset: name }),
  /** `rate(1 day)` or `cron(0 3 * * ? *)`, in a time zone of the IANA database. */
  z.strictObject({
    type: z.literal("schedule"),
    expression,
    timeZone: z
      .string()
      .max(50)
      .refine(isTimeZone, "must be a time zone of the IANA database, e.g. Europe/Berlin")
      .default("UTC"),
  }),
  /** Drift of at least this severity that a monitor finds. */
  z.strictObject({ type: z.literal("drift"), monitor: name, severity: z.enum(severities).default("warning") }),
]);

const digest = z.string().regex(/^[0-9a-f]{64}$/, "must be a lower-case hex SHA-256");
const code = z.strictObject({
  repository: z.string().max(1_000).optional(),
  branch: z.string().max(255).optional(),
  commit: z.string().max(200).optional(),
  dirty: z.boolean().optional(),
  diffSha256: digest.optional(),
  moduleSha256: digest.optional(),
} satisfies Record<keyof CodeReference, z.ZodType>);

export const ruleDefinitionOf = (job: typeof jobSchema) =>
  z
    .strictObject({
      name: ruleNameSchema,
      trigger: triggerSchema,
      job,
      /** Origin of the job. The job itself names the bundle of a user's module. */
      code: code.default({}),
      /** A cause within this time after the last start waits. Of several, only the latest starts a run. */
      cooldownMinutes: z.int().min(0).max(525_600).optional().meta({ description: "Default: 60 for drift, else 0." }),
      /** A cause also waits while this many of the rule's runs are open. */
      maxConcurrentRuns: z.int().min(1).max(100).optional(),
    })
    .superRefine(({ trigger, job }, context) => {
      const [dataset, version] = job.dataset.split("@");
      if (version !== undefined && version !== "latest") {
        const message = `must not name a version, because a rule trains on the newest version when it fires; write ${dataset} or ${dataset}@latest`;
        context.addIssue({ code: "custom", path: ["job", "dataset"], message, input: job.dataset });
      }
      if (job.registerAs === undefined) {
        const message = `must be given: a rule trains versions of a model; write registerAs: ${job.experiment}`;
        context.addIssue({ code: "custom", path: ["job", "registerAs"], message });
      }
      if (trigger.type === "dataset" && trigger.dataset !== dataset) {
        const message = `must be ${dataset}, the dataset of the job: a new version of another dataset does not change what the job trains on`;
        context.addIssue({ code: "custom", path: ["trigger", "dataset"], message, input: trigger.dataset });
      }
    })
    .transform((rule) => ({
      ...rule,
      // Several windows of a monitor report the same drift.
      cooldownMinutes: rule.cooldownMinutes ?? (rule.trigger.type === "drift" ? 60 : 0),
    }));

export const ruleDefinitionSchema = ruleDefinitionOf(jobSchema);

export type RuleDefinition = DeepReadonly<z.output<typeof ruleDefinitionSchema>>;
export type RuleDefinitionInput = z.input<typeof ruleDefinitionSchema>;
export type Trigger = RuleDefinition["trigger"];

export const trigger = triggerSchema.meta({
  id: "RetrainingTrigger",
  description: "Trigger of retraining: a new version of a dataset, a time, or drift that a monitor finds.",
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
    since: instant.meta({ description: "Earlier events are not causes." }),
    createdBy: z.string(),
    authors: z.array(z.string()).optional().meta({
      description: "Ids of all authors of the definition. They count as submitters of its runs.",
    }),
    updatedBy: z.string().optional().meta({ description: "The actor that made the last change." }),
    createdAt: instant,
    updatedAt: instant,
    deletedAt: instant.optional(),
  })
  .meta({ id: "RetrainingRule" });
export interface RetrainingRule extends Shape<typeof retrainingRule> {}

export const ruleState = z
  .object({
    rule: retrainingRule,
    starts: count.meta({ description: "Number of runs started so far." }),
    lastStartedAt: instant.optional(),
    scheduledRevision: z.int().optional().meta({ description: "Revision of the schedule in the Scheduler." }),
    lastFailure: z
      .object({ cause: z.string(), code: z.string(), message: z.string(), at: instant })
      .optional()
      .meta({ description: "The latest cause for which no run could be created." }),
  })
  .meta({ id: "RetrainingRuleState", description: "A rule and its state." });
export interface RuleState extends Shape<typeof ruleState> {}

/** Returns the rule that an expression breaks; `undefined` if it is valid. */
function expressionProblem(text: string): string | undefined {
  try {
    if (parseExpression(text).kind !== "at") return undefined;
    return "must be rate(…) or cron(…), because a rule fires repeatedly; `ringmaster submit` runs a job once";
  } catch (error) {
    if (error instanceof ExpressionError)
      return `must be rate(value unit) or cron(minutes hours day-of-month month day-of-week year): ${error.message}`;
    throw error;
  }
}

/** Next times of a rule's cron expression. Empty for a rate: only the Scheduler knows its start. */
export function nextFirings(
  { trigger, enabled, deletedAt }: RetrainingRule,
  now: number,
  count = 3,
): readonly string[] {
  if (trigger.type !== "schedule" || !enabled || deletedAt !== undefined) return [];
  const expression = parseExpression(trigger.expression);
  const times: string[] = [];
  let after = now;
  while (expression.kind === "cron" && times.length < count) {
    const next = nextFire(expression, after, { timeZone: trigger.timeZone, base: now });
    if (next === undefined) break;
    times.push(new Date(next).toISOString());
    after = next;
  }
  return times;
}
