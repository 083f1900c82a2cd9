import type { ColumnSchema } from "../datasets/shapes";
import type { Problem } from "../errors";
import type { ColumnEncoding, FeatureSettings } from "../runs/feature-settings";

import { planProblems } from "./planned-fit";

/** The features that a job chooses, and their encodings. By default all of the dataset, by their types. */
export interface FeatureChoice {
  readonly columns?: readonly string[] | undefined;
  readonly drop?: readonly string[] | undefined;
  readonly features?: Partial<FeatureSettings> | undefined;
}

/** Returns the feature columns that the job uses, in the dataset's order. */
export function chosenFeatures(
  schema: readonly ColumnSchema[],
  { columns, drop = [] }: FeatureChoice,
): readonly ColumnSchema[] {
  return schema.filter(
    ({ name, role }) => role === "feature" && !drop.includes(name) && (columns === undefined || columns.includes(name)),
  );
}

export function choiceProblems(schema: readonly ColumnSchema[], choice: FeatureChoice): readonly Problem[] {
  const planned = planProblems(schema, choice.features ?? {});
  if (planned.length > 0) return planned;
  const names = schema.filter(({ role }) => role === "feature").map(({ name }) => name);
  const problems: Problem[] = [];
  for (const field of ["columns", "drop"] as const) {
    choice[field]?.forEach((name, index) => {
      if (!names.includes(name)) problems.push({ path: `${field}.${index}`, value: name, rule: unknownRule(names) });
    });
  }
  const chosen = chosenFeatures(schema, choice);
  if (problems.length === 0 && chosen.length === 0 && names.length > 0) {
    problems.push({ path: "drop", value: choice.drop, rule: "must leave at least one feature" });
  }
  for (const [name, encoding] of Object.entries(choice.features?.columns ?? {})) {
    const path = `features.columns.${name}`;
    const column = chosen.find((candidate) => candidate.name === name);
    const rule = column ? encodingRule(column, encoding) : unknownRule(chosen.map((candidate) => candidate.name));
    if (rule !== undefined) problems.push({ path, value: encoding.encode, rule });
  }
  return problems;
}

function unknownRule(names: readonly string[]): string {
  return `must be a feature column of the job: ${names.slice(0, 50).join(", ")}${names.length > 50 ? ", …" : ""}`;
}

function encodingRule({ type }: ColumnSchema, { encode }: ColumnEncoding): string | undefined {
  if (type === "string" || (type === "int" && encode !== "hash")) return undefined;
  const fitting = encode === "hash" ? "a string column" : "a string or int column";
  return `must be left out: ${encode} needs ${fitting}, and the type is ${type}`;
}
