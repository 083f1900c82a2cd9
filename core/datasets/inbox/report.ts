import type { Page } from "../repository";
import type { InboxReport } from "./shapes";

export type { InboxReport, InboxStatus } from "./shapes";

/** One put of one file, as its S3 event describes it. */
export interface InboxPut {
  /** Path below the team's inbox: `digits/2026-03.csv`. */
  readonly path: string;
  readonly etag: string;
  readonly bytes: number;
  /** The later of two puts of a key has the greater sequencer. */
  readonly sequencer: string;
  /** ISO 8601. */
  readonly at: string;
}

/** The port to a team's reports. */
export interface InboxRepository {
  find(id: string): Promise<InboxReport | undefined>;
  /** Replaces the report if the row is still `before`; returns false if another writer changed it. */
  save(report: InboxReport, before: InboxReport | undefined): Promise<boolean>;
  /** Lists reports, newest put first; of one dataset if it is named. */
  list(query: {
    readonly dataset?: string;
    readonly limit: number;
    readonly nextToken?: string;
  }): Promise<Page<InboxReport>>;
}

/** The port to the files of the inbox. */
export interface InboxFiles {
  /** Writes the content with that ETag to a local file; returns false if the content was replaced or removed. */
  fetch(path: string, etag: string, file: string): Promise<boolean>;
  /** Makes S3 send the file's event again; returns false if that content was replaced or removed. */
  announceAgain(path: string, etag: string): Promise<boolean>;
}

/**
 * Compares two sequencers of one key. They are hexadecimal; the shorter one is padded with zeros on its right (S3 user
 * guide).
 */
export function isLater(sequencer: string, than: string): boolean {
  const length = Math.max(sequencer.length, than.length);
  return sequencer.padEnd(length, "0").toUpperCase() > than.padEnd(length, "0").toUpperCase();
}
