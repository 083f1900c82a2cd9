import * as z from "zod";
import { category, count, type Shape } from "../shapes";

const columnName = z
  .string()
  .regex(/^[^\p{Cc}\p{Cs}]{1,128}$/u, "must be 1–128 characters, none a control character")
  .refine((name) => name !== "__proto__", "must not be __proto__, which JavaScript keeps for itself");

const planName = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, "must be 1–63 lower-case letters, digits and hyphens");

/** A duration as text: `90s`, `15m`, `12h`, `7d`. */
const duration = z.string().regex(/^[1-9]\d{0,8}(?:s|m|h|d)$/, "must be a duration: 90s, 15m, 12h or 7d");

const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

export function durationMs(text: string): number {
  return Number(text.slice(0, -1)) * unitMs[text.slice(-1)]!;
}

/** Texts of a plan are part of queries: without U+0000 and halves of surrogate pairs. */
const isStorable = (text: string) => !/[\0\p{Cs}]/u.test(text);
const notStorable = "must have no U+0000 and no half of a surrogate pair";

const common = {
  name: columnName.optional().meta({ description: "Name of the result; default: <column>_<kind>." }),
  output: z.boolean().default(true).meta({ description: "false: only later steps use the result." }),
};
const numeric = {
  ...common,
  column: columnName,
  impute: z
    .union([z.enum(["mean", "median"]), z.number()])
    .optional()
    .meta({ description: "Replaces a missing value, before the step's formula." }),
  indicator: z.boolean().default(false).meta({ description: "Adds <name>_missing, 1 where the value is missing." }),
};
const categorical = {
  ...common,
  column: columnName,
  impute: z
    .string()
    .max(1_000)
    .refine(isStorable, notStorable)
    .optional()
    .meta({ description: "Replaces a missing category." }),
};
const values = z
  .array(category.refine((value) => isStorable(String(value)), notStorable))
  .min(1)
  .max(100_000)
  .optional();
const minCount = z.int().min(1).default(1).meta({ description: "Rarer categories count as unseen." });
const buckets = z.int().min(2).max(65_536);
const cyclicParts = ["month", "day", "dayOfYear", "dayOfWeek", "hour", "minute", "minuteOfDay"] as const;
const dateParts = [...cyclicParts, "year", "weekend", "days"] as const;
export type DatePart = (typeof dateParts)[number];

export const planStep = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("number"), ...numeric }),
  z.strictObject({ kind: z.literal("standardize"), ...numeric }),
  z.strictObject({ kind: z.literal("minmax"), ...numeric, clip: z.boolean().default(false) }),
  z.strictObject({ kind: z.literal("robust"), ...numeric }),
  z.strictObject({ kind: z.literal("log"), ...numeric, offset: z.number().default(1) }),
  z.strictObject({
    kind: z.literal("bucketize"),
    ...numeric,
    boundaries: z.array(z.number()).min(1).max(1_000).optional(),
    quantiles: z.int().min(2).max(1_000).optional(),
  }),
  z.strictObject({ kind: z.literal("one-hot"), ...categorical, values, minCount }),
  z.strictObject({ kind: z.literal("ordinal"), ...categorical, values, minCount, unknown: z.number().default(-1) }),
  z.strictObject({ kind: z.literal("hash"), ...categorical, buckets }),
  z.strictObject({
    kind: z.literal("target"),
    ...categorical,
    target: columnName,
    foldBy: columnName,
    folds: z.int().min(2).max(100).default(5),
    smoothing: z.number().min(0).default(10),
    positive: category.optional().meta({
      description: "The label's value that counts as 1, all others as 0; required for a label of texts.",
    }),
  }),
  z.strictObject({ kind: z.literal("length"), ...common, column: columnName }),
  z.strictObject({
    kind: z.literal("ngrams"),
    ...common,
    column: columnName,
    n: z.int().min(1).max(16).default(3),
    buckets: z.int().min(2).max(4_096),
    maxCharacters: z.int().min(1).max(10_000).default(1_000),
  }),
  z.strictObject({ kind: z.literal("date"), ...common, column: columnName, part: z.enum(dateParts) }),
  z.strictObject({
    kind: z.literal("cycle"),
    ...common,
    column: columnName,
    part: z.enum(cyclicParts).optional(),
    period: z.number().positive().optional(),
  }),
  z.strictObject({ kind: z.literal("ratio"), ...common, numerator: columnName, denominator: columnName }),
  z.strictObject({ kind: z.literal("product"), ...common, columns: z.array(columnName).min(2).max(4) }),
  z.strictObject({ kind: z.literal("cross"), ...common, columns: z.array(columnName).min(2).max(4) }),
  z.strictObject({
    kind: z.literal("window"),
    ...common,
    column: columnName,
    aggregate: z.enum(["count", "sum", "mean", "minimum", "maximum"]),
    over: duration,
  }),
]);
export type PlanStep = Shape<typeof planStep>;
export type StepKind = PlanStep["kind"];
export type StepOf<Kind extends StepKind> = Extract<PlanStep, { readonly kind: Kind }>;

