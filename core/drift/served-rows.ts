import type { Category } from "../datasets/profile";
import type { ColumnSchema } from "../datasets/shapes";
import { type RawRow, readRaw } from "../features/transform";
import type { ColumnBatch, ColumnValues, RowSource } from "../features/values";
import { Collector, type ColumnSample } from "./sample";

/** A row that a model has predicted. */
export interface ServedRow {
  readonly row: RawRow;
  readonly prediction?: Category | null | undefined;
  /** The true label, if it is known. */
  readonly label?: Category | null | undefined;
}

/** Reads served rows as the columns of a dataset version. A value that does not fit its column counts as missing. */
export class ServedRows implements RowSource {
  private readonly seen = new Map<string, { given: number; wrong: number }>();
  private readonly predicted: Collector;

  /**
   * @param open reads the rows from the start
   * @param prediction the column of predictions
   */
  constructor(
    private readonly open: () => AsyncIterable<readonly ServedRow[]>,
    private readonly prediction: ColumnSchema,
  ) {
    this.predicted = new Collector(prediction);
  }

  /** Reads the rows once. The other methods answer for these rows. */
  async *read(columns: readonly ColumnSchema[]): AsyncGenerator<ColumnBatch> {
    let firstRow = 0;
    for await (const rows of this.open()) {
      const values = columns.map((column) => [column.name, this.valuesOf(rows, column)] as const);
      for (const { prediction } of rows) this.predicted.addValue(predictionValue(prediction, this.prediction));
      yield { rows: rows.length, firstRow, columns: Object.fromEntries(values) };
      firstRow += rows.length;
    }
  }

  predictions(): ColumnSample {
    return this.predicted.finish();
  }

  /** Returns the rows in which a column had a value, and in how many of them it had another type. */
  valuesSeen(column: string): { readonly given: number; readonly wrong: number } {
    return this.seen.get(column) ?? { given: 0, wrong: 0 };
  }

  private valuesOf(rows: readonly ServedRow[], column: ColumnSchema): ColumnValues {
    const seen = this.seen.get(column.name) ?? { given: 0, wrong: 0 };
    this.seen.set(column.name, seen);
    const read = rows.map(({ row, label }) => {
      const raw = column.role === "label" ? label : Object.hasOwn(row, column.name) ? row[column.name] : undefined;
      if (raw === undefined || raw === null) return undefined;
      seen.given += 1;
      const value = readRaw(raw, column);
      if (value.rule === undefined) return value;
      seen.wrong += 1;
      return undefined;
    });
    if (column.type === "string") {
      return { kind: "string", values: read.map((value) => (value?.category as string | undefined) ?? null) };
    }
    const valid = Uint8Array.from(read, (value) => Number(value !== undefined));
    if (column.type !== "tensor") {
      const numbers = read.map((value) => value?.numbers?.[0] ?? Number(value?.category ?? 0));
      return { kind: "number", values: Float64Array.from(numbers), valid };
    }
    const width = read.find((value) => value !== undefined)?.numbers?.length ?? 1;
    const values = new Float32Array(rows.length * width);
    for (const [at, value] of read.entries()) values.set(value?.numbers ?? [], at * width);
    return { kind: "tensor", values, width, valid };
  }
}

function predictionValue(prediction: ServedRow["prediction"], { type }: ColumnSchema): string | number | undefined {
  if (prediction === undefined || prediction === null) return undefined;
  if (type === "string") return String(prediction);
  return typeof prediction === "number" && Number.isFinite(prediction) ? prediction : undefined;
}
