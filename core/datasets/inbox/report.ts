import type { Page } from "../repository";
import type { InboxReport } from "./shapes";

export type { InboxReport, InboxStatus } from "./shapes";

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