export type NamedStep = PlanStep & { readonly name: string };

const planShape = {
  name: planName,
  owner: z.string().max(200).optional(),
  description: z.string().max(2_000).optional(),
  entities: z.array(columnName).max(8).default([]).meta({ description: "Columns that identify an entity." }),
  eventTime: columnName.optional().meta({ description: "Column of the time for which a row holds." }),
  creationTime: columnName.optional().meta({ description: "Column of the time at which a row became known." }),
  ttl: duration.optional().meta({ description: "Age above which a row is no longer used." }),
};

export const planFile = z.strictObject({ ...planShape, steps: z.array(planStep).max(1_000).default([]) });

/**
 * A feature plan: the steps that make features of columns. Its name, entities and times are those of the feature view that it
 * belongs to, if it does (`core/feature-store`).
 */
export interface FeaturePlan extends Omit<Shape<typeof planFile>, "steps"> {
  readonly steps: readonly NamedStep[];
}

const columnType = z.enum(["int", "float", "string", "bool", "timestamp"]);
export const planColumn = z.strictObject({ name: columnName, type: columnType });
export interface PlanColumn extends Shape<typeof planColumn> {}

const finite = z.number();
export const fittedValues = z.strictObject({
  fill: finite.optional().meta({ description: "Replaces a missing value." }),
  center: finite.optional().meta({ description: "Subtracted: mean, median or minimum." }),
  scale: finite.optional().meta({ description: "Divisor: deviation, interquartile range or range; never 0." }),
  boundaries: z.array(finite).optional(),
  values: z.array(category).optional().meta({ description: "The vocabulary." }),
  targets: z
    .strictObject({
      mean: finite,
      foldMeans: z.array(finite),
      categories: z.array(z.strictObject({ value: z.string(), mean: finite, foldMeans: z.array(finite) })),
    })
    .optional()
    .meta({ description: "Mean of the target by category: over all rows, and over the rows outside of each fold." }),
});
export interface FittedValues extends Shape<typeof fittedValues> {}

export const fittedPlan = z
  .strictObject({
    format: z.literal(1),
    view: z.strictObject({ ...planShape, steps: z.array(planStep.and(z.looseObject({ name: columnName }))) }),
    columns: z.array(planColumn),
    rows: count.meta({ description: "Number of rows on which it was fitted." }),
    fitted: z.record(z.string(), fittedValues),
  })
  .meta({ id: "FittedPlan", description: "A plan with the values that were fitted on the training split." });
/** A plan with its fitted values. Its JSON is stored. */
export interface FittedPlan {
  readonly format: 1;
  /** The plan. Stored transforms have it under this name. */
  readonly view: FeaturePlan;
  readonly columns: readonly PlanColumn[];
  readonly rows: number;
  readonly fitted: Readonly<Record<string, FittedValues>>;
}
