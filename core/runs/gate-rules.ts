import * as z from "zod";
import type { Shape } from "../shapes";

const column = z.string().min(1).max(255);
const metric = z.string().min(1).max(250);
/** Directions of metrics whose names tell none: a module's own, and those that clients log. Others: more is better. */
export const directionsSchema = z
  .record(metric, z.enum(["minimize", "maximize"]))
  .refine((directions) => Object.keys(directions).length <= 64, { error: "must be at most 64 metrics" });
const share = z.number().min(0).max(1);
const ofSlices = {
  column,
  /** Rows of the test split; a slice of fewer rows is shown and not judged. */
  minRows: z.int().min(2).max(1_000_000).default(30),
  /**
   * `credible`: refused if the interval shows that the limit is violated. `excluded`: refused unless the interval shows
   * that the limit holds.
   */
  rule: z.enum(["credible", "excluded"]).default("credible"),
};

const sliceRuleSchema = z
  .strictObject({
    metric,
    /** Limit of the worst slice: minimum, or maximum if less is better. */
    worst: z.number().optional(),
    /** Maximum difference between the best and the worst slice. */
    gap: z.number().min(0).optional(),
    ...ofSlices,
  })
  .refine(({ worst, gap }) => worst !== undefined || gap !== undefined, {
    error: "must have worst, gap or both",
  });
export interface SliceRule extends Omit<Shape<typeof sliceRuleSchema>, "rule"> {
  readonly rule?: "credible" | "excluded";
}

const fairnessRuleSchema = z
  .strictObject({
    /** A class of the label. Default: the second of two classes, or each of several in turn. */
    positive: z.union([z.string().max(1_000), z.number(), z.boolean()]).optional(),
    /** Limit for the rate of positive predictions. */
    demographicParity: share.optional(),
    /** Limit for true and false positive rates, the larger difference. */
    equalizedOdds: share.optional(),
    ...ofSlices,
  })
  .refine(({ demographicParity, equalizedOdds }) => demographicParity !== undefined || equalizedOdds !== undefined, {
    error: "must have demographicParity, equalizedOdds or both",
  });
/** Rule for a column's groups; differences between the largest and the smallest rate, 0 to 1. */
export interface FairnessRule extends Omit<Shape<typeof fairnessRuleSchema>, "rule"> {
  readonly rule?: "credible" | "excluded";
}

const checkName = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9-]{0,62}$/,
    "must be 1–63 lower-case letters, digits and hyphens, starting with a letter or digit",
  );

const httpCheck = z.strictObject({
  kind: z.literal("http"),
  name: checkName,
  /** https; on one machine also http to a loopback address. */
  url: z.url({ protocol: /^https?$/ }).max(2_000),
  timeoutSeconds: z.int().min(1).max(10).default(5),
  /** Selects the check's signing key. A higher number gives another key. */
  keyGeneration: z.int().min(1).max(1_000_000).default(1),
});
const commandCheck = z.strictObject({
  kind: z.literal("command"),
  name: checkName,
  /** Program and arguments, as `ringmaster models check` shows them to people. */
  command: z.array(z.string().max(1_000)).min(1).max(64),
  timeoutSeconds: z.int().min(1).max(86_400).default(3_600),
});
/** A user's own check. Passes with exit code 0, or with status 200 and `{"passed": true}`. */
export type ExternalCheck =
  | Shape<typeof commandCheck>
  | (Omit<Shape<typeof httpCheck>, "keyGeneration"> & { readonly keyGeneration?: number });

const noRegressionSchema = z.strictObject({
  /** Permitted loss of the metric, absolute. */
  tolerance: share.default(0),
  /** `credible`: refused if a regression is shown. `excluded`: refused unless a regression is excluded. */
  rule: z.enum(["credible", "excluded"]).default("credible"),
  /** The result for a candidate whose champion cannot read the rows. */
  incompatible: z.enum(["refuse", "pass"]).default("refuse"),
  /** Metric that is compared. Default: the primary metric of the task (docs/gates.md). */
  metric: metric.optional(),
});
export interface NoRegressionRule extends Shape<typeof noRegressionSchema> {}

/**
 * The rule of a model whose policy has none: a version that replaces the champion must not be shown to be worse. A job
 * may be stricter, not milder.
 */
export const defaultNoRegression: NoRegressionRule = noRegressionSchema.parse({});

/**
 * Requirements for a model's versions before they serve, declared once for the model. A job's own `evaluation` values
 * are added; the stricter of two limits applies.
 */
export const policyRulesSchema = z.strictObject({
  /** Minimum of a metric of the whole test split, or maximum if less is better (`logLoss`, `rmse`, …). */
  thresholds: z
    .record(metric, z.number())
    .refine((thresholds) => Object.keys(thresholds).length <= 64, { error: "must be at most 64 metrics" })
    .default({}),
  directions: directionsSchema.optional(),
  /**
   * Comparison with the champion on the same rows. Default: `defaultNoRegression`. `waived`: a regression refuses
   * nobody, and each verdict says so.
   */
  noRegression: z.union([noRegressionSchema, z.literal("waived")]).optional(),
  slices: z.array(sliceRuleSchema).max(16).default([]),
  fairness: z.array(fairnessRuleSchema).max(16).default([]),
  /** 99th percentile of the time for one row's prediction. */
  latency: z.strictObject({ p99Ms: z.number().gt(0).max(3_600_000) }).optional(),
  /** Size of weights and topology together. */
  size: z.strictObject({ bytes: z.int().min(1) }).optional(),
  checks: z
    .array(z.discriminatedUnion("kind", [httpCheck, commandCheck]))
    .max(16)
    .refine((checks) => new Set(checks.map(({ name }) => name)).size === checks.length, {
      error: "must have distinct names",
    })
    .default([]),
});
export interface PolicyRules extends Omit<Shape<typeof policyRulesSchema>, "slices" | "fairness" | "checks"> {
  readonly slices: readonly SliceRule[];
  readonly fairness: readonly FairnessRule[];
  readonly checks: readonly ExternalCheck[];
}

/** Gates that a job may declare in addition to its thresholds and the comparison with the champion. */
export const jobGatesSchema = policyRulesSchema.pick({ slices: true, fairness: true, latency: true, size: true });
export type JobGates = Shape<typeof jobGatesSchema>;
