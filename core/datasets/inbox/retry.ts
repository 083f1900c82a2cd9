import { type Clock, isoTime } from "../../ports";
import { InboxFileGoneError, InboxFileNotRefusedError, InboxReportNotFoundError } from "./errors";
import type { InboxFiles, InboxReport, InboxRepository } from "./shapes";

/**
 * Retries a refused file without a new upload: S3 sends its event again.
 *
 * @throws InboxReportNotFoundError, InboxFileNotRefusedError, InboxFileGoneError
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
  if (!report) throw new InboxReportNotFoundError(id);
  // A process that died between the two writes below has left the status `retried`. It may be repeated.
  if (report.status !== "refused" && report.status !== "retried") {
    throw new InboxFileNotRefusedError(report.path, report.status);
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
    throw new InboxFileGoneError(path);
  }
  return retried;
}
