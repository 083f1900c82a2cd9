import { DOUBLE, type DuckDBConnection, STRUCT } from "@duckdb/node-api";
import duckdb from "@duckdb/node-bindings";
import { numbersIn, writeNumbers } from "./number-columns";
import { registerFunction } from "./scalar-functions";

/**
 * Runs `query` with a function of SQL that returns the values of a label as a struct of DOUBLE: `v0`, `v1` and so on. A scan
 * of the labels that calls it gives them in their order, which a join does not, and uses all threads.
 *
 * @param columns values by the number of the label, NaN for a missing one; at least one column
 * @param query gets the name of the function, whose argument is the number of the label as a DOUBLE
 */
export async function withFoundValues(
  connection: DuckDBConnection,
  columns: readonly Float64Array[],
  query: (name: string) => Promise<void>,
): Promise<void> {
  // The function outlives the query, but its values do not.
  let values = columns;
  const type = STRUCT(Object.fromEntries(columns.map((_, at) => [`v${at}`, DOUBLE])));
  const name = registerFunction(connection, type, (chunk, output) => {
    const labels = numbersIn(chunk, 0);
    const first = labels[0]!;
    // A scan without a filter gives consecutive labels.
    const isScan = labels.every((label, at) => label === first + at);
    const numbers = new Float64Array(labels.length);
    for (const [child, column] of values.entries()) {
      if (isScan) numbers.set(column.subarray(first, first + labels.length));
      else for (let at = 0; at < labels.length; at += 1) numbers[at] = column[labels[at]!]!;
      writeNumbers(duckdb.struct_vector_get_child(output, child), numbers);
    }
  });
  try {
    await query(name);
  } finally {
    values = [];
  }
}
