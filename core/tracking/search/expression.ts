/**
 * A filter as a tree, the same for every language.
 *
 * @typeParam F the fields of conditions: by default a run's fields
 */
export type Expression<F = Field> =
  | { readonly type: "and" | "or"; readonly operands: readonly Expression<F>[] }
  | { readonly type: "not"; readonly operand: Expression<F> }
  | Condition<F>;

export type Comparator = "=" | "!=" | "<" | "<=" | ">" | ">=";

export type Condition<F = Field> = { readonly field: F } & Test;

export type Test =
  | { readonly type: "compare"; readonly comparator: Comparator; readonly value: Value }
  | { readonly type: "in"; readonly negated: boolean; readonly values: readonly Value[] }
  | { readonly type: "like"; readonly negated: boolean; readonly pattern: string; readonly ignoreCase: boolean }
  | { readonly type: "between"; readonly negated: boolean; readonly low: Value; readonly high: Value }
  | { readonly type: "null"; readonly negated: boolean };

/** Numbers are compared as numbers, texts as texts, booleans with the texts `true` and `false` in any case. */
export type Value = number | string | boolean;

export type MetricAspect = "last" | "min" | "max" | "step";

export type Field =
  | {
      readonly kind: "metric";
      readonly name: string;
      readonly aspect: MetricAspect;
      /** Whether the name must match exactly; otherwise it may abbreviate another. */
      readonly exact: boolean;
    }
  | { readonly kind: "param"; readonly name: string; readonly exact: boolean }
  | { readonly kind: "tag"; readonly name: string }
  | { readonly kind: "attribute"; readonly name: Attribute }
  | { readonly kind: "dataset"; readonly name: DatasetField };

export type DatasetField = "name" | "digest" | "version" | "context";

/** The types of the attributes, which determine the literals for comparisons. */
export const attributes = {
  run_id: "text",
  name: "text",
  status: "status",
  experiment: "text",
  experiment_id: "text",
  created_by: "text",
  start_time: "time",
  end_time: "time",
  duration: "number",
  artifact_uri: "text",
  source: "text",
  parent: "text",
  notes: "text",
  lifecycle: "text",
  seed: "number",
  weights_sha256: "text",
  reused_from: "text",
  commit: "text",
  dirty: "boolean",
  repository: "text",
  branch: "text",
  entry_point: "text",
  module_sha256: "text",
  image_digest: "text",
  lockfile_sha256: "text",
  backend: "text",
  device: "text",
  /** MLflow's statuses: `SCHEDULED`, `RUNNING`, `FINISHED`, … */
  mlflow_status: "text",
} as const;
export type Attribute = keyof typeof attributes;

export interface OrderTerm<F = Field> {
  readonly field: F;
  readonly ascending: boolean;
}

export function fieldsOf<F>(expression: Expression<F>): readonly F[] {
  switch (expression.type) {
    case "and":
    case "or":
      return expression.operands.flatMap((operand) => fieldsOf(operand));
    case "not":
      return fieldsOf(expression.operand);
    default:
      return [expression.field];
  }
}
