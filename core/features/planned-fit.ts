import type { ColumnSchema, SplitName } from "../datasets/shapes";
import type { Problem } from "../errors";
import { intermediatesOf } from "../feature-plans/bind";
import {
  type Column,
  columnOf,
  DictionaryColumn,
  dictionaryOf,
  type RowColumns,
  rowColumns,
} from "../feature-plans/columns";
import { createAccumulator, fitPlan, type Measure } from "../feature-plans/fit";
import { encodedColumnsOf, sourceColumnsOf } from "../feature-plans/plan-columns";
import { typeProblems } from "../feature-plans/references";
import type { FeaturePlan, FittedPlan, PlanColumn } from "../feature-plans/shapes";
import { mergeStates, type State, type Statistic, stateOf, storedState } from "../feature-plans/statistics";
import { type FeatureSettings, planOf, stepsPathOf } from "../runs/feature-settings";
import type { Rounds } from "../runs/rounds";
import { type ColumnBatch, type ColumnValues, type RowSource, textAt } from "./values";

/** The part of a job's settings that is a plan. */
type PlanSettings = Partial<Pick<FeatureSettings, "plan">>;

/** Returns the dataset's columns that a plan can read: all but tensors. */
export function planColumns(schema: readonly ColumnSchema[]): readonly PlanColumn[] {
  return schema.flatMap(({ name, type }) => (type === "tensor" ? [] : { name, type }));
}

const stepsPath = (settings: PlanSettings): string => ["features", ...stepsPathOf(settings)].join(".");

/**
 * Checks that no step of a new job has a column's name: later steps would read the result instead of the column. Jobs that were
 * recorded before there was this rule keep their meaning.
 */
export function shadowingProblems(schema: readonly ColumnSchema[], settings: PlanSettings): readonly Problem[] {
  const columns = new Set(schema.map(({ name }) => name));
  const rule = "must differ from the names of the dataset's columns; give the step another name";
  return (planOf(settings)?.steps ?? []).flatMap(({ name }, index) =>
    columns.has(name) ? [{ path: `${stepsPath(settings)}[${index}].name`, value: name, rule }] : [],
  );
}

export function planProblems(schema: readonly ColumnSchema[], settings: PlanSettings): readonly Problem[] {
  const plan = planOf(settings);
  if (plan === undefined) return [];
  const path = stepsPath(settings);
  const problems = [...typeProblems(plan, planColumns(schema), path)];
  if (plan.steps.every(({ kind, output }) => kind === "cross" || !output)) {
    problems.push({ path, rule: "must have a step that makes a feature: no cross, and without output: false" });
  }
  const roles = new Map(schema.map(({ name, role }) => [name, role]));
  for (const name of encodedColumnsOf(plan)) {
    const role = roles.get(name);
    if (role === undefined || role === "feature") continue;
    problems.push({
      path,
      value: name,
      rule: `must make features of feature columns, but ${name} has the role ${role}`,
    });
  }
  for (const [index, step] of plan.steps.entries()) {
    if (step.kind === "target" && roles.get(step.target) !== "label") {
      const label = schema.find(({ role }) => role === "label")?.name;
      problems.push({ path: `${path}[${index}].target`, value: step.target, rule: `must be the label, ${label}` });
    }
  }
  return problems;
}

/** Opens a part of a version's rows. */
export type OpenPart<Part> = (part: Part) => Promise<RowsPart>;

/** A part of a version's rows, with the split of each row of the version that is in it. */
export interface RowsPart {
  readonly rows: RowSource;
  readonly splitOf: (row: number) => SplitName;
}

/**
 * Fits a plan on the training rows, one pass for each round of measurements, in the rows' order: equal rows give equal
 * bits. Several parts are measured alone, and their states are merged in order.
 *
 * @param trainingRows number of the training rows
 * @throws InvalidInputError, TOO_MANY_VALUES
 */
export function fitPlanOnRows<Part>(
  plan: FeaturePlan,
  schema: readonly ColumnSchema[],
  trainingRows: number,
  { rounds, parts, open }: { readonly rounds: Rounds; readonly parts: readonly Part[]; readonly open: OpenPart<Part> },
): Promise<FittedPlan> {
  const columns = planColumns(schema);
  const names = new Set(sourceColumnsOf(plan));
  const read = schema.filter(({ name }) => names.has(name));
  const intermediates = intermediatesOf(plan, columns);
  const measurePart = async (statistics: readonly Statistic[], part: Part): Promise<readonly State[]> => {
    const { rows: source, splitOf } = await open(part);
    const accumulators = statistics.map(createAccumulator);
    const needed = columns.filter(({ name }) => names.has(name));
    for await (const batch of source.read(read)) {
      const all = Uint32Array.from({ length: batch.rows }, (_, row) => row);
      const chosen = all.filter((row) => splitOf(batch.firstRow + row) === "train");
      const rows = batchColumns(batch, needed, chosen);
      for (const { name, value } of intermediates) rows.columns.set(name, columnOf(value, rows));
      for (const accumulator of accumulators) accumulator.add(rows);
    }
    return accumulators.map((accumulator) => accumulator.state());
  };
  let passes = 0;
  const measure: Measure = async (statistics) => {
    const [only, ...others] = parts;
    if (only !== undefined && others.length === 0) return measurePart(statistics, only);
    passes += 1;
    const measured = await rounds.run(`plan ${passes}`, parts, async (part) =>
      (await measurePart(statistics, part)).map(storedState),
    );
    let merged: readonly State[] | undefined;
    for await (const stored of measured) {
      const states = stored.map(stateOf);
      merged = merged?.map((state, index) => mergeStates(state, states[index]!)) ?? states;
    }
    return merged ?? [];
  };
  return fitPlan(plan, columns, trainingRows, measure);
}

/** Returns chosen rows of a batch in canonical form, by column; all rows by default. */
export function batchColumns(
  batch: ColumnBatch,
  columns: readonly PlanColumn[],
  chosen: Uint32Array = Uint32Array.from({ length: batch.rows }, (_, row) => row),
): RowColumns {
  return rowColumns(
    chosen.length,
    new Map(columns.map(({ name, type }) => [name, canonicalColumn(batch.columns[name], chosen, type)])),
  );
}

function canonicalColumn(values: ColumnValues | undefined, rows: Uint32Array, type: PlanColumn["type"]): Column {
  // Rows to predict lack the label and the column of the folds.
  if (values === undefined) return new Array<null>(rows.length).fill(null);
  if (values.kind === "string") {
    const { codes } = values;
    if (codes === undefined) return dictionaryOf(rows.length, (i) => textAt(values, rows[i]!));
    return new DictionaryColumn(
      Int32Array.from(rows, (row) => codes[row]!),
      values.values,
    );
  }
  if (type === "bool") return Array.from(rows, (row) => (values.valid[row] === 1 ? values.values[row] === 1 : null));
  const numbers = new Float64Array(rows.length);
  for (let i = 0; i < rows.length; i += 1) {
    const row = rows[i]!;
    numbers[i] = values.valid[row] === 1 ? values.values[row]! : Number.NaN;
  }
  return numbers;
}
