import { goalOf, lessIsBetter } from "../evaluation/metric-goal";
import type { EarlyStopping } from "../runs/early-stopping";

const prefix = "validation/";

/** Returns the metric's name in a validation score: `loss` for `validation/loss`. */
export function stoppingMetricName({ metric }: Pick<EarlyStopping, "metric">): string {
  return metric.slice(prefix.length);
}

/** Returns whether an epoch with this value is better than one with the best value so far. NaN is never better. */
export function improves(rule: EarlyStopping, value: number, best: number | undefined): boolean {
  if (!Number.isFinite(value)) return false;
  if (best === undefined) return true;
  return directionOf(rule) === "minimize" ? best - value > rule.minDelta : value - best > rule.minDelta;
}

function directionOf(rule: EarlyStopping): "minimize" | "maximize" {
  return rule.direction ?? (lessIsBetter(stoppingMetricName(rule)) ? "minimize" : "maximize");
}

const builtIn = (hasClasses: boolean) => (hasClasses ? ["loss", "accuracy"] : ["loss"]);

/** @param moduleNames names of the module's own metrics; absent if there may be some that are not known yet */
export function stoppingMetricProblem(
  rule: EarlyStopping,
  hasClasses: boolean,
  moduleNames?: readonly string[],
): { readonly field: "metric" | "direction"; readonly rule: string } | undefined {
  const name = stoppingMetricName(rule);
  const names = [...builtIn(hasClasses), ...(moduleNames ?? [])];
  if (moduleNames !== undefined && !names.includes(name)) {
    const list = names.map((one) => `${prefix}${one}`).join(", ");
    return { field: "metric", rule: `must be a metric that the model's validation records: ${list}` };
  }
  if (rule.direction !== undefined || goalOf(name) !== undefined) return undefined;
  return { field: "direction", rule: `is required (minimize or maximize): ${rule.metric} is a metric of the module` };
}
