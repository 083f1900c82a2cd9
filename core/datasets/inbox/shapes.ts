import * as z from "zod";
import { count, instant, type Shape } from "../../shapes";
import type { Page } from "../repository";

export const inboxReport = z
  .object({
    id: z.string(),
    path: z.string().meta({ description: "Below the team's inbox: `<dataset>/<file>`." }),
    dataset: z.string().optional().meta({ description: "Absent where the path names none." }),
    etag: z.string(),
    bytes: count,
    sequencer: z.string(),
    putAt: instant,
    updatedAt: instant,
    status: z.enum(["reading", "taken", "refused", "retried"]),
    tries: count,
    lastError: z.string().optional(),
    version: z.int().optional().meta({ description: "The version that the file became; present if `taken`." }),
    created: z.boolean().optional().meta({ description: "False where an earlier version has the same content." }),
    rowCount: count.optional(),
    ignoredColumns: z
      .array(z.string())
      .optional()
      .meta({ description: "Columns of the file that the dataset's schema does not name." }),
    code: z.string().optional().meta({ description: "Present if `refused`, as in errors." }),
    reason: z.string().optional(),
    nextStep: z.string().optional().meta({ description: "Action for the file's owner." }),
  })
  .meta({
    id: "InboxReport",
    description: "Result for a file that was put into the inbox.",
  });
export interface InboxReport extends Shape<typeof inboxReport> {}

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
