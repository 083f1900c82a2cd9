import { type Exporter, noPlan } from "../../core/export";
import { compilePlan, selectFeatures } from "../../core/feature-plans/compile";
import { type Dialect, duckdb, trino } from "../../core/feature-plans/dialects";
import { inputColumns } from "../../core/features/planned-rows";
import { documents } from "./transform-document";

/**
 * Exports the queries that make a table's features, for DuckDB and Trino (Athena), unrun. @throws EXPORT_UNSUPPORTED
 */
export const toSql: Exporter = async (source) => {
  const { model, runId, transform } = source.artifact;
  if (!transform.plan) throw noPlan(model);
  const plan = compilePlan(transform.plan);
  const used = inputColumns(transform);
  const columns = plan.columns.filter(({ name }) => used.has(name));
  const id = unusedName(new Set(columns.map(({ name }) => name)));
  const query = (dialect: Dialect): string =>
    [
      `-- The features of the model's input (${model}, ${runId}). Missing is NULL, and 0 for the network.`,
      `-- Replace the query in WITH by your own: ${id} identifies a row. The other columns, by name and type; times are in UTC:`,
      ...columns.map(({ name, type }) => `--   ${dialect.name(name)} ${type}`),
      `WITH source AS (SELECT your_id AS ${id}, * FROM your_table)`,
      `${selectFeatures({ ...plan, columns }, dialect, "source", [id])}\n`,
    ].join("\n");
  return [
    { path: "features.duckdb.sql", contentType: "application/sql", body: query(duckdb) },
    { path: "features.trino.sql", contentType: "application/sql", body: query(trino) },
    ...documents(source),
  ];
};

const unusedName = (taken: ReadonlySet<string>, name = "row_id"): string =>
  taken.has(name) ? unusedName(taken, `${name}_`) : name;
