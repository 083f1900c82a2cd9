import { type Directions, lessIsBetter } from "../../evaluation/metric-goal";
import type { ChampionComparison } from "../../evaluation/shapes";
import { defaultNoRegression, type JobGates, type NoRegressionRule, type PolicyRules } from "../../runs/gate-rules";
import type { GateCheck } from "./verdict";

/** The comparison of a candidate with the champion. `missing`: they could be compared, but were not. */
export type CandidateComparison =
  | ChampionComparison
  | { readonly kind: "same-weights" }
  | { readonly kind: "missing"; readonly reason: string };

export interface ComparedChampion {
  readonly version: number;
  /** By the task's default metric. */
  readonly comparison: CandidateComparison;
  /** By the metrics that rules name. */
  readonly byMetric?: ReadonlyMap<string, CandidateComparison>;
}

interface Measured {
  readonly metrics: Readonly<Record<string, number>>;
  /** The metric that suits the task, by which the gate compares if no rule names one. */
  readonly primaryMetric: string;
}

type Rules = RegressionRequirement;

/** Compares with the champion. A waived rule reports and passes. @param named a rule's metric; default: primary */
export function noRegression(
  champion: ComparedChampion,
  { metrics, primaryMetric }: Measured,
  rules: Rules,
  named?: string,
  directions?: Directions,
): GateCheck {
  const { version } = champion;
  const comparison = (named === undefined ? undefined : champion.byMetric?.get(named)) ?? champion.comparison;
  const metric = named ?? (comparison.kind === "compared" ? comparison.metric : primaryMetric);
  const { passed, ...check } = judged({ version, comparison }, metric, metrics, rules, directions);
  if (rules.waived) {
    const evidence = `waived by the policy (noRegression: waived); ${check.evidence}`;
    return { ...check, passed: true, ...(passed ? {} : { waived: true }), evidence };
  }
  const evidence = `${check.evidence}${remarks(passed, rules)}`;
  return { ...check, passed, evidence };
}

/** Explains which declared rules did not apply, and where the applied rule comes from. */
function remarks(passed: boolean, { from, milder }: Rules): string {
  const ignored =
    milder.length === 0 ? "" : `; ignored, because the model's rule is stricter: the job's ${milder.join(", ")}`;
  const declared =
    passed || from !== "default" ? "" : "; default rule, which noRegression of the model's policy can change";
  return `${ignored}${declared}`;
}

function judged(
  { version, comparison }: ComparedChampion,
  metric: string,
  metrics: Readonly<Record<string, number>>,
  rules: Rules,
  directions: Directions | undefined,
): GateCheck {
  const value = metrics[metric] ?? null;
  if (comparison.kind === "same-weights") {
    const evidence = `same weights as version ${version}`;
    return { gate: "no-regression", metric, value, limit: value, passed: true, evidence };
  }
  if (comparison.kind === "missing") {
    const evidence = `not compared with version ${version}: ${comparison.reason}`;
    return { gate: "no-regression", metric, value, limit: null, passed: false, evidence };
  }
  if (comparison.kind === "incompatible") {
    const passed = rules.incompatible === "pass";
    const evidence =
      `not compared with version ${version}: ${comparison.reasons.join("; ")}; ` +
      `${passed ? "allowed" : "refused"} by the rule (incompatibleChampion of the job, noRegression.incompatible of the policy)`;
    return { gate: "no-regression", metric, value, limit: null, passed, ...(passed ? { waived: true } : {}), evidence };
  }
  return gainCheck(comparison, rules, lessIsBetter(metric, directions));
}

/** Returns the candidate's gain over the champion, positive if better, and its interval. */
function gainCheck(
  comparison: Extract<ChampionComparison, { kind: "compared" }>,
  rules: Rules,
  less: boolean,
): GateCheck {
  const { metric, candidateValue, championValue, difference, lower, upper } = comparison;
  const { confidence, rows, resamples, seed } = comparison;
  const interval = resamples === 0 ? noInterval : shownInterval(comparison, signed);
  const [worst, best] = less ? [-upper, -lower] : [lower, upper];
  const passed = (rules.rule === "credible" ? best : worst) >= -rules.tolerance;
  const ruling = worst > 0 ? "significant improvement" : rulingOf(passed, rules, less);
  return {
    gate: "no-regression",
    metric,
    value: candidateValue,
    limit: championValue,
    passed,
    evidence:
      `${metric} ${shownNumber(candidateValue)}, version ${comparison.champion} ${shownNumber(championValue)} on the same ${rows} rows: ` +
      `difference ${signed(difference)}, ${interval}; ${ruling}`,
    interval: { difference, lower, upper, confidence, rows, resamples, seed },
  };
}

