import * as z from "zod";
import { inboxReport } from "../../core/datasets/inbox/shapes";
import { datasetName } from "../../core/datasets/shapes";
import { contractsFor, pageOf, response } from "../contract";
import { examples } from "../examples";
import { pageQuery } from "../schemas/common";

const contract = contractsFor("Datasets");
const answer = z.object({ report: inboxReport }).meta({ id: "InboxReportAnswer" });

export const listInboxReports = contract("listInboxReports", "GET /inbox", {
  summary: "List the results for files that were put into the inbox",
  description:
    "A file under `teams/<team>/inbox/<dataset>/` in the bucket becomes the dataset's next version. Otherwise its report states the reason and the next step.",
  ...pageOf({ id: "InboxPage", description: "Reports, the newest file first." }, inboxReport, examples.inboxReport),
  query: pageQuery.extend({ dataset: datasetName.optional().meta({ description: "Only files of this dataset." }) }),
});

export const retryInboxFile = contract("retryInboxFile", "POST /inbox/{id}/retry", {
  summary: "Try a refused file again",
  description: "Reads the file again, without another upload.",
  params: z.strictObject({ id: z.string().regex(/^[0-9a-f]{16}$/, "must be a report's id: 16 hexadecimal digits") }),
  responses: {
    200: response("The report, until the file has been read.", answer, {
      report: { ...examples.inboxReport, status: "retried", tries: 0 },
    }),
  },
  errors: ["INBOX_REPORT_NOT_FOUND", "INBOX_FILE_NOT_REFUSED", "INBOX_FILE_GONE"],
});
