import { type DuckDbSession, quoteName } from "./session";

/** Returns SQL of the hash of a row's values, and of whether none of them is missing. */
export function hashSql(columns: readonly string[]): { readonly hash: string; readonly isComplete: string } {
  const names = columns.map(quoteName);
  return { hash: `hash(${names.join(", ")})`, isComplete: names.map((name) => `${name} IS NOT NULL`).join(" AND ") };
}

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
  const { hash, isComplete } = hashSql(columns);
  const result = await session.connection.stream(
    `SELECT ${complete ? `CASE WHEN ${isComplete} THEN ${hash} END` : hash} FROM ${table}`,
  );
  for (;;) {
    const chunk = await result.fetchChunk();
    if (chunk === null || chunk.rowCount === 0) return;
    yield (chunk.getColumnValues(0) as (bigint | null)[]).map((value) => value ?? undefined);
  }
}