/** Evidence of a metric that is known for all rows together. Its interval is its difference. */
const noInterval = "no interval, because the module computes the metric for all rows together";

function rulingOf(passed: boolean, { rule, tolerance }: Rules, less: boolean): string {
  const limit = tolerance === 0 ? "0" : signed(less ? tolerance : -tolerance);
  const worse = less ? "above" : "below";
  if (rule === "credible") {
    return passed
      ? `no significant regression: the interval is not entirely ${worse} ${limit}`
      : `regression: the interval is entirely ${worse} ${limit}`;
  }
  return passed
    ? `regression excluded: no part of the interval is ${worse} ${limit}`
    : `regression not excluded: part of the interval is ${worse} ${limit}`;
}

export type RegressionRule = NoRegressionRule["rule"];

/** The gates that a job declares. An absent member means the model's own rule. */
export interface JobEvaluation {
  readonly thresholds?: Readonly<Record<string, number>>;
  readonly directions?: Directions | undefined;
  readonly regressionTolerance?: number;
  readonly regressionRule?: RegressionRule;
  readonly incompatibleChampion?: "refuse" | "pass";
  readonly regressionMetric?: string;
  readonly gates?: JobGates;
}

export interface RegressionRequirement extends Omit<NoRegressionRule, "metric"> {
  /** Metrics that are compared: the model's, and that of the job. `undefined`: the task's default. */
  readonly metrics: readonly (string | undefined)[];
  /** Origin of the rule. `default`: the policy has none. */
  readonly from: "default" | "policy" | "job";
  /** Whether neither the policy nor the job requires the comparison. It is then only reported. */
  readonly waived: boolean;
  /** Limits of the job that are milder than the model's. They do not apply. */
  readonly milder: readonly string[];
}

/**
 * Returns the model's rule, made stricter by the job's rule if that is stricter. The model's rule comes from its
 * policy, or is the default: the author of a job cannot loosen the gate of the model's owners. If the policy waives the
 * rule, a job may still require it for itself.
 */
export function regressionOf(job: JobEvaluation, { noRegression }: PolicyRules): RegressionRequirement {
  const { regressionTolerance: tolerance, regressionRule: rule, incompatibleChampion: incompatible } = job;
  const jobMetric = job.regressionMetric;
  if (noRegression === "waived") {
    const declared = [tolerance, rule, incompatible, jobMetric].some((setting) => setting !== undefined);
    const limits = {
      tolerance: tolerance ?? defaultNoRegression.tolerance,
      rule: rule ?? defaultNoRegression.rule,
      incompatible: incompatible ?? defaultNoRegression.incompatible,
    };
    return { ...limits, metrics: [jobMetric], from: declared ? "job" : "policy", waived: !declared, milder: [] };
  }
  const model: NoRegressionRule = noRegression ?? defaultNoRegression;
  const milder = [
    ...(tolerance !== undefined && tolerance > model.tolerance ? [`regressionTolerance ${tolerance}`] : []),
    ...(rule === "credible" && model.rule === "excluded" ? ["regressionRule credible"] : []),
    ...(incompatible === "pass" && model.incompatible === "refuse" ? ["incompatibleChampion pass"] : []),
  ];
  return {
    tolerance: Math.min(tolerance ?? model.tolerance, model.tolerance),
    rule: rule === "excluded" ? rule : model.rule,
    incompatible: incompatible === "refuse" ? incompatible : model.incompatible,
    metrics: jobMetric === undefined || jobMetric === model.metric ? [model.metric] : [model.metric, jobMetric],
    from: noRegression === undefined ? "default" : "policy",
    waived: false,
    milder,
  };
}

/** Formats a number as evidence shows it: five significant digits, whole numbers with a decimal (`1.0`). */
export function shownNumber(value: number): string {
  const rounded = Number(value.toPrecision(5));
  return Number.isInteger(rounded) && Math.abs(rounded) < 1e15 ? rounded.toFixed(1) : String(rounded);
}

function signed(value: number): string {
  return `${value > 0 ? "+" : ""}${shownNumber(value)}`;
}

/** Formats an interval: `95 % CI [0.9, 1.0]`. */
export function shownInterval(
  { lower, upper, confidence }: { readonly lower: number; readonly upper: number; readonly confidence: number },
  show: (value: number) => string = shownNumber,
): string {
  return `${Math.round(confidence * 100)} % CI [${show(lower)}, ${show(upper)}]`;
}

/** Formats `0.95 < 0.97`, with all digits if five would show both as equal. @param relation of first to second */
export function compared(value: number, relation: string, limit: number): string {
  const same = shownNumber(value) === shownNumber(limit) && value !== limit;
  const [left, right] = same ? [String(value), String(limit)] : [shownNumber(value), shownNumber(limit)];
  return `${left} ${relation} ${right}`;
}
