import type { ColumnSchema } from "../datasets/shapes";
import { InvalidInputError, type Problem } from "../errors";
import type { RawRow } from "../row-values";
import { codeLookup } from "./category-codes";
import { writePieces } from "./piecewise";
import { plannedRow } from "./planned-rows";
import type { FeatureOutput, FeatureTransform } from "./shapes";
import { type RawValue, readRaw } from "./transform-values";
import { partOf } from "./values";

export type { RawRow } from "../row-values";
export { readRaw } from "./transform-values";

const rangeRule = "must give a feature within ±3.4e38, the range of float32";

export type Numeric = Extract<FeatureOutput, { readonly kind: "numeric" }>;

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
  const { plan } = transform;
  const writePlanned = plan && plannedRow({ ...transform, plan }, columns);
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
      const checkRange = (index: number): void => {
        const first = index * transform.width;
        const at = dense.subarray(first, first + transform.width).findIndex((value) => !Number.isFinite(value));
        const output = transform.outputs.find(({ offset, width }) => offset <= at && at < offset + width);
        if (output) problems.push({ path: `rows[${index}].${output.column}`, rule: rangeRule });
      };
      for (const [index, row] of rows.entries()) {
        if (writePlanned) {
          const rowProblems = writePlanned(row, dense, index * transform.width);
          problems.push(...rowProblems.map((problem) => ({ ...problem, path: `rows[${index}].${problem.path}` })));
          checkRange(index);
          continue;
        }
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
          } else if (output.kind === "piecewise") {
            const [number] = value.numbers ?? [];
            writePieces(number === undefined ? 0 : Math.fround(standardized(number, output)), output, dense, at);
          } else {
            const [time] = value.numbers ?? [];
            const part = output.part !== undefined && time !== undefined ? partOf(time, output.part) : undefined;
            const code = lookups.get(output)!(output.part === undefined ? value.category : part);
            if (code >= 0) dense[at + code] = 1;
          }
        }
        checkRange(index);
      }
      if (problems.length > 0) throw new InvalidInputError("the rows do not fit the model's input schema", problems);
      return dense;
    },
  };
}
