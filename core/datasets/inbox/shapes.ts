import * as z from "zod";
import type { Shape } from "../../deep-readonly";
import { count, instant } from "../../shapes";

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
export type InboxStatus = InboxReport["status"];
