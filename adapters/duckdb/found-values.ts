import { DOUBLE, type DuckDBConnection, STRUCT } from "@duckdb/node-api";
import duckdb from "@duckdb/node-bindings";
import type { FoundValues } from "./as-of-search";
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
  found: readonly FoundValues[],
  query: (name: string) => Promise<void>,
): Promise<void> {
  // The function outlives the query, but its values do not.
  let searches = found;
  const count = found.reduce((sum, { width }) => sum + width, 0);
  const type = STRUCT(Object.fromEntries(Array.from({ length: count }, (_, at) => [`v${at}`, DOUBLE])));
  // Arrays that are made once: DuckDB's chunks are many, and each array costs the collector of garbage.
  const labels = new Int32Array(rowsPerChunk);
  const numbers = new Float64Array(rowsPerChunk);
  const name = registerFunction(connection, type, (chunk, output) => {
    const count = chunk.rowCount;
    copyNumbers(chunk, 0, labels);
    let column = 0;
    for (const { width, values } of searches) {
      for (let k = 0; k < width; k += 1, column += 1) {
        const isComplete = gather(values, width, k, labels, numbers, count);
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

/**
 * Copies the value `k` of labels. A function of its own, which V8 compiles for its types of arrays alone.
 *
 * @returns whether none is NaN
 */
function gather(
  values: Float64Array,
  width: number,
  k: number,
  labels: Int32Array,
  to: Float64Array,
  count: number,
): boolean {
  let isComplete = true;
  for (let at = 0; at < count; at += 1) {
    const value = values[labels[at]! * width + k]!;
    to[at] = value;
    if (isNaNumber(value)) isComplete = false;
  }
  return isComplete;
}
