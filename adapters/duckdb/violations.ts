import type { RowViolation } from "../../core/datasets/errors";
import { type ColumnRule, maxMagnitude, rulesOf } from "../../core/datasets/rules";
import type { ColumnSchema } from "../../core/datasets/shapes";
import { castTo, mayMismatch, rawValue } from "./cast";
import { type DuckDbSession, quoteName, quoteText } from "./session";

const examplesShown = 3;
// Internal columns end in #, which no column of a schema may contain.

/**
 * Finds the rows of `table` that break a rule of their column. One pass checks all rules and columns, and another one
 * reads the violations.
 */
export async function findViolations(
  session: DuckDbSession,
  table: string,
  columns: readonly ColumnSchema[],
  types: ReadonlyMap<string, string>,
): Promise<{ readonly rowCount: number; readonly violations: readonly RowViolation[] }> {
  const checks = columns.flatMap((column) =>
    rulesOf(column)
      .filter(({ kind }) => kind !== "type" || mayMismatch(column, types.get(column.name)!))
      .map((rule) => ({ rule, broken: predicate(rule, types.get(column.name)!) })),
  );
  const counts = checks.map(({ broken }, index) => `, count_if(${broken}) AS "${index}#"`).join("");
  const [row] = await session.rows(`SELECT count(*) AS "rows#"${counts} FROM ${table}`);
  const violations: RowViolation[] = [];
  for (const [index, { rule, broken }] of checks.entries()) {
    const count = Number(row![`${index}#`]);
    if (count > 0) {
      const examples = await findExamples(session, table, rule.column.name, broken);
      violations.push({ column: rule.column.name, rule: rule.text, count, examples });
    }
  }
  return { rowCount: Number(row!["rows#"]), violations };
}

async function findExamples(
  session: DuckDbSession,
  table: string,
  column: string,
  broken: string,
): Promise<RowViolation["examples"]> {
  const name = quoteName(column);
  const rows = await session.rows(
    // No column is named " row", because names neither begin nor end with a space.
    `SELECT " row", left(CAST(${name} AS VARCHAR), 80) AS "value#"
     FROM (SELECT row_number() OVER () AS " row", ${name} FROM ${table}) WHERE ${broken} LIMIT ${examplesShown}`,
  );
  return rows.map((each) => ({ row: Number(each[" row"]), value: each["value#"] }));
}

/** Returns SQL that is true for a row that breaks the rule. It is not true for a row that another rule covers. */
function predicate({ column, kind }: ColumnRule, sourceType: string): string {
  const raw = rawValue(column, sourceType);
  const value = castTo(column, sourceType);
  const numbers = column.type === "tensor";
  switch (kind) {
    case "present":
      return `${raw} IS NULL`;
    case "type":
      return column.type === "float"
        ? `${raw} IS NOT NULL AND ${value} IS NULL AND NOT coalesce(isnan(TRY_CAST(CAST(${raw} AS VARCHAR) AS DOUBLE)), false)`
        : `${raw} IS NOT NULL AND ${value} IS NULL`;
    case "single":
      return `${value}[1] IN ('[', '{') AND json_valid(${value})`;
    case "finite":
      return `NOT isfinite(${value}) OR abs(${value}) > ${maxMagnitude}`;
    case "minimum":
      return `${numbers ? `list_min(${value})` : value} < ${column.minimum}`;
    case "maximum":
      return `${numbers ? `list_max(${value})` : value} > ${column.maximum} AND ${numbers ? "true" : notNan(value, column)}`;
    case "values":
      return `${value} NOT IN (${column.values!.map((v) => (typeof v === "string" ? quoteText(v) : String(v))).join(", ")})`;
  }
}

/** Excludes NaN, which DuckDB orders above every number. A NaN must break one rule, not two. */
function notNan(value: string, column: ColumnSchema): string {
  return column.type === "float" ? `NOT isnan(${value})` : "true";
}
