import { InvalidInputError, type Problem } from "../errors";
import { type RawRow, timeOf } from "../row-values";
import { bindStep, intermediatesOf } from "./bind";
import type { Intermediate, Output } from "./bound-step";
import type { Dialect } from "./dialects";
import type { CanonicalRow } from "./expression";
import type { Operation } from "./operation";
import { encodedBy } from "./plan-columns";
import { createScopes } from "./references";
import type { FittedPlan, PlanColumn } from "./shapes";
import { separator } from "./text-expressions";

/** A fitted plan as expressions; `selectFeatures` and `createRowFunction` are its targets. */
export interface CompiledPlan {
  readonly columns: readonly PlanColumn[];
  readonly intermediates: readonly Intermediate[];
  readonly outputs: readonly Output[];
}

/** @param outOfFold whether the rows are the training rows, whose target encodings leave their own fold out */
export function compilePlan(fittedPlan: FittedPlan, outOfFold = false): CompiledPlan {
  const { view: plan, columns } = fittedPlan;
  const outputs = compileSteps(fittedPlan, outOfFold).flatMap(({ outputs }) => outputs);
  return { columns, intermediates: intermediatesOf(plan, columns), outputs };
}

function compileSteps({ view: plan, columns, fitted }: FittedPlan, outOfFold: boolean) {
  const scopes = createScopes(plan, columns);
  return plan.steps.map((step) => {
    const bound = bindStep(step, scopes.of(step)!);
    // The plan of a feature view is not fitted: its steps have the values that they name.
    const constants = bound.statistics.length === 0 ? bound.finish([]) : {};
    const compiled = bound.compile(fitted[step.name] ?? constants, outOfFold);
    scopes.set(step, compiled.result);
    return { step, outputs: step.output ? compiled.outputs : [] };
  });
}

/** Returns the columns on which each output of a plan depends, in the order of the outputs. */
export function sourcesOfOutputs(plan: FittedPlan): readonly (readonly string[])[] {
  const results = new Map<string, ReadonlySet<string>>();
  return compileSteps(plan, false).flatMap(({ step, outputs }) => {
    const sources = new Set(encodedBy(step).flatMap((input) => [...(results.get(input) ?? [input])]));
    results.set(step.name, sources);
    return outputs.map(() => [...sources]);
  });
}

export function textsOf(plan: FittedPlan): readonly string[] {
  const texts: string[] = [];
  const visit = (operation: Operation): void => {
    if (operation.op === "lookup") texts.push(...operation.table.map(([text]) => text));
    for (const input of operation.inputs) visit(input);
  };
  for (const { value } of compilePlan(plan).outputs) visit(value.operation);
  return texts.flatMap((text) => text.split(separator));
}

/** Returns a subquery with the columns and intermediate values that expressions of the plan read. */
function canonicalRows(
  { columns, intermediates }: Pick<CompiledPlan, "columns" | "intermediates">,
  dialect: Dialect,
  table: string,
  keep: readonly string[] = [],
): string {
  const canonical = columns.map(({ name, type }) => `${dialect.canonical(name, type)} AS ${dialect.name(name)}`);
  const kept = keep.map((name) => `${dialect.name(name)} AS ${dialect.name(keptName(name))}`);
  const inner = `SELECT ${[...canonical, ...kept, `1 AS ${dialect.name("row:present")}`].join(", ")} FROM ${table}`;
  if (intermediates.length === 0) return `(${inner}) AS canonical`;
  const computed = intermediates.map(({ name, value }) => `${value.sql(dialect)} AS ${dialect.name(name)}`);
  return `(SELECT *, ${computed.join(", ")} FROM (${inner}) AS canonical) AS extended`;
}

const keptName = (name: string) => `kept:${name}`;

/**
 * Returns the query that makes the features of a table's rows: the columns in `keep` unchanged, then a column for each
 * output. Numbers are DOUBLE; a code is an INTEGER, -1 for none.
 */
export function selectFeatures(
  plan: CompiledPlan,
  dialect: Dialect,
  table: string,
  keep: readonly string[] = [],
): string {
  const kept = keep.map((name) => `${dialect.name(keptName(name))} AS ${dialect.name(name)}`);
  const columns = plan.outputs.map(({ kind, name, value }) => {
    const sql = kind === "code" ? `CAST(coalesce(${value.sql(dialect)}, -1E0) AS INTEGER)` : value.sql(dialect);
    return `${sql} AS ${dialect.name(name)}`;
  });
  return `SELECT ${[...kept, ...columns].join(", ")} FROM ${canonicalRows(plan, dialect, table, keep)}`;
}

/** The values of a plan's outputs, in their order: numbers, `null` for a missing one; codes, -1 for none. */
export type FeatureValues = readonly (number | null)[];

/**
 * Returns the function that makes the features of one row, for serving. A row has its columns by name: numbers, text,
 * booleans, times as ISO 8601 or milliseconds, and windows under their names (`windowName`).
 *
 * The function throws InvalidInputError for a value that is not of its column's type.
 */
export function createRowFunction(plan: CompiledPlan): (row: RawRow) => FeatureValues {
  const { intermediates, outputs } = plan;
  return (raw) => {
    const row: Record<string, unknown> = { ...canonicalRow(raw, plan.columns) };
    for (const { name, value } of intermediates) row[name] = Object.hasOwn(raw, name) ? raw[name] : value.valueOf(row);
    return outputs.map(({ kind, value }) => value.valueOf(row) ?? (kind === "code" ? -1 : null));
  };
}

/** Returns a row in canonical form. @throws InvalidInputError with every problem */
export function canonicalRow(raw: RawRow, columns: readonly PlanColumn[]): CanonicalRow {
  const row: Record<string, unknown> = {};
  const problems: Problem[] = [];
  for (const { name, type } of columns) {
    const value = Object.hasOwn(raw, name) ? (raw[name] ?? null) : null;
    const canonical = value === null ? null : canonicalValue(value, type);
    if (canonical === undefined) problems.push({ path: name, value, rule: `must be of type ${type}` });
    else row[name] = canonical;
  }
  if (problems.length > 0) throw new InvalidInputError("the row does not fit the plan", problems);
  return row;
}

/** Returns the text as UTF-8 stores it: half of a surrogate pair is U+FFFD. */
export function canonicalText(text: string): string {
  return /\p{Cs}/u.test(text) ? Buffer.from(text, "utf8").toString("utf8") : text;
}

/** Returns `undefined` for a value of another type, and `null` for NaN. */
function canonicalValue(value: unknown, type: PlanColumn["type"]): unknown {
  switch (type) {
    case "int":
    case "float":
      if (typeof value !== "number") return undefined;
      return Number.isNaN(value) ? null : value;
    case "string":
      return typeof value === "string" ? canonicalText(value) : undefined;
    case "bool":
      return typeof value === "boolean" ? value : undefined;
    case "timestamp": {
      const time = timeOf(value);
      return Number.isFinite(time) ? time : undefined;
    }
  }
}
