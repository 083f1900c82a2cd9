import type { ColumnSchema } from "../datasets/shapes";
import { InvalidInputError, type Problem } from "../errors";
import type { ColumnEncoding } from "../runs/feature-settings";
import { planOf } from "../runs/feature-settings";
import { choiceProblems, chosenFeatures, type FeatureChoice } from "./choice";
import { piecesOf } from "./piecewise";
import type { TimestampPart } from "./shapes";

/**
 * A column, and the kind of feature that the model receives for it, before anything is fitted. Without a choice of the job,
 * the column's type decides:
 *
 * | column | features |
 * |---|---|
 * | float, int | one standardised number, and its pieces if the job has some (`piecewise.ts`); missing: 0, the mean |
 * | int with a closed set of `values`, string, bool | one-hot over the training split's values; unknown or missing: all 0 |
 * | string with more than 1,000 values | top-k: one-hot over the 1,000 most frequent, and a position for all others |
 * | timestamp | one-hots of hour, day of the week and month, UTC: closed sets, which also fit years that were never
 * seen |
 * | tensor | its numbers, standardised by one mean and deviation over all of them, which keeps the relations of pixels |
 */
export type FeatureColumn =
  | {
      readonly kind: "numeric";
      readonly column: ColumnSchema;
      readonly pieces?: number;
    }
  | {
      readonly kind: "one-hot";
      readonly column: ColumnSchema;
      readonly part?: TimestampPart;
      readonly encoding?: ColumnEncoding;
    };

/** The columns that the fit of a job without a plan reads. With a plan, `features` is empty. */
export interface FitColumns {
  readonly features: readonly FeatureColumn[];
  readonly label: { readonly kind: "class" | "value"; readonly column: ColumnSchema };
  /** Columns by which the evaluation is divided into slices: those of the job, then those with role `slice`. */
  readonly slices: readonly ColumnSchema[];
}

const timestampParts: readonly TimestampPart[] = ["hour", "dayOfWeek", "month"];

/**
 * Returns the columns that the fit of a job reads.
 *
 * @throws InvalidInputError if the job requests slices or features that the schema does not have
 */
export function fitColumnsOf(
  schema: readonly ColumnSchema[],
  jobSlices: readonly string[],
  choice: FeatureChoice = {},
): FitColumns {
  const problems = choiceProblems(schema, choice);
  if (problems.length > 0) throw new InvalidInputError("the job's features do not fit the dataset", problems);
  const chosen = chosenFeatures(schema, choice);
  const numbers = chosen.filter(isNumber).length;
  const pieces = piecesOf(choice.features?.pieces ?? 0, numbers);
  const isPlanned = planOf(choice.features ?? {}) !== undefined;
  const features = (isPlanned ? [] : chosen).flatMap((column) => {
    const encoding = Object.hasOwn(choice.features?.columns ?? {}, column.name)
      ? choice.features?.columns?.[column.name]
      : undefined;
    return encoding ? [{ kind: "one-hot" as const, column, encoding }] : columnsOf(column, pieces);
  });
  const label = schema.find(({ role }) => role === "label");
  if (label === undefined) throw new Error("a registered schema has a label"); // `registerDataset` saw to it
  return {
    features,
    label: { kind: label.type === "float" ? "value" : "class", column: label },
    slices: slicesOf(schema, jobSlices),
  };
}

/** Whether a column is one number by default. */
function isNumber({ type, values }: ColumnSchema): boolean {
  return type === "float" || (type === "int" && values === undefined);
}

function columnsOf(column: ColumnSchema, pieces: number): readonly FeatureColumn[] {
  if (isNumber(column)) return [{ kind: "numeric", column, ...(pieces < 2 ? {} : { pieces }) }];
  switch (column.type) {
    case "float":
    case "tensor":
      return [{ kind: "numeric", column }];
    case "int":
    case "string":
    case "bool":
      return [{ kind: "one-hot", column }];
    case "timestamp":
      return timestampParts.map((part) => ({ kind: "one-hot", column, part }));
  }
}

function slicesOf(schema: readonly ColumnSchema[], jobSlices: readonly string[]): readonly ColumnSchema[] {
  const names = new Set([...jobSlices, ...schema.filter(({ role }) => role === "slice").map(({ name }) => name)]);
  const problems: Problem[] = [];
  const slices: ColumnSchema[] = [];
  for (const name of names) {
    const column = schema.find((candidate) => candidate.name === name);
    if (column === undefined) {
      const rule = `must name columns of the dataset: ${schema.map((one) => one.name).join(", ")}`;
      problems.push({ path: "evaluation.slices", value: name, rule });
    } else if (column.type !== "int" && column.type !== "string" && column.type !== "bool") {
      const rule = `must name int, string or bool columns, but the type of this one is ${column.type}`;
      problems.push({ path: "evaluation.slices", value: name, rule });
    } else slices.push(column);
  }
  if (problems.length > 0) throw new InvalidInputError("the job's slices do not fit the dataset", problems);
  return slices;
}
