import type { JobGates } from "../../runs/gate-rule-schemas";
import { defaultNoRegression, type NoRegressionRule, type PolicyRules } from "../policy";

export type RegressionRule = NoRegressionRule["rule"];

/** The gates that a job declares. A member that is absent is the model's own; runs of earlier versions lack some. */
export interface JobEvaluation {
  readonly thresholds?: Readonly<Record<string, number>>;
  readonly regressionTolerance?: number;
  readonly regressionRule?: RegressionRule;
  readonly incompatibleChampion?: "refuse" | "pass";
  readonly gates?: JobGates;
}

/** What a candidate must show in comparison with the champion. */
export interface RegressionRequirement extends NoRegressionRule {
  /** Where the rule is from. `default`: no policy says anything of it. */
  readonly from: "default" | "policy" | "job";
  /** The policy asks for nothing, and the job neither: the comparison is shown, and refuses nobody. */
  readonly waived: boolean;
  /** What the job would have allowed and its model does not: it does not count. */
  readonly milder: readonly string[];
}

/**
 * The model's rule, made stricter by the job's where that is. The model's is its policy's, and the default where that says nothing: whoever writes a job
 * cannot take the gate from those who answer for the model. Where the policy waives it, a job may still ask for itself.
 */
export function regressionOf(job: JobEvaluation, { noRegression }: PolicyRules): RegressionRequirement {
  const { regressionTolerance: tolerance, regressionRule: rule, incompatibleChampion: incompatible } = job;
  if (noRegression === "waived") {
    const asked = tolerance !== undefined || rule !== undefined || incompatible !== undefined;
    const own = {
      tolerance: tolerance ?? defaultNoRegression.tolerance,
      rule: rule ?? defaultNoRegression.rule,
      incompatible: incompatible ?? defaultNoRegression.incompatible,
    };
    return { ...own, from: asked ? "job" : "policy", waived: !asked, milder: [] };
  }
  const model = noRegression ?? defaultNoRegression;
  const milder = [
    ...(tolerance !== undefined && tolerance > model.tolerance ? [`regressionTolerance ${tolerance}`] : []),
    ...(rule === "credible" && model.rule === "excluded" ? ["regressionRule credible"] : []),
    ...(incompatible === "pass" && model.incompatible === "refuse" ? ["incompatibleChampion pass"] : []),
  ];
  return {
    tolerance: Math.min(tolerance ?? model.tolerance, model.tolerance),
    rule: rule === "excluded" ? rule : model.rule,
    incompatible: incompatible === "refuse" ? incompatible : model.incompatible,
    from: noRegression === undefined ? "default" : "policy",
    waived: false,
    milder,
  };
}
