import type { DuckDBDataChunk } from "@duckdb/node-api";
import duckdb from "@duckdb/node-bindings";

/** The maximum number of rows in a DuckDB chunk. */
export const rowsPerChunk = 2_048;

/**
 * Returns a copy of a column of type DOUBLE, with NaN for NULL. Reading it value by value takes several times as long, with
 * NULLs fifty times.
 */
export function numbersIn(chunk: DuckDBDataChunk, column: number): Float64Array {
  const numbers = new Float64Array(chunk.rowCount);
  copyNumbers(chunk, column, numbers);
  return numbers;
}

/** Copies a column of type DOUBLE to every `step`th place from `first` on, with NaN for NULL. */
export function copyNumbers(
  { chunk, rowCount }: DuckDBDataChunk,
  column: number,
  to: Float64Array | Int32Array,
  first = 0,
  step = 1,
): void {
  const vector = duckdb.data_chunk_get_vector(chunk, column);
  const bytes = duckdb.vector_get_data(vector, rowCount * Float64Array.BYTES_PER_ELEMENT);
  const numbers = new Float64Array(bytes.buffer, bytes.byteOffset, rowCount);
  if (step === 1) to.set(numbers, first);
  else for (let row = 0, at = first; row < rowCount; row += 1, at += step) to[at] = numbers[row]!;
  // Absent if no value is missing.
  const valid: Uint8Array | undefined = duckdb.vector_get_validity(vector, validityBytes(rowCount));
  if (!valid) return;
  for (let row = 0; row < rowCount; row += 1) {
    if ((valid[row >> 3]! & (1 << (row & 7))) === 0) to[first + row * step] = Number.NaN;
  }
}

/**
 * Writes the first `count` values of a vector of type DOUBLE, with NULL for NaN.
 *
 * @param isComplete whether none is NaN
 */
export function writeNumbers(
  vector: duckdb.Vector,
  numbers: Float64Array<ArrayBuffer>,
  count: number,
  isComplete: boolean,
): void {
  duckdb.copy_data_to_vector(vector, 0, numbers.buffer, numbers.byteOffset, count * Float64Array.BYTES_PER_ELEMENT);
  if (isComplete) return;
  const valid = new Uint8Array(validityBytes(count)).fill(255);
  for (let row = 0; row < count; row += 1) if (isNaNumber(numbers[row]!)) valid[row >> 3]! &= ~(1 << (row & 7));
  duckdb.vector_ensure_validity_writable(vector);
  duckdb.copy_data_to_vector_validity(vector, 0, valid.buffer, 0, valid.byteLength);
}

/** Returns whether a number is NaN, the only value that differs from itself. `Number.isNaN` takes longer. */
export function isNaNumber(value: number): boolean {
  // biome-ignore lint/suspicious/noSelfCompare: see above
  return value !== value;
}

/** DuckDB has a bit for each value, in words of eight bytes. */
function validityBytes(rows: number): number {
  return 8 * Math.ceil(rows / 64);
}
