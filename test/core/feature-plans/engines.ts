import { DuckDBTimestampValue } from "@duckdb/node-api";
import { type DuckDbSession, openDuckDb, quoteName } from "../../../adapters/duckdb/session";
import { columnOf, type RowColumns, rowColumns, valueIn } from "../../../core/feature-plans/columns";
import { canonicalRow, compilePlan, createRowFunction, selectFeatures } from "../../../core/feature-plans/compile";
import { duckdb } from "../../../core/feature-plans/dialects";
import type { CanonicalRow } from "../../../core/feature-plans/expression";
import { createAccumulator, fitPlan } from "../../../core/feature-plans/fit";
import { parseFeaturePlan } from "../../../core/feature-plans/plan-file";
import type { FeaturePlan, FittedPlan, PlanColumn } from "../../../core/feature-plans/shapes";
import type { State, Statistic } from "../../../core/feature-plans/statistics";
import type { RawRow } from "../../../core/row-values";
import { temporaryFolder } from "../../support/temporary-folder";
import { addWindows } from "./row-windows";

function columnsOf(rows: readonly Readonly<Record<string, unknown>>[]): RowColumns {
  const names = new Set(rows.flatMap((row) => Object.keys(row)));
  return rowColumns(rows.length, new Map([...names].map((name) => [name, rows.map((row) => row[name] ?? null)])));
}

export function measureRows(statistics: readonly Statistic[], rows: readonly CanonicalRow[]): readonly State[] {
  return statistics.map((statistic) => {
    const accumulator = createAccumulator(statistic);
    accumulator.add(columnsOf(rows));
    return accumulator.state();
  });
}

/** Makes a plan of steps as a person writes them. */
export function planOf(steps: readonly object[], extra: object = {}): FeaturePlan {
  return parseFeaturePlan(JSON.stringify({ name: "test", ...extra, steps }));
}

/** The features of rows: a value by output, for each row. */
export type Features = readonly Readonly<Record<string, unknown>>[];

/** Computes in memory, with the function of a row. */
export async function fitRows(
  plan: FeaturePlan,
  columns: readonly PlanColumn[],
  rows: readonly RawRow[],
): Promise<FittedPlan> {
  const measured = addWindows(plan, columns, rows).map((row) => ({ ...row, ...canonicalRow(row, columns) }));
  return fitPlan(plan, columns, rows.length, async (statistics) => measureRows(statistics, measured));
}

export function applyRows(plan: FittedPlan, rows: readonly RawRow[], outOfFold = false): Features {
  const compiled = compilePlan(plan, outOfFold);
  const features = createRowFunction(compiled);
  const extended = addWindows(plan.view, plan.columns, rows);
  // Batches have the bits of single rows.
  const batch = columnsOf(extended.map((row) => ({ ...row, ...canonicalRow(row, plan.columns) })));
  for (const { name, value } of compiled.intermediates) batch.columns.set(name, columnOf(value, batch));
  const columns = compiled.outputs.map(({ value }) => columnOf(value, batch));
  return extended.map((row, number) => {
    const values = features(row);
    const inBatch = compiled.outputs.map(
      ({ kind }, i) => valueIn(columns[i]!, number) ?? (kind === "code" ? -1 : null),
    );
    expect(inBatch).toEqual(values);
    return Object.fromEntries(compiled.outputs.map(({ name }, i) => [name, values[i]]));
  });
}

const types = { int: "DOUBLE", float: "DOUBLE", string: "VARCHAR", bool: "BOOLEAN", timestamp: "TIMESTAMP" } as const;

export async function writeTable(
  { connection }: DuckDbSession,
  table: string,
  columns: readonly PlanColumn[],
  rows: readonly RawRow[],
): Promise<void> {
  const fields = columns.map(({ name, type }) => `${quoteName(name)} ${types[type]}`);
  await connection.run(`CREATE OR REPLACE TABLE ${table} (number DOUBLE, ${fields.join(", ")})`);
  const appender = await connection.createAppender(table);
  for (const [index, row] of rows.entries()) {
    appender.appendDouble(index);
    for (const { name, type } of columns) {
      const value = row[name] ?? null;
      if (value === null) appender.appendNull();
      else if (type === "string") appender.appendVarchar(value as string);
      else if (type === "bool") appender.appendBoolean(value as boolean);
      else if (type === "timestamp")
        appender.appendTimestamp(new DuckDBTimestampValue(BigInt(value as number) * 1000n));
      else appender.appendDouble(value as number);
    }
    appender.endRow();
  }
  appender.closeSync();
}

export async function applyTable(
  session: DuckDbSession,
  plan: FittedPlan,
  table: string,
  outOfFold = false,
): Promise<Features> {
  const query = selectFeatures(compilePlan(plan, outOfFold), duckdb, table, ["number"]);
  const found = await session.rows(`SELECT * FROM (${query}) ORDER BY number`);
  return found.map(({ number: _, ...features }) => features);
}

export function named(type: PlanColumn["type"], ...names: readonly string[]): readonly PlanColumn[] {
  return names.map((name) => ({ name, type }));
}

/** Whether two numbers agree to 1e-9, relative or absolute. */
export function agree(a: unknown, b: unknown): boolean {
  if (typeof a !== "number" || typeof b !== "number") return a === b;
  if (a === b || (Number.isNaN(a) && Number.isNaN(b))) return true;
  return Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b));
}

/** Opens DuckDB for the tests of the enclosing `describe`. */
export function useDuckDb(): () => DuckDbSession {
  const folder = temporaryFolder("plans");
  let session: DuckDbSession;
  beforeAll(async () => {
    session = await openDuckDb(folder);
  });
  afterAll(() => session.close());
  return () => session;
}
