import { isoTime } from "../../clock";
import type { Clock } from "../../ports";
import { InboxFileGoneError, InboxFileNotRefusedError, InboxReportNotFoundError } from "./errors";
import type { InboxFiles, InboxReport, InboxRepository } from "./report";

/**
 * Another try for a refused file, without its being sent anew: S3 tells of it once more.
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
  // Whoever died between the two writes below has left `retried`, and may be repeated.
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
  // Before the event: its reader must not be overwritten.
  if (!(await inbox.save(retried, report))) return (await inbox.find(id)) ?? retried;
  if (!(await inboxFiles.announceAgain(path, etag))) {
    await inbox.save(report, retried);
    throw new InboxFileGoneError(path);
  }
  return retried;
}
