import type { ColumnSchema } from "../datasets/shapes";
import type { Problem } from "../errors";
import { type Column, columnOf, numbersOf, type RowColumns } from "../feature-plans/columns";
import { canonicalText, compilePlan } from "../feature-plans/compile";
import { duckdb } from "../feature-plans/dialects";
import { encodedColumnsOf } from "../feature-plans/plan-columns";
import type { FittedPlan } from "../feature-plans/shapes";
import type { RawRow } from "../row-values";
import { batchColumns } from "./planned-fit";
import type { FeatureOutput, FeatureTransform } from "./shapes";
import { readRaw } from "./transform-values";
import type { ColumnBatch } from "./values";

type PlannedTransform = FeatureTransform & { readonly plan: FittedPlan };

/** Returns the transform of a fitted plan: numbers first, then one-hots. A missing number is 0, a missing category all 0. */
export function plannedTransform(plan: FittedPlan): FeatureTransform {
  const outputs: FeatureOutput[] = [];
  let [offset, numbers, codes] = [0, 0, 0];
  for (const output of compilePlan(plan).outputs) {
    const { name: column } = output;
    if (output.kind === "number") {
      outputs.push({ kind: "numeric", column, offset, width: 1, source: numbers, mean: 0, deviation: 1 });
      numbers += 1;
      offset += 1;
    } else {
      const width = output.vocabulary.length;
      outputs.push({ kind: "one-hot", column, offset, width, source: codes, vocabulary: [] });
      codes += 1;
      offset += width;
    }
  }
  return { outputs, width: offset, shape: [offset], plan };
}

export function inputColumns({ outputs, plan }: FeatureTransform): ReadonlySet<string> {
  return new Set(plan ? encodedColumnsOf(plan.view) : outputs.map(({ column }) => column));
}

/** Computes a plan's features for the rows of a batch. Training rows have target encodings out of fold. */
type BatchFeatures = (batch: ColumnBatch, outOfFold: boolean) => readonly Column[];

/** Shares the features of a batch between the encoders of the splits. */
const batchFeatures = new WeakMap<FittedPlan, BatchFeatures>();

function batchFeaturesOf(plan: FittedPlan): BatchFeatures {
  const cachedFeatures = batchFeatures.get(plan);
  if (cachedFeatures) return cachedFeatures;
  const [inFold, outside] = [compilePlan(plan), compilePlan(plan, true)];
  // Outputs with the same SQL are the same expression; the others depend on a target encoding.
  const values = inFold.outputs.map(({ value }, i) => {
    const training = outside.outputs[i]!.value;
    return { value, training: training.sql(duckdb) === value.sql(duckdb) ? value : training };
  });
  let current: { readonly batch: ColumnBatch; readonly rows: RowColumns } | undefined;
  const features: BatchFeatures = (batch, outOfFold) => {
    if (current?.batch !== batch) {
      const rows = batchColumns(batch, plan.columns);
      for (const { name, value } of inFold.intermediates) rows.columns.set(name, columnOf(value, rows));
      current = { batch, rows };
    }
    const { rows } = current;
    return values.map(({ value, training }) => columnOf(outOfFold ? training : value, rows));
  };
  batchFeatures.set(plan, features);
  return features;
}

interface RowTensor<Values> {
  readonly values: Values;
  readonly width: number;
}

/** Returns a function that writes the features of some rows of a batch into a shard's tensors, from row `at` on. */
export function plannedRowsEncoder(
  { plan, outputs }: PlannedTransform,
  outOfFold: boolean,
): (
  batch: ColumnBatch,
  rows: Uint32Array,
  numeric: RowTensor<Float32Array>,
  codes: RowTensor<Int32Array>,
  at: number,
) => void {
  const featuresOf = batchFeaturesOf(plan);
  return (batch, rows, numeric, codes, at) => {
    const columns = featuresOf(batch, outOfFold);
    for (const [index, { kind, source }] of outputs.entries()) {
      const column = numbersOf(columns[index]!, batch.rows);
      if (kind === "numeric") writeColumn(column, rows, numeric, at, source, 0);
      else writeColumn(column, rows, codes, at, source, -1);
    }
  };
}

/** @param missing stands for a missing number */
function writeColumn(
  column: Float64Array,
  rows: Uint32Array,
  { values, width }: RowTensor<Float32Array | Int32Array>,
  at: number,
  source: number,
  missing: number,
): void {
  let to = at * width + source;
  for (let i = 0; i < rows.length; i += 1, to += width) {
    const value = column[rows[i]!]!;
    values[to] = Number.isNaN(value) ? missing : value;
  }
}

/**
 * Returns a function that writes a raw row's dense features over zeros, and returns the problems of its values.
 *
 * @param columns the model's input schema
 */
export function plannedRow(
  transform: PlannedTransform,
  columns: readonly ColumnSchema[],
): (row: RawRow, into: Float32Array, at: number) => readonly Problem[] {
  const { intermediates, outputs } = compilePlan(transform.plan);
  const needed = inputColumns(transform);
  const inputs = columns.filter(({ name }) => needed.has(name));
  return (raw, into, at) => {
    const problems: Problem[] = [];
    const row: Record<string, unknown> = {};
    for (const column of inputs) {
      const value = Object.hasOwn(raw, column.name) ? raw[column.name] : undefined;
      const { rule, numbers, category } = readRaw(value, column);
      if (rule !== undefined) problems.push({ path: column.name, ...(value === null ? {} : { value }), rule });
      const scalar = column.type === "string" || column.type === "bool" ? category : numbers?.[0];
      row[column.name] = typeof scalar === "string" ? canonicalText(scalar) : (scalar ?? null);
    }
    if (problems.length > 0) return problems;
    for (const { name, value } of intermediates) row[name] = value.valueOf(row);
    for (const [i, { value }] of outputs.entries()) {
      const result = value.valueOf(row);
      const { kind, offset } = transform.outputs[i]!;
      if (result === null) continue;
      if (kind === "numeric") into[at + offset] = result;
      else into[at + offset + result] = 1;
    }
    return problems;
  };
}
