import {
  ANY,
  BOOLEAN,
  type DuckDBConnection,
  DuckDBDataChunk,
  DuckDBScalarFunction,
  type DuckDBType,
} from "@duckdb/node-api";
import duckdb from "@duckdb/node-bindings";

/** DuckDB has no means to remove a function, so each has a name of its own. */
let functions = 0;

/**
 * Registers a function of SQL, and returns its name. DuckDB calls it once for the rows of a chunk, and waits for it.
 *
 * @param call gets the arguments, and writes the results
 */
export function registerFunction(
  connection: DuckDBConnection,
  returns: DuckDBType,
  call: (input: DuckDBDataChunk, output: duckdb.Vector) => void,
): string {
  const name = `ringmaster_${functions}`;
  functions += 1;
  const scalar = new DuckDBScalarFunction();
  scalar.setName(name);
  scalar.setVarArgs(ANY);
  scalar.setReturnType(returns);
  // DuckDB would not call it where an argument is the constant NULL, and several times where the result is used so.
  scalar.setSpecialHandling();
  scalar.setVolatile();
  duckdb.scalar_function_set_function(scalar.scalar_function, (_, input, output) =>
    call(new DuckDBDataChunk(input), output),
  );
  connection.registerScalarFunction(scalar);
  return name;
}

/**
 * Calls `visit` for each chunk of a query's rows, in their order if DuckDB has one thread. The chunk is valid only during
 * the call. This takes less time than the chunks of a result, which are copies that live until they are collected.
 *
 * @param columns number of columns of the query
 * @throws the first error of `visit`, which gets no further chunks
 */
export async function visitChunks(
  connection: DuckDBConnection,
  query: string,
  columns: number,
  visit: (chunk: DuckDBDataChunk) => void,
): Promise<void> {
  // The function outlives the query, but what the visitor holds does not.
  let visitor: typeof visit | undefined = visit;
  let failure: { readonly error: unknown } | undefined;
  const name = registerFunction(connection, BOOLEAN, (chunk) => {
    try {
      visitor?.(chunk);
    } catch (error) {
      visitor = undefined;
      failure = { error };
    }
  });
  const names = Array.from({ length: columns }, (_, at) => `c${at}`).join(", ");
  try {
    // An aggregate that depends on the order: DuckDB omits the ORDER BY of the query otherwise.
    await connection.run(`SELECT last(${name}(${names})) FROM (${query}) AS visited(${names})`);
  } finally {
    visitor = undefined;
  }
  if (failure) throw failure.error;
}
