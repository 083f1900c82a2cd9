import * as z from "zod";
import { severities } from "../drift/shapes";
import { jobSchema } from "../runs/job";
import { type CodeReference, job } from "../runs/shapes";
import { ExpressionError, isTimeZone, nextFire, parseExpression } from "../schedules/expression";
import { count, type DeepReadonly, instant, type Shape } from "../shapes";

/** A scheduled time that is received after this is late. EventBridge Scheduler has a precision of a minute. */
export const lateMinutes = 5;

const name = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9-]{0,62}$/,
    "must be 1–63 lower-case letters, digits and hyphens, starting with a letter or digit",
  );

/** At most 31 characters, because `<team>.<trigger>` is the name of a schedule, which has at most 64. */
export const triggerNameSchema = z
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

const timeZone = z
  .string()
  .max(50)
  .refine(isTimeZone, "must be a time zone of the IANA database, e.g. Europe/Berlin")
  .default("UTC");

/** The schedule of something that repeats. */
export const repeatedSchedule = z.strictObject({
  expression: expression.refine((text) => !text.trim().startsWith("at("), "must be rate(…) or cron(…)"),
  timeZone,
});

export const triggerSource = z.discriminatedUnion("type", [
  /** Each new version of the dataset. */
  z.strictObject({ type: z.literal("dataset"), dataset: name }),
  /** `rate(1 day)`, `cron(0 3 * * ? *)` or `at(2030-01-31T03:00:00)`, in a time zone of the IANA database. */
  z.strictObject({ type: z.literal("schedule"), expression, timeZone }),
  /** Drift of at least this severity that a monitor finds. */
  z.strictObject({ type: z.literal("drift"), monitor: name, severity: z.enum(severities).default("warning") }),
  /** A version of the model gets the stage or alias `to`. */
  z.strictObject({
    type: z.literal("model"),
    model: z.string().min(1).max(250),
    to: z.string().min(1).max(250).default("production"),
  }),
  /** A run of the pipeline that ends with this status. */
  z.strictObject({
    type: z.literal("pipeline"),
    pipeline: name,
    status: z.enum(["succeeded", "failed", "cancelled"]).default("succeeded"),
  }),
  /** A signed request to `/hooks/{team}/{trigger}`. */
  z.strictObject({ type: z.literal("webhook") }),
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

const startOf = <Schema extends z.ZodType>(job: Schema) =>
  z.strictObject({
    job: job.optional(),
    /** Origin of the job. The job itself names the bundle of a user's module. */
    code: code.default({}),
    pipeline: name.optional(),
    /** Values of the pipeline's parameters. `${cause.FIELD}` in a text is a field of the cause. */
    parameters: z.record(z.string(), z.unknown()).default({}),
  });

const settings = {
  concurrency: z.enum(["queue", "skip", "replace", "allow"]).default("queue").meta({
    description:
      "The action of a cause while a run of the trigger is open: wait, the oldest first; start no run; cancel the open run; start another.",
  }),
  catchUp: z
    .strictObject({
      policy: z.enum(["all", "last", "none"]).default("all"),
      windowMinutes: z.int().min(1).max(525_600).default(1_440),
    })
    .prefault({})
    .meta({
      description: `The scheduled times that start a run more than ${lateMinutes} minutes late: all, none, or those after which no other is due. None later than the window.`,
    }),
};

const enabled = z.boolean().default(true);

export const triggerDefinitionOf = (job: typeof jobSchema) =>
  z
    .strictObject({
      name: triggerNameSchema,
      on: triggerSource,
      start: startOf(job).refine(
        ({ job, pipeline }) => (job === undefined) !== (pipeline === undefined),
        "must have either job or pipeline",
      ),
      ...settings,
      /** A cause within this time after the last start waits. */
      cooldownMinutes: z.int().min(0).max(525_600).optional().meta({ description: "Default: 60 for drift, else 0." }),
      enabled,
    })
    .superRefine(({ on, start }, context) => {
      if (start.job === undefined) return;
      const [dataset, version] = start.job.dataset.split("@");
      if (version !== undefined && version !== "latest") {
        const message = `must not name a version, because a trigger trains on the newest version when it fires; write ${dataset} or ${dataset}@latest`;
        context.addIssue({ code: "custom", path: ["start", "job", "dataset"], message, input: start.job.dataset });
      }
      if (start.job.registerAs === undefined) {
        const message = `must be given: a trigger trains versions of a model; write registerAs: ${start.job.experiment}`;
        context.addIssue({ code: "custom", path: ["start", "job", "registerAs"], message });
      }
      if (on.type === "dataset" && on.dataset !== dataset) {
        const message = `must be ${dataset}, the dataset of the job: a new version of another dataset does not change what the job trains on`;
        context.addIssue({ code: "custom", path: ["on", "dataset"], message, input: on.dataset });
      }
    })
    .transform((trigger) => ({
      ...trigger,
      // Several windows of a monitor report the same drift.
      cooldownMinutes: trigger.cooldownMinutes ?? (trigger.on.type === "drift" ? 60 : 0),
    }));

export const triggerDefinitionSchema = triggerDefinitionOf(jobSchema);

export type TriggerDefinition = DeepReadonly<z.output<typeof triggerDefinitionSchema>>;
export type TriggerDefinitionInput = z.input<typeof triggerDefinitionSchema>;

const on = triggerSource.meta({ id: "TriggerSource", description: "The events that are causes of the trigger." });

export const trigger = z
  .object({
    name: z.string(),
    on,
    start: startOf(job),
    ...settings,
    cooldownMinutes: count,
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
  .meta({ id: "Trigger" });
export interface Trigger extends Shape<typeof trigger> {}

export const triggerState = z
  .object({
    trigger,
    starts: count.meta({ description: "Number of runs started so far." }),
    open: z.array(z.string()).optional().meta({ description: "Causes whose runs were open at the last start." }),
    lastStartedAt: instant.optional(),
    scheduledRevision: z.int().optional().meta({ description: "Revision of the schedule in the Scheduler." }),
    lastFailure: z
      .object({ cause: z.string(), code: z.string(), message: z.string(), at: instant })
      .optional()
      .meta({ description: "The latest cause for which no run could be created." }),
  })
  .meta({ id: "TriggerState", description: "A trigger and its state." });
export interface TriggerState extends Shape<typeof triggerState> {}

/** Returns the rule that an expression breaks; `undefined` if it is valid. */
function expressionProblem(text: string): string | undefined {
  try {
    parseExpression(text);
    return undefined;
  } catch (error) {
    if (error instanceof ExpressionError)
      return `must be rate(value unit), cron(minutes hours day-of-month month day-of-week year) or at(yyyy-mm-ddThh:mm:ss): ${error.message}`;
    throw error;
  }
}

/**
 * Returns up to `max` scheduled times after a time, in milliseconds. Empty for a rate, whose start only the Scheduler
 * knows.
 */
export function scheduledTimes({ on, enabled, deletedAt }: Trigger, after: number, max: number): readonly number[] {
  if (on.type !== "schedule" || !enabled || deletedAt !== undefined) return [];
  const expression = parseExpression(on.expression);
  const times: number[] = [];
  while (expression.kind !== "rate" && times.length < max) {
    const next = nextFire(expression, times.at(-1) ?? after, { timeZone: on.timeZone, base: after });
    if (next === undefined) break;
    times.push(next);
  }
  return times;
}

/** Returns why a late time of a schedule starts no run; `undefined` if it does. */
export function missedReason({ on, catchUp }: Trigger, at: string, now: number): string | undefined {
  if (on.type !== "schedule") return undefined;
  const due = Date.parse(at);
  const late = now - due;
  if (late > catchUp.windowMinutes * 60_000)
    return `it was received ${Math.floor(late / 60_000)} minutes late; catchUp.windowMinutes is ${catchUp.windowMinutes}`;
  if (catchUp.policy === "all" || late <= lateMinutes * 60_000) return undefined;
  if (catchUp.policy === "none") return `it was received more than ${lateMinutes} minutes late; catchUp.policy is none`;
  const next = nextFire(parseExpression(on.expression), due, { timeZone: on.timeZone, base: due });
  if (next === undefined || next > now) return undefined;
  return `the schedule was due again at ${new Date(next).toISOString()} when it was received; catchUp.policy is last`;
}
