/** A row in the order of its arrival. */
export interface ArrivedRow<Value> {
  readonly entity: unknown;
  readonly eventTime: number;
  readonly creationTime?: number | undefined;
  readonly place: number;
  readonly value: Value;
}

/** Finds the row of an entity that counts at a time, by looking at each row. */
export function latestAt<Value>(
  rows: readonly ArrivedRow<Value>[],
  entity: unknown,
  at: number,
  ttlMs?: number,
): ArrivedRow<Value> | undefined {
  let latest: ArrivedRow<Value> | undefined;
  for (const row of rows) {
    if (row.entity !== entity || row.eventTime > at || (row.creationTime ?? row.eventTime) > at) continue;
    if (latest === undefined || isLater(row, latest)) latest = row;
  }
  return latest !== undefined && ttlMs !== undefined && latest.eventTime < at - ttlMs ? undefined : latest;
}

/** Returns the finite numbers that a window aggregates at a time, by looking at each row. */
export function windowAt(rows: readonly ArrivedRow<number | null>[], entity: unknown, at: number, overMs: number) {
  return rows
    .filter((row) => row.entity === entity && row.eventTime <= at && (row.creationTime ?? row.eventTime) <= at)
    .filter(({ eventTime }) => eventTime >= at - overMs)
    .flatMap(({ value }) => (value === null ? [] : [value]));
}

function isLater(one: ArrivedRow<unknown>, other: ArrivedRow<unknown>): boolean {
  if (one.eventTime !== other.eventTime) return one.eventTime > other.eventTime;
  const [created, otherCreated] = [one.creationTime ?? one.eventTime, other.creationTime ?? other.eventTime];
  return created === otherCreated ? one.place > other.place : created > otherCreated;
}
