import type { ColumnSchema, ColumnType } from "../shapes";
import { columnsOfRule } from "./describe";
import { expressionColumns, readExpression } from "./expression";
import type { DataContractRule } from "./rules";

const numeric: readonly ColumnType[] = ["int", "float"];

/** Returns a column by its name; in an expression, upper and lower case are the same. */
export function findColumn(schema: readonly ColumnSchema[], name: string): ColumnSchema | undefined {
  return (
    schema.find((column) => column.name === name) ??
    schema.find((column) => column.name.toLowerCase() === name.toLowerCase())
  );
}

/** Returns the columns of the schema that a rule reads, in the rule's order; those that the schema lacks are omitted. */
export function columnsRead(rule: DataContractRule, schema: readonly ColumnSchema[]): readonly ColumnSchema[] {
  const names = rule.rule === "expression" ? expressionColumns(readExpression(rule.expression)) : columnsOfRule(rule);
  const find = (name: string) =>
    rule.rule === "expression" ? findColumn(schema, name) : schema.find((column) => column.name === name);
  const columns = names.map(find).filter((column) => column !== undefined);
  return [...new Set(columns)];
}

/** Returns why a rule cannot be applied to columns; `undefined` if it can. */
export function inapplicability(rule: DataContractRule, schema: readonly ColumnSchema[]): string | undefined {
  if (rule.rule === "expression") {
    const lacking = expressionColumns(readExpression(rule.expression)).filter((name) => !findColumn(schema, name));
    return lacking.length === 0 ? undefined : absenceText(lacking);
  }
  const named = columnsOfRule(rule);
  const lacking = named.filter((name) => !schema.some((column) => column.name === name));
  if (lacking.length > 0) return absenceText(lacking);
  const column = schema.find(({ name }) => name === named[0]);
  return column && typeProblem(rule, column, schema);
}

function absenceText(names: readonly string[]): string {
  return names.length === 1 ? `there is no column ${names[0]}` : `there are no columns ${names.join(", ")}`;
}

function typeProblem(
  rule: DataContractRule,
  { type }: ColumnSchema,
  schema: readonly ColumnSchema[],
): string | undefined {
  const not = (needed: string): string => `the column's type is ${type}, and the rule needs ${needed}`;
  switch (rule.rule) {
    case "range": {
      const isTime = typeof (rule.minimum ?? rule.maximum) === "string";
      if (isTime) return type === "timestamp" ? undefined : not("a timestamp, because its bounds are times");
      return numeric.includes(type) || type === "tensor" ? undefined : not("an int, float or tensor");
    }
    case "length":
    case "pattern":
      return type === "string" ? undefined : not("a string");
    case "values": {
      const [value] = rule.values;
      if (type === "bool") return typeof value === "boolean" ? undefined : not("values of its type: true, false");
      if (type === "string") return typeof value === "string" ? undefined : not("values of its type: texts");
      if (numeric.includes(type)) return typeof value === "number" ? undefined : not("values of its type: numbers");
      return not("an int, float, string or bool");
    }
    case "freshness":
      return type === "timestamp" ? undefined : not("a timestamp");
    case "unique": {
      const tensor = schema.find((column) => column.type === "tensor" && rule.columns.includes(column.name));
      return tensor === undefined ? undefined : `column ${tensor.name} is a tensor, which cannot be unique`;
    }
    case "reference":
      return type === "tensor" ? not("single values") : undefined;
    case "statistic":
      if (rule.statistic === "nullShare" || numeric.includes(type)) return undefined;
      if (rule.statistic === "distinct") return type === "tensor" ? not("single values") : undefined;
      return not("an int or float");
    default:
      return undefined;
  }
}
