import type { DuckDBDataChunk } from "@duckdb/node-api";
import duckdb from "@duckdb/node-bindings";

/**
 * Returns a copy of a column of type DOUBLE, with NaN for NULL. Reading it value by value takes several times as long, with
 * NULLs fifty times.
 */
export function numbersIn(chunk: DuckDBDataChunk, column: number): Float64Array {
  const numbers = new Float64Array(chunk.rowCount);
  copyNumbers(chunk, column, numbers, 0);
  return numbers;
}

/** Copies a column of type DOUBLE to `to[at]` and the following, with NaN for NULL. */
export function copyNumbers({ chunk, rowCount }: DuckDBDataChunk, column: number, to: Float64Array, at: number): void {
  const vector = duckdb.data_chunk_get_vector(chunk, column);
  const bytes = duckdb.vector_get_data(vector, rowCount * Float64Array.BYTES_PER_ELEMENT);
  to.set(new Float64Array(bytes.buffer, bytes.byteOffset, rowCount), at);
  // Absent if no value is missing.
  const valid: Uint8Array | undefined = duckdb.vector_get_validity(vector, validityBytes(rowCount));
  if (!valid) return;
  for (let row = 0; row < rowCount; row += 1) {
    if ((valid[row >> 3]! & (1 << (row & 7))) === 0) to[at + row] = Number.NaN;
  }
}

/** Writes the values of a vector of type DOUBLE, with NULL for NaN. */
export function writeNumbers(vector: duckdb.Vector, numbers: Float64Array<ArrayBuffer>): void {
  duckdb.copy_data_to_vector(vector, 0, numbers.buffer, numbers.byteOffset, numbers.byteLength);
  let valid: Uint8Array<ArrayBuffer> | undefined;
  for (let row = 0; row < numbers.length; row += 1) {
    const number = numbers[row]!;
    // NaN is the only value that differs from itself.
    // biome-ignore lint/suspicious/noSelfCompare: Number.isNaN takes longer
    if (number === number) continue;
    valid ??= new Uint8Array(validityBytes(numbers.length)).fill(255);
    valid[row >> 3]! &= ~(1 << (row & 7));
  }
  if (valid === undefined) return;
  duckdb.vector_ensure_validity_writable(vector);
  duckdb.copy_data_to_vector_validity(vector, 0, valid.buffer, 0, valid.byteLength);
}

/** DuckDB has a bit for each value, in words of eight bytes. */
function validityBytes(rows: number): number {
  return 8 * Math.ceil(rows / 64);
}
