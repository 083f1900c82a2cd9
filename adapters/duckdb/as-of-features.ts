/** The rows and features of a view as SQL, for the as-of join. */

import { selectFeatures } from "../../core/feature-plans/compile";
import { duckdb } from "../../core/feature-plans/dialects";
import { compileFeatures } from "../../core/feature-store/features";
import type { ViewVersion } from "../../core/feature-store/shapes";
import { canonicalTypes } from "./cast";
import { type DuckDbSession, quoteName, quoteText } from "./session";
import { viewTable } from "./view-rows";

/** Returns a table of a view's rows with `arrival#`, their place in the order of arrival, and their number. */
export async function arrivedRows(
  session: DuckDbSession,
  files: readonly string[],
  definition: ViewVersion["definition"],
) {
  const stored = await viewTable(session, files, definition);
  const [found] = await session.rows(
    `SELECT max(num_rows)::DOUBLE AS "most#", sum(num_rows)::DOUBLE AS "rows#"
     FROM parquet_file_metadata([${files.map(quoteText).join(", ")}])`,
  );
  const arrival = `file_index * ${Number(found!["most#"])} + file_row_number`;
  return { table: `(SELECT *, ${arrival} AS "arrival#" FROM ${stored})`, viewRows: Number(found!["rows#"]) };
}

/** Returns a table with `arrival#`, the columns and the features of a view's rows. */
export function featuresOf({ definition }: ViewVersion, view: string): string {
  const { plan } = compileFeatures(definition);
  if (plan === undefined) return view;
  return `(${selectFeatures(plan, duckdb, `${view} AS view`, ["arrival#", ...Object.keys(definition.columns)])})`;
}

/**
 * Returns a query with `label#` and the features of a view with windows, for the labels that have found a row.
 *
 * @param found SQL of the values that a label has found: at `place` the arrival of its row, then the windows
 */
export function windowedFeatures({ definition }: ViewVersion, table: string, found: string, place: number): string {
  const { columns, plan, windows } = compileFeatures(definition);
  const names = windows!.all.map(({ name }) => name);
  const values = names.map((name, index) => `labels."found#".v${place + 1 + index} AS ${quoteName(name)}`);
  const rows = `(SELECT labels."label#", view.*, ${values.join(", ")}
    FROM (SELECT "label#", ${found} AS "found#" FROM labels) AS labels
    JOIN ${table} AS view ON view."arrival#" = CAST(labels."found#".v${place} AS BIGINT)) AS rows`;
  const withWindows = {
    columns: [...plan!.columns, ...names.map((name) => ({ name, type: "float" as const }))],
    intermediates: plan!.intermediates.filter(({ name }) => !names.includes(name)),
    outputs: plan!.outputs,
  };
  return selectFeatures(withWindows, duckdb, rows, ["label#", ...columns]);
}

/** A feature that is a number or becomes one. */
interface NumberFeature {
  /** SQL of the number, NULL for a missing value. No feature is NaN. */
  readonly sql: string;
  /** Returns SQL of the value from that of the number. */
  restored(number: string): string;
}

/** Returns the features of a view that are numbers or become numbers, by name. */
export function numberFeatures({ definition, features }: ViewVersion): ReadonlyMap<string, NumberFeature> {
  const ownColumns = new Set(compileFeatures(definition).columns);
  const numbers = new Map<string, NumberFeature>();
  for (const { name, type } of features) {
    if (type === "string") continue;
    const isTime = type === "timestamp";
    // The result of a step is an INTEGER or a DOUBLE.
    const target = type === "int" && !ownColumns.has(name) ? "INTEGER" : canonicalTypes[type];
    numbers.set(name, {
      sql: `CAST(${isTime ? `epoch_ms(${quoteName(name)})` : quoteName(name)} AS DOUBLE)`,
      restored: (number) => (isTime ? `epoch_ms(CAST(${number} AS BIGINT))` : `CAST(${number} AS ${target})`),
    });
  }
  return numbers;
}
