/** Runs an action for each item, at most `limit` at the same time. Rejects with the first failure. */
export async function eachLimited<T>(
  items: Iterable<T>,
  limit: number,
  run: (item: T) => Promise<unknown>,
): Promise<void> {
  const left = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = left.next(); !next.done; next = left.next()) await run(next.value);
  };
  await Promise.all(Array.from({ length: limit }, worker));
}

/** Like `eachLimited`, and returns the results in the order of the items. */
export async function mapLimited<T, Result>(
  items: readonly T[],
  limit: number,
  run: (item: T) => Promise<Result>,
): Promise<Result[]> {
  const results = new Array<Result>(items.length);
  await eachLimited(items.entries(), limit, async ([i, item]) => {
    results[i] = await run(item);
  });
  return results;
}

export function inParts<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));
}
