import * as z from "zod";
import { inboxReport } from "../../core/datasets/inbox/shapes";
import { datasetName } from "../../core/datasets/shapes";
import { contractsFor } from "../contract";
import { examples } from "../examples";
import { pageQuery } from "../schemas/common";
import { inboxPage } from "../schemas/datasets";

const contract = contractsFor("Datasets");
const answer = z.object({ report: inboxReport }).meta({ id: "InboxReportAnswer" });

export const listInboxReports = contract("listInboxReports", "GET /inbox", {
  summary: "List the results for files that were put into the inbox",
  description:
    "A file under `teams/<team>/inbox/<dataset>/` in the bucket becomes the dataset's next version. Otherwise its report states the reason and the next step.",
  query: pageQuery.extend({ dataset: datasetName.optional().meta({ description: "Only files of this dataset." }) }),
  pages: "items",
  responses: { 200: { description: "A page.", schema: inboxPage, example: { items: [examples.inboxReport] } } },
});

export const retryInboxFile = contract("retryInboxFile", "POST /inbox/{id}/retry", {
  summary: "Try a refused file again",
  description: "Reads the file again, without another upload.",
  params: z.strictObject({ id: z.string().regex(/^[0-9a-f]{16}$/, "must be a report's id: 16 hexadecimal digits") }),
  responses: {
    200: {
      description: "The report, until the file has been read.",
      schema: answer,
      example: { report: { ...examples.inboxReport, status: "retried", tries: 0 } },
    },
  },
  errors: ["INBOX_REPORT_NOT_FOUND", "INBOX_FILE_NOT_REFUSED", "INBOX_FILE_GONE"],
});
