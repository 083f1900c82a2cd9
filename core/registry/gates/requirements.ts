import { type Directions, lessIsBetter } from "../../evaluation/metric-goal";
import type { ExternalCheck, FairnessRule, PolicyRules, SliceRule } from "../../runs/gate-rules";
import { type JobEvaluation, type RegressionRequirement, type RegressionRule, regressionOf } from "./no-regression";

/** The requirements for one candidate: the job's gates and its model's; the stricter of two limits applies. */
export interface GateRequirements {
  readonly thresholds: Readonly<Record<string, number>>;
  readonly directions: Directions;
  readonly regression: RegressionRequirement;
  readonly slices: readonly SliceRule[];
  readonly fairness: readonly FairnessRule[];
  readonly latencyP99Ms?: number;
  readonly artifactBytes?: number;
  readonly checks: readonly ExternalCheck[];
}

/**
 * Combines the gates, each with the stricter limit: the higher threshold (the lower if less is better), the smaller
 * tolerance, gap, difference, time and size, `excluded` before `credible`, `refuse` before `pass`. Of two values of
 * `minRows` it is the smaller, so that more slices are judged.
 */
export function combine(job: JobEvaluation, policy: PolicyRules): GateRequirements {
  const { gates } = job;
  const directions = directionsOf(job, policy);
  return {
    thresholds: stricterThresholds(job.thresholds ?? {}, policy.thresholds, directions),
    directions,
    regression: regressionOf(job, policy),
    slices: merged([...(gates?.slices ?? []), ...policy.slices], ({ column, metric }) => [column, metric], bothSlices),
    fairness: merged(
      [...(gates?.fairness ?? []), ...policy.fairness],
      ({ column, positive }) => [column, positive],
      bothFairness,
    ),
    latencyP99Ms: smaller(gates?.latency?.p99Ms, policy.latency?.p99Ms),
    artifactBytes: smaller(gates?.size?.bytes, policy.size?.bytes),
    checks: policy.checks,
  };
}

export function needsSlices({ slices, fairness }: Pick<GateRequirements, "slices" | "fairness">): boolean {
  return slices.length + fairness.length > 0;
}

function stricterThresholds(
  job: Readonly<Record<string, number>>,
  policy: Readonly<Record<string, number>>,
  directions: Directions,
): Readonly<Record<string, number>> {
  const metrics = [...new Set([...Object.keys(job), ...Object.keys(policy)])];
  const stricter = (metric: string) => stricterLimit(lessIsBetter(metric, directions), job[metric], policy[metric])!;
  return Object.fromEntries(metrics.map((metric) => [metric, stricter(metric)]));
}

/** A job's direction of a metric that the model's policy names does not count: it could invert the model's limit. */
function directionsOf({ directions = {} }: JobEvaluation, policy: PolicyRules): Directions {
  const { thresholds, noRegression } = policy;
  const named = new Set([
    ...Object.keys(thresholds),
    typeof noRegression === "object" ? noRegression.metric : undefined,
  ]);
  const others = Object.entries(directions).filter(([metric]) => !named.has(metric));
  return { ...Object.fromEntries(others), ...policy.directions };
}

function stricterLimit(less: boolean, one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return less ? Math.min(one, other) : Math.max(one, other);
}

function smaller(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}

function stricterRule(one: RegressionRule | undefined, other: RegressionRule | undefined): RegressionRule {
  return one === "excluded" || other === "excluded" ? "excluded" : "credible";
}

function bothSlices(one: SliceRule, other: SliceRule): SliceRule {
  return {
    ...one,
    minRows: Math.min(one.minRows, other.minRows),
    worst: stricterLimit(lessIsBetter(one.metric), one.worst, other.worst),
    gap: smaller(one.gap, other.gap),
    rule: stricterRule(one.rule, other.rule),
  };
}

function bothFairness(one: FairnessRule, other: FairnessRule): FairnessRule {
  return {
    ...one,
    minRows: Math.min(one.minRows, other.minRows),
    demographicParity: smaller(one.demographicParity, other.demographicParity),
    equalizedOdds: smaller(one.equalizedOdds, other.equalizedOdds),
    rule: stricterRule(one.rule, other.rule),
  };
}

function merged<Rule>(
  rules: readonly Rule[],
  keyOf: (rule: Rule) => readonly unknown[],
  both: (one: Rule, other: Rule) => Rule,
): readonly Rule[] {
  const byKey = new Map<string, Rule>();
  for (const rule of rules) {
    const key = JSON.stringify(keyOf(rule));
    const before = byKey.get(key);
    byKey.set(key, before === undefined ? rule : both(before, rule));
  }
  return [...byKey.values()];
}
