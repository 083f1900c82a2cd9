import { type DuckDbSession, quoteName } from "./session";

/**
 * Yields a 64-bit hash of the values of each row, in row order; `undefined` for a row in which one of the columns is
 * missing, if `complete` is given.
 */
export async function* hashValues(
  session: DuckDbSession,
  table: string,
  columns: readonly string[],
  complete = false,
): AsyncGenerator<readonly (bigint | undefined)[]> {
  const names = columns.map(quoteName);
  const hash = `hash(${names.join(", ")})`;
  const isThere = names.map((name) => `${name} IS NOT NULL`).join(" AND ");
  const result = await session.connection.stream(
    `SELECT ${complete ? `CASE WHEN ${isThere} THEN ${hash} END` : hash} FROM ${table}`,
  );
  for (;;) {
    const chunk = await result.fetchChunk();
    if (chunk === null || chunk.rowCount === 0) return;
    yield (chunk.getColumnValues(0) as (bigint | null)[]).map((value) => value ?? undefined);
  }
}
