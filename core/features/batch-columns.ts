import { type Column, DictionaryColumn, dictionaryOf, type RowColumns, rowColumns } from "../views/columns";
import type { PlanColumn } from "../views/shapes";
import { type ColumnBatch, type ColumnValues, textAt } from "./values";

/** Returns chosen rows of a batch in canonical form, by column; all rows by default. */
export function batchColumns(
  batch: ColumnBatch,
  columns: readonly PlanColumn[],
  chosen: Uint32Array = Uint32Array.from({ length: batch.rows }, (_, row) => row),
): RowColumns {
  return rowColumns(
    chosen.length,
    new Map(columns.map(({ name, type }) => [name, canonicalColumn(batch.columns[name], chosen, type)])),
  );
}

function canonicalColumn(values: ColumnValues | undefined, rows: Uint32Array, type: PlanColumn["type"]): Column {
  // Rows to predict lack the label and the column of the folds.
  if (values === undefined) return new Array<null>(rows.length).fill(null);
  if (values.kind === "string") {
    const { codes } = values;
    if (codes === undefined) return dictionaryOf(rows.length, (i) => textAt(values, rows[i]!));
    return new DictionaryColumn(
      Int32Array.from(rows, (row) => codes[row]!),
      values.values,
    );
  }
  if (type === "bool") return Array.from(rows, (row) => (values.valid[row] === 1 ? values.values[row] === 1 : null));
  const numbers = new Float64Array(rows.length);
  for (let i = 0; i < rows.length; i += 1) {
    const row = rows[i]!;
    numbers[i] = values.valid[row] === 1 ? values.values[row]! : Number.NaN;
  }
  return numbers;
}
