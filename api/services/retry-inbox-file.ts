import type { InboxFiles, InboxReport, InboxRepository } from "../../core/datasets/inbox/shapes";
import { RingmasterError } from "../../core/errors";
import { type Clock, isoTime } from "../../core/ports";

class InboxReportNotFoundError extends RingmasterError {
  constructor(id: string) {
    super(`there is no inbox report ${JSON.stringify(id)}; \`ringmaster datasets inbox\` lists the reports`, {
      code: "INBOX_REPORT_NOT_FOUND",
      httpStatus: 404,
      details: { id },
    });
  }
}

/** Thrown when a file that was not refused is retried. */
class InboxFileNotRefusedError extends RingmasterError {
  constructor(path: string, status: string) {
    super(`${path} is ${status}, and only a refused file can be retried; upload the file again if it has changed`, {
      code: "INBOX_FILE_NOT_REFUSED",
      httpStatus: 409,
      details: { path, status },
    });
  }
}

class InboxFileGoneError extends RingmasterError {
  constructor(path: string) {
    super(
      `${path} is no longer in the inbox, or has other content now, which has its own report; see \`ringmaster datasets inbox\``,
      {
        code: "INBOX_FILE_GONE",
        httpStatus: 409,
        details: { path },
      },
    );
  }
}

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
