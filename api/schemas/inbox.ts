import * as z from "zod";
import { inboxReport } from "../../core/datasets/inbox/shapes";
import { nextToken } from "../../core/shapes";

export const inboxPage = z
  .object({ items: z.array(inboxReport), nextToken })
  .meta({ id: "InboxPage", description: "Reports, the newest file first." });
