import { elementsOf } from "../../../core/datasets/rules";
import type { ColumnSchema } from "../../../core/datasets/shapes";
import type { RawRow } from "../../../core/features/transform";
import type { ColumnValues, RowSource } from "../../../core/features/values";

export function memoryRows(rows: readonly RawRow[], batchRows = 3): RowSource {
  return {
    async *read(columns) {
      for (let firstRow = 0; firstRow < rows.length; firstRow += batchRows) {
        const batch = rows.slice(firstRow, firstRow + batchRows);
        const values = columns.map((column) => [column.name, valuesOf(column, batch)] as const);
        yield { rows: batch.length, firstRow, columns: Object.fromEntries(values) };
      }
    },
  };
}

function valuesOf(column: ColumnSchema, rows: readonly RawRow[]): ColumnValues {
  const raw = rows.map((row) => row[column.name] ?? null);
  if (column.type === "string") return { kind: "string", values: raw as (string | null)[] };
  const valid = Uint8Array.from(raw.map((value) => (value === null ? 0 : 1)));
  if (column.type === "tensor") {
    const width = elementsOf(column);
    const values = new Float32Array(rows.length * width);
    for (const [row, value] of raw.entries()) values.set((value as number[] | null)?.flat() ?? [], row * width);
    return { kind: "tensor", values, width, valid };
  }
  const numberOf = (value: unknown): number => (typeof value === "string" ? Date.parse(value) : Number(value));
  return { kind: "number", values: Float64Array.from(raw.map(numberOf)), valid };
}
