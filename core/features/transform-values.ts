import { elementsOf, isNullable, rulesOf } from "../datasets/rules";
import type { ColumnSchema } from "../datasets/shapes";
import type { Category } from "../row-values";
import { timeOf } from "../row-values";

/** A raw value as numbers or as a category, or the rule that it breaks. */
export interface RawValue {
  readonly numbers?: readonly number[];
  readonly category?: Category;
  /** The rule that the value breaks. */
  readonly rule?: string;
}

export function readRaw(value: unknown, column: ColumnSchema): RawValue {
  if (value === null || value === undefined) {
    return isNullable(column) ? {} : { rule: ruleText(column, "present") };
  }
  // A text is made only for a wrong value, because it takes longer than the rest.
  const wrong = (): RawValue => ({ rule: ruleText(column, "type") });
  switch (column.type) {
    case "string":
      return typeof value === "string" ? { category: value } : wrong();
    case "bool":
      if (value === 1 || value === 0) return { category: value === 1 };
      return typeof value === "boolean" ? { category: value } : wrong();
    case "int":
      return typeof value === "number" && Number.isSafeInteger(value) ? { numbers: [value], category: value } : wrong();
    case "float":
      return typeof value === "number" && Number.isFinite(value) ? { numbers: [value] } : wrong();
    case "timestamp": {
      const time = timeOf(value);
      return Number.isFinite(time) ? { numbers: [time] } : wrong();
    }
    case "tensor": {
      const numbers: unknown[] = Array.isArray(value) ? value.flat(Number.POSITIVE_INFINITY) : [];
      const fits = numbers.length === elementsOf(column) && numbers.every(Number.isFinite);
      // The dataset stores a tensor's numbers as float32.
      return fits ? { numbers: (numbers as number[]).map(Math.fround) } : wrong();
    }
  }
}

function ruleText(column: ColumnSchema, kind: "present" | "type"): string {
  // Tokens and formats belong to files. A request has null, and times in ISO 8601.
  const request = { ...column, nullable: false, missing: undefined, format: undefined };
  return rulesOf(request).find((rule) => rule.kind === kind)!.text;
}
