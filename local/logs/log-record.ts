/** A line of a log file without its line feed, with its position in bytes. */
export interface Line {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export interface Header {
  readonly name: string;
  /** The creation time in milliseconds since the epoch. */
  readonly created: number;
  /** The position of the first remaining line. Undefined if no line was dropped. */
  readonly first?: number;
}

/** An event, with the position of its line in bytes. */
export interface StoredEvent {
  readonly start: number;
  readonly end: number;
  /** The largest timestamp so far. */
  readonly order: number;
  readonly timestamp: number;
  readonly ingested: number;
  readonly message: string;
}

export function eventLine({ order, timestamp, ingested, message }: Omit<StoredEvent, "start" | "end">): string {
  return `${JSON.stringify([order, timestamp, ingested, message])}\n`;
}

/** Parses a line. Returns undefined if it is damaged. */
export function parseEvent({ start, end, text }: Line): StoredEvent | undefined {
  try {
    const [order, timestamp, ingested, message] = JSON.parse(text) as [number, number, number, string];
    return { start, end, order, timestamp, ingested, message };
  } catch {
    return undefined;
  }
}
