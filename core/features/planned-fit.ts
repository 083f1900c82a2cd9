import type { ColumnSchema, SplitName } from "../datasets/shapes";
import type { Problem } from "../errors";
import type { FeatureSettings } from "../runs/feature-settings";
import { intermediatesOf } from "../views/bind";
import { columnOf } from "../views/columns";
import { fitPlan, type Measure } from "../views/fit";
import { typeProblems } from "../views/references";
import { createAccumulator } from "../views/row-statistics";
import type { FeatureView, FittedPlan, PlanColumn } from "../views/shapes";
import { encodedColumnsOf, named, sourceColumnsOf } from "../views/view-file";
import { batchColumns } from "./batch-columns";
import type { RowSource } from "./values";

/** The part of a job's settings that is a plan. */
type PlanSettings = Partial<Pick<FeatureSettings, "plan" | "view">>;

/** Returns the view whose plan makes a job's features; `undefined` if their types do. */
export function viewOf({ plan, view }: PlanSettings): FeatureView | undefined {
  if (view !== undefined) return { ...view, steps: view.steps.map(named) };
  return plan && { name: "plan", entities: [], steps: plan.map(named) };
}

/** Returns the dataset's columns that a plan can read: all but tensors. */
export function planColumns(schema: readonly ColumnSchema[]): readonly PlanColumn[] {
  return schema.flatMap(({ name, type }) => (type === "tensor" ? [] : { name, type }));
}

/** Checks a job's plan against the dataset's columns. */
export function planProblems(schema: readonly ColumnSchema[], settings: PlanSettings): readonly Problem[] {
  const view = viewOf(settings);
  if (view === undefined) return [];
  const path = settings.view === undefined ? "features.plan" : "features.view.steps";
  const problems = [...typeProblems(view, planColumns(schema), path)];
  const roles = new Map(schema.map(({ name, role }) => [name, role]));
  for (const name of encodedColumnsOf(view)) {
    const role = roles.get(name);
    if (role === undefined || role === "feature") continue;
    problems.push({
      path,
      value: name,
      rule: `must make features of feature columns, but ${name} has the role ${role}`,
    });
  }
  for (const [index, step] of view.steps.entries()) {
    if (step.kind === "target" && roles.get(step.target) !== "label") {
      const label = schema.find(({ role }) => role === "label")?.name;
      problems.push({ path: `${path}[${index}].target`, value: step.target, rule: `must be the label, ${label}` });
    }
    if (step.kind === "window") {
      const rule =
        "must not be a window, which needs other rows of the entity: a run and its model read one row. Add the window to the dataset's rows before the push";
      problems.push({ path: `${path}[${index}].kind`, value: "window", rule });
    }
  }
  return problems;
}

/**
 * Fits a plan on the training rows, one pass for each round of measurements, in the rows' order: equal rows give equal
 * bits.
 *
 * @throws InvalidInputError, TooManyCategoriesError
 */
export function fitPlanOnRows(
  view: FeatureView,
  schema: readonly ColumnSchema[],
  source: RowSource,
  training: { readonly rows: number; readonly splitOf: (row: number) => SplitName },
): Promise<FittedPlan> {
  const columns = planColumns(schema);
  const names = new Set(sourceColumnsOf(view));
  const read = schema.filter(({ name }) => names.has(name));
  const intermediates = intermediatesOf(view, columns);
  const measure: Measure = async (statistics) => {
    const accumulators = statistics.map(createAccumulator);
    const needed = columns.filter(({ name }) => names.has(name));
    for await (const batch of source.read(read)) {
      const all = Uint32Array.from({ length: batch.rows }, (_, row) => row);
      const chosen = all.filter((row) => training.splitOf(batch.firstRow + row) === "train");
      const rows = batchColumns(batch, needed, chosen);
      for (const { name, value } of intermediates) rows.columns.set(name, columnOf(value, rows));
      for (const accumulator of accumulators) accumulator.add(rows);
    }
    return accumulators.map((accumulator) => accumulator.state());
  };
  return fitPlan(view, columns, training.rows, measure);
}
