import type { Category } from "../datasets/profile";
import { elementsOf, isNullable, rulesOf } from "../datasets/rules";
import type { ColumnSchema } from "../datasets/shapes";
import { InvalidInputError, type Problem } from "../errors";
import { type RawRow, timeOf } from "../raw-row";
import { codeLookup } from "./category-codes";
import type { FeatureOutput, FeatureTransform } from "./shapes";
import { partOf } from "./values";

export type { RawRow } from "../raw-row";

type Numeric = Extract<FeatureOutput, { readonly kind: "numeric" }>;

/** Computes `(x - mean) / deviation` in float64; the caller's float32 array rounds it once. */
export function standardized(value: number, { mean, deviation }: Pick<Numeric, "mean" | "deviation">): number {
  return (value - mean) / deviation;
}

/**
 * Applies a fitted transform to raw rows for serving. The numbers are bit-identical to those of training for the same
 * row.
 *
 * @param columns the model's input schema: types, and which columns may be missing
 */
export function createRowTransform(
  transform: FeatureTransform,
  columns: readonly ColumnSchema[],
): { readonly apply: (rows: readonly RawRow[]) => Float32Array } {
  const schema = new Map(columns.map((column) => [column.name, column]));
  const lookups = new Map(
    transform.outputs.map((output) => [output, output.kind === "one-hot" ? codeLookup(output) : undefined]),
  );
  return {
    /**
     * Returns the dense input `[rows, width]`, row-major.
     *
     * @throws InvalidInputError with every problem of every row
     */
    apply(rows) {
      const problems: Problem[] = [];
      const dense = new Float32Array(rows.length * transform.width);
      for (const [index, row] of rows.entries()) {
        const values = new Map<string, RawValue>();
        for (const { column } of transform.outputs) {
          if (values.has(column)) continue;
          // A row without a column called `constructor` inherits a property of that name.
          const raw = Object.hasOwn(row, column) ? row[column] : undefined;
          const read = readRaw(raw, schema.get(column)!);
          if (read.rule !== undefined) {
            problems.push({
              path: `rows[${index}].${column}`,
              ...(raw === null ? {} : { value: raw }),
              rule: read.rule,
            });
          }
          values.set(column, read);
        }
        for (const output of transform.outputs) {
          const at = index * transform.width + output.offset;
          const value = values.get(output.column)!;
          if (output.kind === "numeric") {
            value.numbers?.forEach((number, i) => {
              dense[at + i] = standardized(number, output);
            });
          } else {
            const [time] = value.numbers ?? [];
            const part = output.part !== undefined && time !== undefined ? partOf(time, output.part) : undefined;
            const code = lookups.get(output)!(output.part === undefined ? value.category : part);
            if (code >= 0) dense[at + code] = 1;
          }
        }
      }
      if (problems.length > 0) throw new InvalidInputError("the rows do not fit the model's input schema", problems);
      return dense;
    },
  };
}

/** A raw value as numbers or as a category, or the rule that it breaks. */
export interface RawValue {
  readonly numbers?: readonly number[];
  readonly category?: Category;
  /** The rule that the value breaks. */
  readonly rule?: string;
}

/** Reads a raw value as its column's type. */
export function readRaw(value: unknown, column: ColumnSchema): RawValue {
  if (value === null || value === undefined) {
    return isNullable(column) ? {} : { rule: ruleText(column, "present") };
  }
  const wrong: RawValue = { rule: ruleText(column, "type") };
  switch (column.type) {
    case "string":
      return typeof value === "string" ? { category: value } : wrong;
    case "bool":
      if (value === 1 || value === 0) return { category: value === 1 };
      return typeof value === "boolean" ? { category: value } : wrong;
    case "int":
      return typeof value === "number" && Number.isSafeInteger(value) ? { numbers: [value], category: value } : wrong;
    case "float":
      return typeof value === "number" && Number.isFinite(value) ? { numbers: [value] } : wrong;
    case "timestamp": {
      const time = timeOf(value);
      return Number.isFinite(time) ? { numbers: [time] } : wrong;
    }
    case "tensor": {
      const numbers: unknown[] = Array.isArray(value) ? value.flat(Number.POSITIVE_INFINITY) : [];
      const fits = numbers.length === elementsOf(column) && numbers.every(Number.isFinite);
      // The dataset stores a tensor's numbers as float32.
      return fits ? { numbers: (numbers as number[]).map(Math.fround) } : wrong;
    }
  }
}

function ruleText(column: ColumnSchema, kind: "present" | "type"): string {
  // Tokens and formats belong to files. A request has null, and times in ISO 8601.
  const request = { ...column, nullable: false, missing: undefined, format: undefined };
  return rulesOf(request).find((rule) => rule.kind === kind)!.text;
}
