/** When a row holds, when it became known, and its place among all rows that arrived. */
export interface RowTimes {
  /** Milliseconds since the epoch. */
  readonly eventTime: number;
  /** Absent: the row was known at its event time. */
  readonly creationTime?: number | null | undefined;
  /** Sequence of the row's batch. */
  readonly sequence: number;
  /** Place of the row in its batch. */
  readonly row: number;
}

/** Date accepts ±8.64e15 milliseconds. */
const epoch = 10 ** 16;

/**
 * Returns a text whose lexical order is the order of an entity's rows: event time, creation time, arrival. The latest
 * row has the greatest text. The online store compares this text; the offline store sorts by the same parts
 * (`adapters/duckdb/view-rows.ts`).
 */
export function orderOf({ eventTime, creationTime, sequence, row }: RowTimes): string {
  const whole = (n: number) => String(n).padStart(12, "0");
  return [timeOrder(eventTime), timeOrder(creationTime ?? eventTime), whole(sequence), whole(row)].join(".");
}

/** Returns the text with which `orderOf` of a row with this event time begins. */
export function timeOrder(ms: number): string {
  return String(ms + epoch).padStart(17, "0");
}

/** Returns whether a row is too old at a time. @param ttlMs absent: rows hold until a later one */
export function isExpired(eventTime: number, ttlMs: number | undefined, at: number): boolean {
  return ttlMs !== undefined && eventTime < at - ttlMs;
}
