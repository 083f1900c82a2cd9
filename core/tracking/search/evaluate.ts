import { workMs } from "../../runs/run";
import type { DatasetInput, RunRecord } from "../shapes";
import type { Attribute, Comparator, Condition, DatasetField, Expression, Test, Value } from "./expression";
import { likeMatcher } from "./like";

/** Reads the value of a field: `undefined` if a row does not have it, a list if a row may have several. */
export type Reader<Row> = (row: Row) => Value | undefined | readonly Value[];

/**
 * Compiles a filter to a predicate. As in SQL, a condition on a missing value is neither true nor false, and neither is
 * its NOT. NOT is moved to the conditions (De Morgan), and a condition, negated or not, holds only if there is a value.
 * Only `IS NULL` tests for missing values.
 *
 * A row may have several values of a field, such as the datasets of a run. A condition holds if one of them satisfies
 * it, its NOT if none does.
 */
export function compileFilter<F, Row>(
  expression: Expression<F>,
  readerOf: (field: F) => Reader<Row>,
  denied = false,
): (row: Row) => boolean {
  switch (expression.type) {
    case "not":
      return compileFilter(expression.operand, readerOf, !denied);
    case "and":
    case "or": {
      const parts = expression.operands.map((operand) => compileFilter(operand, readerOf, denied));
      const all = (expression.type === "and") !== denied;
      return all ? (row) => parts.every((part) => part(row)) : (row) => parts.some((part) => part(row));
    }
    default:
      return compileCondition(expression, readerOf(expression.field), denied);
  }
}

function compileCondition<F, Row>(condition: Condition<F>, read: Reader<Row>, denied: boolean): (row: Row) => boolean {
  if (condition.type === "null") {
    const wanted = condition.negated !== denied;
    return (row) => {
      const value = read(row);
      return (Array.isArray(value) ? value.length > 0 : value !== undefined) === wanted;
    };
  }
  const test = valueTest(condition);
  return (row) => {
    const value = read(row);
    if (value === undefined) return false;
    if (typeof value === "object") return value.some((one) => test(one) === true) !== denied;
    const met = test(value);
    return met !== undefined && met !== denied;
  };
}

/** `undefined` if the value has another type than the literal: it neither satisfies nor fails the condition. */
type ValueTest = (value: Value) => boolean | undefined;

function valueTest(condition: Exclude<Test, { type: "null" }>): ValueTest {
  switch (condition.type) {
    case "compare":
      return comparisonTest(condition.comparator, condition.value);
    case "like": {
      const matches = likeMatcher(condition.pattern, condition.ignoreCase);
      return (value) => matches(String(value)) !== condition.negated;
    }
    case "between": {
      const from = comparisonTest(">=", condition.low);
      const to = comparisonTest("<=", condition.high);
      return (value) => {
        const above = from(value);
        return above === undefined ? undefined : (above && to(value) === true) !== condition.negated;
      };
    }
    case "in": {
      const texts = new Set(condition.values.filter((one) => typeof one === "string"));
      const others = condition.values.filter((one) => typeof one !== "string").map((one) => comparisonTest("=", one));
      return (value) => {
        if (typeof value === "string" && texts.has(value)) return !condition.negated;
        const results = others.map((test) => test(value));
        if (results.includes(true)) return !condition.negated;
        const comparable = texts.size > 0 ? typeof value === "string" : results.some((one) => one !== undefined);
        return comparable ? condition.negated : undefined;
      };
    }
  }
}

function comparisonTest(comparator: Comparator, wanted: Value): ValueTest {
  if (typeof wanted === "boolean") {
    return (value) => {
      const truth = typeof value === "boolean" ? value : booleanOfText(String(value));
      return truth === undefined ? undefined : (truth === wanted) === (comparator === "=");
    };
  }
  if (typeof wanted === "number") {
    const holds = numberComparisons[comparator];
    return (value) => {
      const number = typeof value === "number" ? value : typeof value === "string" ? numberOfText(value) : undefined;
      return number === undefined ? undefined : holds(number, wanted);
    };
  }
  const holds = comparisons[comparator];
  return (value) => holds(String(value), wanted);
}

