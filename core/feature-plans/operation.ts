import type { CalendarPart } from "./dialects";

/** The name of a function of `expression.ts`, with its parameters. */
export type Computation =
  | { readonly op: "variable"; readonly name: string }
  | { readonly op: "number"; readonly value: number }
  | { readonly op: "text"; readonly value: string }
  | {
      readonly op:
        | "add"
        | "subtract"
        | "multiply"
        | "divide"
        | "less"
        | "floor"
        | "finite"
        | "ln"
        | "sin"
        | "cos"
        | "coalesce"
        | "missing"
        | "wholeText"
        | "booleanText"
        | "booleanNumber"
        | "join"
        | "textLength";
    }
  | { readonly op: "bucketIndex"; readonly boundaries: readonly number[] }
  | { readonly op: "clamp"; readonly low: number; readonly high: number }
  | { readonly op: "calendarPart"; readonly part: CalendarPart }
  | { readonly op: "bucketOf"; readonly buckets: number }
  | { readonly op: "lookup"; readonly table: readonly (readonly [string, number])[] }
  | { readonly op: "ngramBuckets"; readonly n: number; readonly buckets: number; readonly maxCharacters: number }
  | { readonly op: "countIn"; readonly value: number };

/** An expression as JSON, from which exports make further targets. The inputs are the function's arguments. */
export type Operation = Computation & { readonly inputs: readonly Operation[] };
