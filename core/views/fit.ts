import { bindStep } from "./bind";
import type { BoundStep } from "./bound-step";
import { checkTypes, columnsRead, createScopes } from "./references";
import type { FeatureView, FittedPlan, FittedValues, NamedStep, PlanColumn } from "./shapes";
import type { State, Statistic } from "./statistics";

/** Measures statistics on the training rows; returns a state for each. */
export type Measure = (statistics: readonly Statistic[]) => Promise<readonly State[]>;

/**
 * Fits a plan on the training rows. Steps that read only columns are measured together; steps that read the result of a
 * fitted step are measured in the next round.
 *
 * @param rows number of the training rows
 * @throws InvalidInputError if the plan does not fit the columns; TooManyCategoriesError
 */
export async function fitPlan(
  view: FeatureView,
  available: readonly PlanColumn[],
  rows: number,
  measure: Measure,
): Promise<FittedPlan> {
  checkTypes(view, available);
  const columns = columnsRead(view, available);
  const scopes = createScopes(view, columns);
  const fitted: Record<string, FittedValues> = {};
  const finish = (named: NamedStep, step: BoundStep, states: readonly State[]): void => {
    const values = step.finish(states);
    if (Object.keys(values).length > 0) fitted[named.name] = values;
    scopes.set(named, step.compile(values, true).result);
  };
  let open: readonly NamedStep[] = view.steps;
  while (open.length > 0) {
    const bound: { readonly named: NamedStep; readonly step: BoundStep }[] = [];
    const later: NamedStep[] = [];
    for (const named of open) {
      const scope = scopes.of(named);
      if (scope === undefined) later.push(named);
      else {
        const step = bindStep(named, scope);
        if (step.statistics.length === 0) finish(named, step, []);
        else bound.push({ named, step });
      }
    }
    const states = bound.length === 0 ? [] : await measure(bound.flatMap(({ step }) => step.statistics));
    let next = 0;
    for (const { named, step } of bound) {
      finish(named, step, states.slice(next, next + step.statistics.length));
      next += step.statistics.length;
    }
    open = later;
  }
  return { format: 1, view, columns, rows, fitted };
}
