import { columnsRead, findColumn } from "../../../core/datasets/contract/applicability";
import { type ExpressionPart, readExpression } from "../../../core/datasets/contract/expression";
import { type DataContractRule, type RuleOf, timeOf } from "../../../core/datasets/contract/rules";
import { exactProfileRows } from "../../../core/datasets/profile";
import type { ColumnSchema } from "../../../core/datasets/shapes";
import { quoteName, quoteText } from "../session";

/** A rule that rows break or satisfy, or a statistic of all rows. */
export type CompiledRule =
  | { readonly kind: "rows"; readonly broken: string; readonly columns: readonly string[] }
  | { readonly kind: "repeats"; readonly columns: readonly string[] }
  | { readonly kind: "value"; readonly value: string; readonly columns: readonly string[] }
  /** Decided without a query: by the schema, by the number of rows, by a comparison with another version. */
  | { readonly kind: "none" };

/** Columns of an expression that samples show. */
const maxShown = 8;

/** Name of the column that says whether a row's value is in the other dataset. */
export const foundName = (index: number): string => quoteName(`found${index}#`);

/**
 * Compiles an applicable rule to SQL.
 *
 * @param index place of the rule in its contract
 */
export function compileRule(
  rule: DataContractRule,
  index: number,
  schema: readonly ColumnSchema[],
  rowCount: number,
): CompiledRule {
  const columns = columnsRead(rule, schema).map(({ name }) => name);
  const [name = ""] = columns;
  const value = quoteName(name);
  const rows = (broken: string): CompiledRule => ({ kind: "rows", broken, columns });
  switch (rule.rule) {
    case "notNull":
      return rows(`${value} IS NULL`);
    case "range":
      return rows(rangeBroken(rule, schema.find((column) => column.name === name)!));
    case "length":
      return rows(outside(`length(${value})`, rule.minimum, rule.maximum));
    case "values":
      return rows(`${value} NOT IN (${rule.values.map(literal).join(", ")})`);
    case "pattern":
      return rows(`NOT regexp_full_match(${value}, ${quoteText(rule.pattern)})`);
    case "expression":
      return {
        kind: "rows",
        broken: `NOT (${expressionSql(readExpression(rule.expression), schema)})`,
        columns: columns.slice(0, maxShown),
      };
    case "reference":
      return rows(`${value} IS NOT NULL AND NOT ${foundName(index)}`);
    case "unique":
      return { kind: "repeats", columns };
    case "freshness":
      return { kind: "value", value: `strftime(max(${value}), '%Y-%m-%dT%H:%M:%S.%gZ')`, columns };
    case "statistic":
      return { kind: "value", value: statisticSql(rule, value, rowCount), columns };
    case "type":
    case "rowCount":
    case "drift":
      return { kind: "none" };
  }
}

/** Returns the aggregate of a compiled rule for the query over all rows; `undefined` if it needs none. */
export function aggregateOf(rule: CompiledRule): string | undefined {
  switch (rule.kind) {
    case "rows":
      return `count_if(${rule.broken})`;
    case "value":
      return rule.value;
    case "repeats":
      return repeatsSql(rule.columns);
    case "none":
      return undefined;
  }
}

/**
 * Returns SQL for the number of rows that repeat an earlier one. Several columns are compared by a hash of 64 bits: equal
 * rows are always found, and a rule that seems violated is counted again by its values.
 */
function repeatsSql(columns: readonly string[]): string {
  const names = columns.map(quoteName);
  if (names.length === 1) return `count(${names[0]}) - count(DISTINCT ${names[0]})`;
  const isThere = names.map((name) => `${name} IS NOT NULL`).join(" AND ");
  return `count_if(${isThere}) - count(DISTINCT CASE WHEN ${isThere} THEN hash(${names.join(", ")}) END)`;
}

function rangeBroken({ minimum, maximum }: RuleOf<"range">, { name, type }: ColumnSchema): string {
  const value = quoteName(name);
  if (type !== "tensor") return outside(value, minimum, maximum);
  const [least, most] = [
    outside(`list_min(${value})`, minimum, undefined),
    outside(`list_max(${value})`, undefined, maximum),
  ];
  return minimum === undefined ? most : maximum === undefined ? least : `${least} OR ${most}`;
}

function outside(value: string, minimum?: number | string, maximum?: number | string): string {
  const below = minimum === undefined ? [] : [`${value} < ${boundLiteral(minimum)}`];
  const above = maximum === undefined ? [] : [`${value} > ${boundLiteral(maximum)}`];
  return [...below, ...above].join(" OR ");
}

function literal(value: string | number | boolean): string {
  return typeof value === "string" ? quoteText(value) : String(value);
}

/** A time in a bound becomes UTC here, because DuckDB would omit its offset. */
function boundLiteral(bound: string | number): string {
  return typeof bound === "string" ? `TIMESTAMP ${quoteText(new Date(timeOf(bound)!).toISOString())}` : String(bound);
}

/** Above `exactProfileRows` rows quantiles and distinct counts are approximate, as in a profile. */
function statisticSql({ statistic, probability }: RuleOf<"statistic">, value: string, rowCount: number): string {
  const number = `CAST(${value} AS DOUBLE)`;
  const isExact = rowCount <= exactProfileRows;
  switch (statistic) {
    case "mean":
      return `avg(${number})`;
    case "std":
      return `stddev_pop(${number})`;
    case "quantile":
      return `${isExact ? "quantile_cont" : "approx_quantile"}(${number}, ${probability})`;
    case "nullShare":
      return `(count(*) - count(${value})) / count(*)`;
    case "distinct":
      return isExact ? `count(DISTINCT ${value})` : `approx_count_distinct(${value})`;
  }
}

function expressionSql(parts: readonly ExpressionPart[], schema: readonly ColumnSchema[]): string {
  return parts.map((part) => ("text" in part ? part.text : quoteName(findColumn(schema, part.column)!.name))).join(" ");
}
