import { defaultNoRegression, type JobGates, type NoRegressionRule, type PolicyRules } from "../../runs/gate-rules";

export type RegressionRule = NoRegressionRule["rule"];

/**
 * The gates that a job declares. An absent member means the model's own rule. Runs of earlier releases lack some
 * members.
 */
export interface JobEvaluation {
  readonly thresholds?: Readonly<Record<string, number>>;
  readonly regressionTolerance?: number;
  readonly regressionRule?: RegressionRule;
  readonly incompatibleChampion?: "refuse" | "pass";
  readonly regressionMetric?: string;
  readonly gates?: JobGates;
}

/** The requirement for the comparison with the champion. */
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
  const own = job.regressionMetric;
  if (noRegression === "waived") {
    const declared = [tolerance, rule, incompatible, own].some((given) => given !== undefined);
    const limits = {
      tolerance: tolerance ?? defaultNoRegression.tolerance,
      rule: rule ?? defaultNoRegression.rule,
      incompatible: incompatible ?? defaultNoRegression.incompatible,
    };
    return { ...limits, metrics: [own], from: declared ? "job" : "policy", waived: !declared, milder: [] };
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
    metrics: own === undefined || own === model.metric ? [model.metric] : [model.metric, own],
    from: noRegression === undefined ? "default" : "policy",
    waived: false,
    milder,
  };
}
