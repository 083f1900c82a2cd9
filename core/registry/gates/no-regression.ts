import type { ChampionComparison } from "../../evaluation/champion";
import { lessIsBetter } from "../../evaluation/metric-direction";
import type { GateRequirements } from "./requirements";
import type { GateCheck } from "./verdict";
import { percent, round, signed } from "./wording";

/** The model in production, as the candidate met it. */
export interface MetChampion {
  readonly version: number;
  /** `same`: it has the candidate's very weights. `unmet`: they have not met, although they might have. */
  readonly comparison: ChampionComparison | "same" | { readonly kind: "unmet"; readonly reason: string };
}

type Rules = GateRequirements["regression"];

export function noRegression(
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
      `${rules.incompatible === "pass" ? "that may be" : "that is refused"} (evaluation.incompatibleChampion of the job, noRegression.incompatible of the policy)`;
    return { gate: "no-regression", metric, value, limit: null, passed, evidence };
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
