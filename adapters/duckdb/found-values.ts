import { DOUBLE, type DuckDBConnection, STRUCT } from "@duckdb/node-api";
import duckdb from "@duckdb/node-bindings";
import type { FoundRows } from "../../core/feature-store/replay";
import { copyNumbers, isNaNumber, rowsPerChunk, writeNumbers } from "./number-columns";
import { registerFunction } from "./scalar-functions";

/**
 * Runs `query` with a function of SQL that returns the values of a label as a struct of DOUBLE: `v0`, `v1` and so on. A scan
 * of the labels that calls it gives them in their order, which a join does not, and uses all threads.
 *
 * @param found at least one value for each label
 * @param query gets the name of the function, whose argument is the number of the label as a DOUBLE
 */
export async function withFoundValues(
  connection: DuckDBConnection,
  found: readonly FoundRows[],
  query: (name: string) => Promise<void>,
): Promise<void> {
  // The function outlives the query, but its values do not.
  let searches = found;
  const count = found.reduce((sum, { width }) => sum + width, 0);
  const type = STRUCT(Object.fromEntries(Array.from({ length: count }, (_, at) => [`v${at}`, DOUBLE])));
  // Arrays that are made once: DuckDB's chunks are many, and each array costs the collector of garbage.
  const labels = new Int32Array(rowsPerChunk);
  const starts = new Int32Array(rowsPerChunk);
  const numbers = new Float64Array(rowsPerChunk);
  const name = registerFunction(connection, type, (chunk, output) => {
    const count = chunk.rowCount;
    copyNumbers(chunk, 0, labels);
    let column = 0;
    for (const { width, values, rows } of searches) {
      startsOf(rows, width, labels, starts, count);
      for (let k = 0; k < width; k += 1, column += 1) {
        const isComplete = gather(values, k, starts, numbers, count);
        writeNumbers(duckdb.struct_vector_get_child(output, column), numbers, count, isComplete);
      }
    }
  });
  try {
    await query(name);
  } finally {
    searches = [];
  }
}

/** Finds where the values of each label begin. */
function startsOf(rows: Uint32Array, width: number, labels: Int32Array, to: Int32Array, count: number): void {
  for (let at = 0; at < count; at += 1) to[at] = rows[labels[at]!]! * width;
}

/**
 * Copies the value `k` of labels. A function of its own, which V8 compiles for its types of arrays alone.
 *
 * @returns whether none is NaN
 */
function gather(values: Float64Array, k: number, starts: Int32Array, to: Float64Array, count: number): boolean {
  let isComplete = true;
  for (let at = 0; at < count; at += 1) {
    const value = values[starts[at]! + k]!;
    to[at] = value;
    if (isNaNumber(value)) isComplete = false;
  }
  return isComplete;
}
