import type { InboxFiles, InboxReport, InboxRepository } from "../../core/datasets/inbox/shapes";
import { conflict, notFound } from "../../core/errors";
import { type Clock, isoTime } from "../../core/ports";
import * as contracts from "../contracts/datasets";
import { defineRoute } from "../http/route";

const inboxReportNotFound = (id: string) =>
  notFound("INBOX_REPORT_NOT_FOUND", `there is no inbox report ${JSON.stringify(id)}`, { id });

/** Thrown when a file that was not refused is retried. */
const inboxFileNotRefused = (path: string, status: string) =>
  conflict(
    "INBOX_FILE_NOT_REFUSED",
    `${path} is ${status}, and only a refused file can be retried; upload the file again if it has changed`,
    { path, status },
  );

const inboxFileGone = (path: string) =>
  conflict("INBOX_FILE_GONE", `${path} is no longer in the inbox, or has other content now, which has its own report`, {
    path,
  });

/**
 * Retries a refused file without a new upload: S3 sends its event again.
 *
 * @throws INBOX_REPORT_NOT_FOUND, INBOX_FILE_NOT_REFUSED, INBOX_FILE_GONE
 */
export async function retryInboxFile(
  {
    inbox,
    inboxFiles,
    clock,
  }: { readonly inbox: InboxRepository; readonly inboxFiles: InboxFiles; readonly clock: Clock },
  id: string,
): Promise<InboxReport> {
  const report = await inbox.find(id);
  if (!report) throw inboxReportNotFound(id);
  // A process that died between the two writes below has left the status `retried`. It may be repeated.
  if (report.status !== "refused" && report.status !== "retried") {
    throw inboxFileNotRefused(report.path, report.status);
  }
  const { id: same, path, dataset, etag, bytes, sequencer, putAt } = report;
  const retried: InboxReport = {
    ...{ id: same, path, dataset, etag, bytes, sequencer, putAt },
    updatedAt: isoTime(clock),
    status: "retried",
    tries: 0,
  };
  // The report is saved before the event is sent, so that the event's reader is not overwritten.
  if (!(await inbox.save(retried, report))) return (await inbox.find(id)) ?? retried;
  if (!(await inboxFiles.announceAgain(path, etag))) {
    await inbox.save(report, retried);
    throw inboxFileGone(path);
  }
  return retried;
}

export const inboxRoutes = [
  defineRoute(contracts.listInboxReports, ({ platform: { inbox }, query }) => inbox.list(query)),

  defineRoute(contracts.retryInboxFile, async ({ platform, params: { id } }) => ({
    report: await retryInboxFile(platform, id),
  })),
];
