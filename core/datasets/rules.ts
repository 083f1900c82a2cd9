import * as z from "zod";
import { typeText } from "./identity";
import type { ColumnSchema } from "./shapes";

/** A rule for every row of a column. Adapters turn its kind into a query; the message is defined only here. */
export interface ColumnRule {
  readonly column: ColumnSchema;
  readonly kind: "present" | "type" | "single" | "finite" | "minimum" | "maximum" | "values";
  /**
   * Text that follows the value, e.g. `must be a whole number`; the whole message if there is no value: `value is
   * missing`.
   */
  readonly text: string;
}

/** The largest number of a column. Sums of the squares of larger ones may be no numbers. */
export const maxMagnitude = "1e100";

/** The advice for a label of lists or objects. */
export const oneClass =
  "write a column with one value for each row, such as a bool for each class, or a row for each element of a list";

export function rulesOf(column: ColumnSchema): readonly ColumnRule[] {
  const rules: ColumnRule[] = [];
  const add = (kind: ColumnRule["kind"], text: string): void => void rules.push({ column, kind, text });
  if (!isNullable(column)) {
    const missing = column.missing?.length
      ? `must not be missing (empty, ${listTokens(column.missing)})`
      : "value is missing";
    add("present", column.role === "label" ? `${missing}: every row needs a label` : missing);
  }
  add("type", `must be ${meaningOf(column)}`);
  if (column.role === "label" && column.type === "string") add("single", `must be one class: ${oneClass}`);
  if (column.type === "float")
    add("finite", `must be finite, neither NaN nor infinite, and from -${maxMagnitude} to ${maxMagnitude}`);
  const each = column.type === "tensor" ? "each number must" : "must";
  if (column.minimum !== undefined) add("minimum", `${each} be at least ${column.minimum}`);
  if (column.maximum !== undefined) add("maximum", `${each} be at most ${column.maximum}`);
  if (column.values !== undefined) add("values", `must be one of ${listed(column.values)}`);
  return rules;
}

/** Tests whether a column may have missing values: never a label, other columns only if the schema permits it. */
export function isNullable(column: ColumnSchema): boolean {
  return column.nullable === true && column.role !== "label";
}

function meaningOf(column: ColumnSchema): string {
  switch (column.type) {
    case "int":
      return `a whole number of at most 53 bits${formatted(column)}`;
    case "float":
      return `a number${formatted(column)}`;
    case "string":
      return "text";
    case "bool":
      return "true or false (or 1 or 0)";
    case "timestamp":
      return column.format === undefined
        ? "a date or time in ISO 8601"
        : `a date or time in the format ${column.format}`;
    case "tensor":
      return `a list of ${elementsOf(column)} finite numbers (${typeText(column)})`;
  }
}

function formatted({ format }: ColumnSchema): string {
  return format === undefined ? "" : `, written like ${format}`;
}

export const maxDimensions = 4;

/** Returns how many numbers one value has: 1, or the product of a tensor's shape. */
export function elementsOf({ shape }: Pick<ColumnSchema, "shape">): number {
  return (shape ?? []).reduce((product, length) => product * length, 1);
}

export function listed(values: readonly (string | number | boolean)[]): string {
  const shown = values.slice(0, 8).map((value) => JSON.stringify(value));
  return shown.join(", ") + (values.length > shown.length ? `, … (${values.length} values)` : "");
}

/** Tokens as people write them in YAML: `null` and numbers mean their text. */
export const missingTokens = z
  .array(z.union([z.string().max(64), z.number(), z.null()]).transform(String))
  .max(100)
  .transform((tokens) => [...new Set(tokens.map((token) => token.trim()))].filter((token) => token !== ""));

/** The conversion specifiers of DuckDB's `strptime`. */
const specifier = /%(-?[dmyHIMSj]|[abBYpfgnzZ%])/g;

/** Returns the rule that a timestamp's format breaks; `undefined` if it breaks none. */
export function formatProblem(format: string): string | undefined {
  const rest = format.replaceAll(specifier, "");
  if (rest.includes("%")) {
    const unknown = rest.slice(rest.indexOf("%"), rest.indexOf("%") + 2);
    return `must have only specifiers of DuckDB's strptime such as %d, %m, %Y, %H, %M and %S, and ${unknown} is none`;
  }
  if (!/%-?[Yy]/.test(format.replaceAll("%%", ""))) return "must have a year, %Y or %y, e.g. %d/%m/%Y";
  return undefined;
}

/** Lists tokens for a message: `"NA", "?"`. */
export function listTokens(tokens: readonly string[]): string {
  return tokens.map((token) => JSON.stringify(token)).join(", ");
}
