import type { Page } from "../repository";

/**
 * What became of a file that was put under `teams/<team>/inbox/<dataset>/<file>`. `retried`: somebody has asked for another try, whose event is on its
 * way.
 */
export type InboxStatus = "reading" | "taken" | "refused" | "retried";

/** One put of one file, as its event tells of it. */
export interface InboxPut {
  /** Below the team's inbox: `digits/2026-03.csv`. */
  readonly path: string;
  readonly etag: string;
  readonly bytes: number;
  /** Of two puts of a key, the later has the greater one. */
  readonly sequencer: string;
  /** ISO 8601. */
  readonly at: string;
}

/** One row a file and content: the same content put again is the same row, with its newest put. */
export interface InboxReport {
  /** Made from path and ETag. */
  readonly id: string;
  readonly path: string;
  /** Absent where the path names none. */
  readonly dataset?: string;
  readonly etag: string;
  readonly bytes: number;
  readonly sequencer: string;
  /** When the file was put. */
  readonly putAt: string;
  /** When the status last changed. */
  readonly updatedAt: string;
  readonly status: InboxStatus;
  /** Deliveries of this put's event that have begun to read it. */
  readonly tries: number;
  /** Of the try before, where that one could say. */
  readonly lastError?: string;
  /** Of `taken`. `created` is false where an earlier version has the same content. */
  readonly version?: number;
  readonly created?: boolean;
  readonly rowCount?: number;
  /** Columns of the file that the dataset's schema does not name. */
  readonly ignoredColumns?: readonly string[];
  /** Of `refused`. */
  readonly code?: string;
  readonly reason?: string;
  readonly nextStep?: string;
}

/** The port to a team's reports. */
export interface InboxRepository {
  find(id: string): Promise<InboxReport | undefined>;
  /** Puts `report` where the row is still what was read; false where somebody was faster. */
  save(report: InboxReport, before: InboxReport | undefined): Promise<boolean>;
  /** Newest put first; of one dataset where it is named. */
  list(query: {
    readonly dataset?: string;
    readonly limit: number;
    readonly nextToken?: string;
  }): Promise<Page<InboxReport>>;
}

/** The files themselves. */
export interface InboxFiles {
  /** Writes the content with that ETag to a file on this disk; false where it is not there any more: it was replaced or removed. */
  fetch(path: string, etag: string, file: string): Promise<boolean>;
  /** Makes S3 tell of the file once more; false where that content is not there any more. */
  announceAgain(path: string, etag: string): Promise<boolean>;
}

/** The order of two sequencers of one key: hexadecimal, the shorter one filled up with zeros on its right (S3's user guide). */
export function isLater(sequencer: string, than: string): boolean {
  const length = Math.max(sequencer.length, than.length);
  return sequencer.padEnd(length, "0").toUpperCase() > than.padEnd(length, "0").toUpperCase();
}
