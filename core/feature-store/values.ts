import { canonicalText } from "../feature-plans/compile";
import type { PlanColumn } from "../feature-plans/shapes";
import { timeOf } from "../row-values";

/**
 * Returns a value as stored rows have it, with times in milliseconds since the epoch. Times are ISO 8601; without an offset
 * they are UTC, as in files.
 *
 * @returns `undefined` for a value of another type
 */
export function storedValue(value: unknown, type: PlanColumn["type"]): string | number | boolean | undefined {
  switch (type) {
    case "int":
      return Number.isSafeInteger(value) ? (value as number) : undefined;
    case "float":
      return typeof value === "number" ? value : undefined;
    case "bool":
      return typeof value === "boolean" ? value : undefined;
    case "string":
      return typeof value === "string" ? canonicalText(value) : undefined;
    case "timestamp": {
      const time = typeof value === "string" && /^\d{4,}-/.test(value) ? timeOf(value) : Number.NaN;
      return Number.isNaN(time) ? undefined : time;
    }
  }
}
