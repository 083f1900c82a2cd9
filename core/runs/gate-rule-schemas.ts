import { z } from "zod";
import type { DeepReadonly } from "../deep-readonly";
import {
  defaultNoRegression,
  type ExternalCheck,
  type FairnessRule,
  type PolicyRules,
  type SliceRule,
} from "./gate-rules";

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
