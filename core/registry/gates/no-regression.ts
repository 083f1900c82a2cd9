import type { ChampionComparison } from "../../evaluation/comparison";
import { lessIsBetter } from "../../evaluation/metric-names";
import type { RegressionRequirement } from "./regression-rule";
import type { GateCheck } from "./verdict";
import { shownInterval, shownNumber, signed } from "./wording";

/** The model in production, as it was compared with the candidate. */
export interface MetChampion {
  readonly version: number;
  /** `same`: it has the same weights as the candidate. `unmet`: they could be compared, but were not. */
  readonly comparison: ChampionComparison | "same" | { readonly kind: "unmet"; readonly reason: string };
  /** The same by metrics that rules name. */
  readonly byMetric?: ReadonlyMap<string, MetChampion["comparison"]>;
}

type Rules = RegressionRequirement;

/**
 * Compares a candidate with the champion. If the policy waives the rule, the comparison is reported and passes.
 *
 * @param named the metric that a rule names; default: that of the task
 */
export function noRegression(
  champion: MetChampion,
  metrics: Readonly<Record<string, number>>,
  rules: Rules,
  named?: string,
): GateCheck {
  const { version } = champion;
  const comparison = (named === undefined ? undefined : champion.byMetric?.get(named)) ?? champion.comparison;
  const metric = named ?? ("rmse" in metrics && !("accuracy" in metrics) ? "rmse" : "accuracy");
  const { passed, ...check } = judged({ version, comparison }, metric, metrics, rules);
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
  { version, comparison }: MetChampion,
  metric: string,
  metrics: Readonly<Record<string, number>>,
  rules: Rules,
): GateCheck {
  const value = metrics[metric] ?? null;
  if (comparison === "same") {
    const evidence = `same weights as version ${version}`;
    return { gate: "no-regression", metric, value, limit: value, passed: true, evidence };
  }
  if (comparison.kind === "unmet") {
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
  return compared(comparison, rules);
}

/** Returns the candidate's gain over the champion, positive if better, and its interval. */
function compared(comparison: Extract<ChampionComparison, { kind: "compared" }>, rules: Rules): GateCheck {
  const { metric, candidateValue, championValue, difference, lower, upper } = comparison;
  const { confidence, rows, resamples, seed } = comparison;
  const interval = shownInterval(comparison, signed);
  const less = lessIsBetter(metric);
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
