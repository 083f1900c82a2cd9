import * as z from "zod";
import { inboxReport } from "../../core/datasets/inbox/shapes";
import { datasetSummary, datasetVersion } from "../../core/datasets/shapes";
import { nextToken } from "../../core/shapes";

export const datasetPage = z
  .object({ items: z.array(datasetSummary), nextToken })
  .meta({ id: "DatasetPage", description: "Datasets by name." });

export const datasetVersionPage = z
  .object({ items: z.array(datasetVersion), nextToken })
  .meta({ id: "DatasetVersionPage", description: "Versions, newest first." });

export const inboxPage = z
  .object({ items: z.array(inboxReport), nextToken })
  .meta({ id: "InboxPage", description: "Reports, the newest file first." });