function booleanOfText(text: string): boolean | undefined {
  const word = text.toLowerCase();
  return word === "true" ? true : word === "false" ? false : undefined;
}

const comparisons: Readonly<Record<Comparator, <T extends string | number>(a: T, b: T) => boolean>> = {
  "=": (a, b) => a === b,
  "!=": (a, b) => a !== b,
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
};

/** NaN equals NaN here, so that runs with NaN can be found. It is neither less nor greater than a number. */
const numberComparisons: Readonly<Record<Comparator, (a: number, b: number) => boolean>> = {
  ...comparisons,
  "=": (a, b) => a === b || (Number.isNaN(a) && Number.isNaN(b)),
  "!=": (a, b) => a !== b && !(Number.isNaN(a) && Number.isNaN(b)),
};

export interface SearchContext {
  /** By id. */
  readonly experimentNames: ReadonlyMap<string, string>;
}

export const attributeValues: Readonly<
  Record<Attribute, (record: RunRecord, context: SearchContext) => Value | undefined>
> = {
  run_id: (record) => record.runId,
  name: (record) => record.name,
  status: (record) => record.status,
  experiment: (record, { experimentNames }) => experimentNames.get(record.experimentId),
  experiment_id: (record) => record.experimentId,
  created_by: (record) => record.createdBy,
  start_time: (record) => record.startedAt,
  end_time: (record) => record.endedAt,
  duration: (record) => (record.endedAt === undefined ? undefined : workMs(record, record.endedAt) / 1000),
  artifact_uri: (record) => record.artifactUri,
  source: (record) => record.source,
  parent: (record) => record.parentRunId,
  notes: (record) => (record.notes === "" ? undefined : record.notes),
  lifecycle: (record) => record.lifecycle,
  seed: (record) => record.seed,
  weights_sha256: (record) => record.weightsSha256,
  reused_from: (record) => record.reusedFrom,
  commit: (record) => record.code.commit,
  dirty: (record) => record.code.dirty,
  repository: (record) => record.code.repository,
  branch: (record) => record.code.branch,
  entry_point: (record) => record.code.entryPoint,
  module_sha256: (record) => record.code.moduleSha256,
  image_digest: (record) => record.environment.imageDigest,
  lockfile_sha256: (record) => record.environment.lockfileSha256,
  backend: (record) => record.environment.numerics?.backend,
  device: (record) => record.environment.numerics?.device,
  mlflow_status: (record) => mlflowStatuses[record.status],
};

export type MlflowRunStatus = "RUNNING" | "SCHEDULED" | "FINISHED" | "FAILED" | "KILLED";

export const mlflowStatuses: Readonly<Record<RunRecord["status"], MlflowRunStatus>> = {
  queued: "SCHEDULED",
  running: "RUNNING",
  // MLflow has no paused runs. A scheduled one is not at work, either, and has not ended.
  paused: "SCHEDULED",
  completed: "FINISHED",
  failed: "FAILED",
  killed: "KILLED",
};

/** The tag in which MLflow's clients record the role of a dataset. */
const contextTag = "mlflow.data.context";

export function datasetValue(dataset: DatasetInput, field: DatasetField): string | number | undefined {
  if (field !== "context") return dataset[field];
  return Object.hasOwn(dataset.tags, contextTag) ? dataset.tags[contextTag] : undefined;
}

/** Parses a number, including `nan` and `inf` as Python writes them; `undefined` if the text is not a number. */
export function numberOfText(text: string): number | undefined {
  const trimmed = text.trim();
  if (trimmed === "" || trimmed.length > 64) return undefined;
  const number = Number(trimmed);
  if (!Number.isNaN(number)) return number;
  switch (trimmed.toLowerCase()) {
    case "nan":
      return Number.NaN;
    case "inf":
    case "+inf":
    case "infinity":
      return Number.POSITIVE_INFINITY;
    case "-inf":
    case "-infinity":
      return Number.NEGATIVE_INFINITY;
    default:
      return undefined;
  }
}
