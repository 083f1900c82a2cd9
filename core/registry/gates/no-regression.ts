import type { ChampionComparison } from "../../evaluation/champion";
import { lessIsBetter } from "../../evaluation/metric-direction";
import type { RegressionRequirement } from "./regression-rule";
import type { GateCheck } from "./verdict";
import { percent, round, signed } from "./wording";

/** The model in production, as the candidate met it. */
export interface MetChampion {
  readonly version: number;
  /** `same`: it has the candidate's very weights. `unmet`: they have not met, although they might have. */
  readonly comparison: ChampionComparison | "same" | { readonly kind: "unmet"; readonly reason: string };
}

type Rules = RegressionRequirement;

/** Holds a candidate against the champion. What the policy waives is judged as it would be, and told. */
export function noRegression(
  champion: MetChampion,
  metrics: Readonly<Record<string, number>>,
  rules: Rules,
): GateCheck {
  const { passed, ...check } = judged(champion, metrics, rules);
  if (rules.waived) {
    const evidence = `no regression is not asked for, noRegression is waived in the policy; ${check.evidence}`;
    return { ...check, passed: true, ...(passed ? {} : { waived: true }), evidence };
  }
  const evidence = `${check.evidence}${remarks(passed, rules)}`;
  return { ...check, passed, evidence };
}

/** What else somebody has to know who reads the sentence. */
function remarks(passed: boolean, { from, milder }: Rules): string {
  const ignored =
    milder.length === 0 ? "" : `; the job's ${milder.join(", ")} is milder than its model, and does not count`;
  const declared =
    passed || from !== "default" ? "" : "; by default: noRegression of the model's policy may say otherwise";
  return `${ignored}${declared}`;
}

function judged(
  { version, comparison }: MetChampion,
  metrics: Readonly<Record<string, number>>,
  rules: Rules,
): GateCheck {
  const metric = "rmse" in metrics && !("accuracy" in metrics) ? "rmse" : "accuracy";
  const value = metrics[metric] ?? null;
  if (comparison === "same") {
    const evidence = `it has the weights of version ${version}: there is nothing to lose`;
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
      `${passed ? "that may be" : "that is refused"} (evaluation.incompatibleChampion of the job, noRegression.incompatible of the policy)`;
    return { gate: "no-regression", metric, value, limit: null, passed, ...(passed ? { waived: true } : {}), evidence };
  }
  return compared(comparison, rules);
}

/** In the metric's good direction: the candidate's gain over the champion, and its interval. */
function compared(comparison: Extract<ChampionComparison, { kind: "compared" }>, rules: Rules): GateCheck {
  const { metric, candidateValue, championValue, difference, lower, upper } = comparison;
  const { confidence, rows, resamples, seed } = comparison;
  const less = lessIsBetter(metric);
  const [worst, best] = less ? [-upper, -lower] : [lower, upper];
  const passed = (rules.rule === "credible" ? best : worst) >= -rules.tolerance;
  const ruling = worst > 0 ? "better, and not by chance" : rulingOf(passed, rules, less);
  return {
    gate: "no-regression",
    metric,
    value: candidateValue,
    limit: championValue,
    passed,
    evidence:
      `${metric} is ${round(candidateValue)}, version ${comparison.champion} has ${round(championValue)} on the same ${rows} rows: ` +
      `${signed(difference)}, ${percent(confidence)} % interval ${signed(lower)} to ${signed(upper)}; ${ruling}`,
    interval: { difference, lower, upper, confidence, rows, resamples, seed },
  };
}

function rulingOf(passed: boolean, { rule, tolerance }: Rules, less: boolean): string {
  const limit = signed(less ? tolerance : -tolerance);
  if (rule === "credible") {
    return passed
      ? `no regression, because the interval reaches ${limit}`
      : `a regression, because the interval ends before ${limit}`;
  }
  return passed
    ? `no regression, because the interval stays within ${limit}`
    : `a regression is not excluded, because the interval reaches beyond ${limit}`;
}
