import { type Column, dictionaryOf, type RowColumns, rowColumns } from "../views/columns";
import type { PlanColumn } from "../views/shapes";
import type { ColumnBatch, ColumnValues } from "./values";

/** Returns rows of a batch in canonical form, by column. */
export function batchColumns(
  batch: ColumnBatch,
  columns: readonly PlanColumn[],
  chosen: (row: number) => boolean = () => true,
): RowColumns {
  const rows: number[] = [];
  for (let row = 0; row < batch.rows; row += 1) if (chosen(row)) rows.push(row);
  return rowColumns(
    rows.length,
    new Map(columns.map(({ name, type }) => [name, canonicalColumn(batch.columns[name], rows, type)])),
  );
}

function canonicalColumn(values: ColumnValues | undefined, rows: readonly number[], type: PlanColumn["type"]): Column {
  // Rows to predict lack the label and the column of the folds.
  if (values === undefined) return rows.map(() => null);
  if (values.kind === "string") return dictionaryOf(rows.length, (i) => values.values[rows[i]!] ?? null);
  if (type === "bool") return rows.map((row) => (values.valid[row] === 1 ? values.values[row] === 1 : null));
  const numbers = new Float64Array(rows.length);
  for (const [i, row] of rows.entries()) numbers[i] = values.valid[row] === 1 ? values.values[row]! : Number.NaN;
  return numbers;
}
