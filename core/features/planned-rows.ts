import type { ColumnSchema } from "../datasets/shapes";
import type { Problem } from "../errors";
import type { RawRow } from "../raw-row";
import type { Output } from "../views/bound-step";
import { canonicalText, compilePlan } from "../views/compile";
import type { FittedPlan, PlanColumn } from "../views/shapes";
import { encodedColumnsOf } from "../views/view-file";
import type { FeatureOutput, FeatureTransform } from "./shapes";
import { readRaw } from "./transform-values";
import type { ColumnBatch, ColumnValues } from "./values";

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

/** Returns the names of the columns that a row needs for its features. */
export function inputColumns({ outputs, plan }: FeatureTransform): ReadonlySet<string> {
  return new Set(plan ? encodedColumnsOf(plan.view) : outputs.map(({ column }) => column));
}

/** Calls `number` and `code` with the features of a row, in the transform's order; missing ones are omitted. */
type FeatureVisitor = {
  readonly number: (output: FeatureOutput, value: number) => void;
  readonly code: (output: FeatureOutput, code: number) => void;
};

function featureVisitor({ plan, outputs }: PlannedTransform, outOfFold: boolean) {
  const compiled = compilePlan(plan, outOfFold);
  const { intermediates } = compiled;
  const pairs = compiled.outputs.map((made: Output, i) => [made, outputs[i]!] as const);
  return (row: Record<string, unknown>, { number, code }: FeatureVisitor): void => {
    for (const { name, value } of intermediates) row[name] = value.valueOf(row);
    for (const [made, output] of pairs) {
      const value = made.value.valueOf(row);
      if (value === null) continue;
      if (made.kind === "number") number(output, value);
      else code(output, value);
    }
  };
}

/**
 * Returns a function that writes a row's features into a shard's tensors: those of serving, and of training rows with
 * target encodings out of fold.
 */
export function plannedRowEncoder(
  transform: PlannedTransform,
  outOfFold: boolean,
): (
  batch: ColumnBatch,
  row: number,
  numeric: Float32Array,
  numericAt: number,
  codes: Int32Array,
  codesAt: number,
) => void {
  const visit = featureVisitor(transform, outOfFold);
  const read = batchReader(transform.plan.columns);
  const oneHots = transform.outputs.filter(({ kind }) => kind === "one-hot").length;
  return (batch, row, numeric, numericAt, codes, codesAt) => {
    codes.fill(-1, codesAt, codesAt + oneHots);
    visit(read(batch, row), {
      number: ({ source }, value) => {
        numeric[numericAt + source] = value;
      },
      code: ({ source }, code) => {
        codes[codesAt + source] = code;
      },
    });
  };
}

/** Returns a function that reads rows of batches in canonical form. Each row replaces the one before. */
export function batchReader(
  columns: readonly PlanColumn[],
): (batch: ColumnBatch, row: number) => Record<string, unknown> {
  const canonical: Record<string, unknown> = Object.fromEntries(columns.map(({ name }) => [name, null]));
  return (batch, row) => {
    for (const { name, type } of columns) canonical[name] = valueAt(batch.columns[name], row, type);
    return canonical;
  };
}

function valueAt(values: ColumnValues | undefined, row: number, type: PlanColumn["type"]): unknown {
  // A model's rows lack the label and the column of the folds.
  if (values === undefined) return null;
  if (values.kind === "string") return values.values[row] ?? null;
  if (values.valid[row] === 0) return null;
  const value = values.values[row]!;
  return type === "bool" ? value === 1 : value;
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
  const visit = featureVisitor(transform, false);
  const needed = inputColumns(transform);
  const inputs = columns.filter(({ name }) => needed.has(name));
  return (raw, into, at) => {
    const problems: Problem[] = [];
    const row: Record<string, unknown> = {};
    for (const column of inputs) {
      const value = Object.hasOwn(raw, column.name) ? raw[column.name] : undefined;
      const { rule, numbers, category } = readRaw(value, column);
      if (rule !== undefined) problems.push({ path: column.name, ...(value === null ? {} : { value }), rule });
      const found = column.type === "string" || column.type === "bool" ? category : numbers?.[0];
      row[column.name] = typeof found === "string" ? canonicalText(found) : (found ?? null);
    }
    if (problems.length === 0) {
      visit(row, {
        number: ({ offset }, value) => {
          into[at + offset] = value;
        },
        code: ({ offset }, code) => {
          into[at + offset + code] = 1;
        },
      });
    }
    return problems;
  };
}
