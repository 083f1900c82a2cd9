import * as z from "zod";
import type { DeepReadonly } from "../shapes";

/**
 * Requirements for a model's versions before they serve, declared once for the model. A job's own `evaluation` values
 * are added; the stricter of two limits applies.
 */
export interface PolicyRules {
  /** Minimum of a metric of the whole test split, or maximum if less is better (`logLoss`, `rmse`, …). */
  readonly thresholds: Readonly<Record<string, number>>;
  /**
   * Comparison with the champion on the same rows. Default: `defaultNoRegression`. `waived`: a regression refuses
   * nobody, and each verdict says so.
   */
  readonly noRegression?: NoRegressionRule | "waived";
  readonly slices: readonly SliceRule[];
  readonly fairness: readonly FairnessRule[];
  /** 99th percentile of the time for one row's prediction. */
  readonly latency?: { readonly p99Ms: number };
  /** Size of weights and topology together. */
  readonly size?: { readonly bytes: number };
  readonly checks: readonly ExternalCheck[];
}

export interface NoRegressionRule {
  /** Metric that is compared. Default: accuracy, or RMSE for labels of type float. */
  readonly metric?: string;
  /** Permitted loss of the metric, absolute. */
  readonly tolerance: number;
  /** `credible`: refused if a regression is shown. `excluded`: refused unless a regression is excluded. */
  readonly rule: "credible" | "excluded";
  /** The result for a candidate whose champion cannot read the rows. */
  readonly incompatible: "refuse" | "pass";
}

/** Rule for the slices of a column. Slices of fewer rows are shown and not judged. */
export interface SliceRule {
  readonly column: string;
  readonly metric: string;
  readonly minRows: number;
  /** Limit of the worst slice: minimum, or maximum if less is better. */
  readonly worst?: number;
  /** Maximum difference between the best and the worst slice. */
  readonly gap?: number;
  /** The condition on the interval; default `credible`. */
  readonly rule?: "credible" | "excluded";
}

/** Rule for a column's groups; differences between the largest and the smallest rate, 0 to 1. */
export interface FairnessRule {
  readonly column: string;
  readonly minRows: number;
  /** The positive class. Default: the second of two classes, or each of several in turn. */
  readonly positive?: string | number | boolean;
  /** Limit for the rate of positive predictions. */
  readonly demographicParity?: number;
  /** Limit for true and false positive rates, the larger difference. */
  readonly equalizedOdds?: number;
  readonly rule?: "credible" | "excluded";
}

/** A user's own check. Passes with exit code 0, or with status 200 and `{"passed": true}`. */
export type ExternalCheck =
  | {
      readonly name: string;
      readonly kind: "command";
      /** Program and arguments. */
      readonly command: readonly string[];
      readonly timeoutSeconds: number;
    }
  | {
      readonly name: string;
      readonly kind: "http";
      readonly url: string;
      readonly timeoutSeconds: number;
      /** Selects the check's signing key. A higher number gives another key. */
      readonly keyGeneration?: number;
    };

/**
 * The rule of a model whose policy has none: a version that replaces the champion must not be shown to be worse. A job
 * may be stricter, not milder.
 */
export const defaultNoRegression: NoRegressionRule = { tolerance: 0, rule: "credible", incompatible: "refuse" };

const column = z.string().min(1).max(255);
const metric = z.string().min(1).max(250);
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

/** Limits for the worst slice's metric, and for the metric's largest difference between slices. */
export const sliceRuleSchema = z
  .strictObject({ metric, worst: z.number().optional(), gap: z.number().min(0).optional(), ...ofSlices })
  .refine(({ worst, gap }) => worst !== undefined || gap !== undefined, {
    error: "must have worst, gap or both",
  }) satisfies z.ZodType<SliceRule>;

/** Differences of rates between groups. */
export const fairnessRuleSchema = z
  .strictObject({
    /** A class of the label. Default: the second of two classes, or each of several in turn. */
    positive: z.union([z.string().max(1_000), z.number(), z.boolean()]).optional(),
    demographicParity: share.optional(),
    equalizedOdds: share.optional(),
    ...ofSlices,
  })
  .refine(({ demographicParity, equalizedOdds }) => demographicParity !== undefined || equalizedOdds !== undefined, {
    error: "must have demographicParity, equalizedOdds or both",
  }) satisfies z.ZodType<FairnessRule>;

const checkName = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9-]{0,62}$/,
    "must be 1–63 lower-case letters, digits and hyphens, starting with a letter or digit",
  );

export const externalCheckSchema = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("http"),
    name: checkName,
    /** https; on one machine also http to a loopback address. */
    url: z.url({ protocol: /^https?$/ }).max(2_000),
    timeoutSeconds: z.int().min(1).max(10).default(5),
    /** Selects the check's signing key. A higher number gives another key. */
    keyGeneration: z.int().min(1).max(1_000_000).default(1),
  }),
  z.strictObject({
    kind: z.literal("command"),
    name: checkName,
    /** Program and arguments, as `ringmaster models check` shows them to people. */
    command: z.array(z.string().max(1_000)).min(1).max(64),
    timeoutSeconds: z.int().min(1).max(86_400).default(3_600),
  }),
]) satisfies z.ZodType<ExternalCheck>;

/** Gates of a model for all its versions. If a job has the same gate, the stricter one applies. */
export const policyRulesSchema = z.strictObject({
  thresholds: z
    .record(metric, z.number())
    .refine((thresholds) => Object.keys(thresholds).length <= 64, { error: "must be at most 64 metrics" })
    .default({}),
  noRegression: z
    .union([
      z.strictObject({
        tolerance: share.default(defaultNoRegression.tolerance),
        rule: z.enum(["credible", "excluded"]).default(defaultNoRegression.rule),
        incompatible: z.enum(["refuse", "pass"]).default(defaultNoRegression.incompatible),
        metric: metric.optional(),
      }),
      z.literal("waived"),
    ])
    .optional(),
  slices: z.array(sliceRuleSchema).max(16).default([]),
  fairness: z.array(fairnessRuleSchema).max(16).default([]),
  latency: z.strictObject({ p99Ms: z.number().gt(0).max(3_600_000) }).optional(),
  size: z.strictObject({ bytes: z.int().min(1) }).optional(),
  checks: z
    .array(externalCheckSchema)
    .max(16)
    .refine((checks) => new Set(checks.map(({ name }) => name)).size === checks.length, {
      error: "must have distinct names",
    })
    .default([]),
}) satisfies z.ZodType<PolicyRules>;

/** Gates that a job may declare in addition to its thresholds and the comparison with the champion. */
export const jobGatesSchema = policyRulesSchema.pick({ slices: true, fairness: true, latency: true, size: true });
export type JobGates = DeepReadonly<z.output<typeof jobGatesSchema>>;
