/** The features of a view as SQL, for the as-of join. */

import { selectFeatures } from "../../core/feature-plans/compile";
import { duckdb } from "../../core/feature-plans/dialects";
import { durationMs } from "../../core/feature-plans/shapes";
import { compileFeatures } from "../../core/feature-store/features";
import type { ViewDefinition } from "../../core/feature-store/shapes";
import { entityColumns, entitySql } from "./as-of-labels";
import { createWindows } from "./as-of-windows";
import { type DuckDbSession, quoteName, quoteText } from "./session";
import { viewTable } from "./view-rows";

/**
 * Returns a query with `label#` and the features of a view, for the labels that have a row at their time.
 *
 * @param files with rows of the view, in the order of their arrival
 * @param windowTable name of the table that is created for the view's windows, if it has any
 */
export async function featuresOfLabels(
  session: DuckDbSession,
  definition: ViewDefinition,
  files: readonly string[],
  windowTable: string,
): Promise<string> {
  const { columns, plan, windows } = compileFeatures(definition);
  const entities = entityColumns(definition).map(quoteName);
  const rows = await arrivedRows(session, definition, files);
  if (windows) await createWindows(session, windowTable, { windows, entities, rows });
  const names = windows?.all.map(({ name }) => name) ?? [];
  const isSame = entities.map((name) => `labels.${name} = view.${name}`).join(" AND ");
  const values = ["view.*", ...names.map((name) => `${windowTable}.${quoteName(name)}`)].join(", ");
  const found = `SELECT labels."label#", ${values}
    FROM labels ASOF JOIN ${latestRows(rows, entities)} AS view ON ${isSame} AND labels."at#" >= view."available#"
    ${windows ? `JOIN ${windowTable} ON ${windowTable}."label#" = labels."label#"` : ""}
    ${definition.ttl === undefined ? "" : `WHERE view."event#" >= labels."at#" - ${durationMs(definition.ttl)}`}`;
  if (plan === undefined) return found;
  const planWithWindows = {
    columns: [...plan.columns, ...names.map((name) => ({ name, type: "float" as const }))],
    intermediates: plan.intermediates.filter(({ name }) => !names.includes(name)),
    outputs: plan.outputs,
  };
  return selectFeatures(planWithWindows, duckdb, `(${found}) AS found`, ["label#", ...columns]);
}

/**
 * Returns a table of a view's rows with the columns of their entities, `event#`, `creation#` and `available#` in milliseconds,
 * and `arrival#`, their place in the order of arrival.
 */
async function arrivedRows(
  session: DuckDbSession,
  definition: ViewDefinition,
  files: readonly string[],
): Promise<string> {
  const { entities, columns, eventTime, creationTime } = definition;
  const names = entityColumns(definition);
  const keys = entities.map(
    (name, index) => `${entitySql(columns[name]!, quoteName(name))} AS ${quoteName(names[index]!)}`,
  );
  const creation = creationTime === undefined ? "NULL" : `epoch_ms(${quoteName(creationTime)})`;
  const [found] = await session.rows(
    `SELECT max(num_rows)::DOUBLE AS "most#" FROM parquet_file_metadata([${files.map(quoteText).join(", ")}])`,
  );
  return `(SELECT *, ${keys.join(", ")}, epoch_ms(${quoteName(eventTime!)}) AS "event#",
    coalesce(${creation}, "event#") AS "creation#", greatest("event#", "creation#") AS "available#",
    file_index * ${Number(found!["most#"])} + file_row_number AS "arrival#"
    FROM ${await viewTable(session, files, definition)})`;
}

/**
 * Returns a table of the rows that are the latest of their entity when they become available, one for each such time. Of rows
 * with one event time, a later creation time never becomes available earlier, so only event times are compared.
 */
function latestRows(rows: string, entities: readonly string[]): string {
  return `(SELECT * FROM ${rows}
    WINDOW history AS (PARTITION BY ${entities.join(", ")} ORDER BY "available#", "event#", "creation#", "arrival#"
      ROWS UNBOUNDED PRECEDING)
    QUALIFY lead("available#") OVER history IS DISTINCT FROM "available#" AND "event#" = max("event#") OVER history)`;
}
