import { RingmasterError } from "../../errors";

export class InboxReportNotFoundError extends RingmasterError {
  constructor(id: string) {
    super(`there is no inbox report ${JSON.stringify(id)}; \`ringmaster datasets inbox\` lists the reports`, {
      code: "INBOX_REPORT_NOT_FOUND",
      httpStatus: 404,
      details: { id },
    });
  }
}

/** Thrown when a file that was not refused is retried. */
export class InboxFileNotRefusedError extends RingmasterError {
  constructor(path: string, status: string) {
    super(`${path} is ${status}, and only a refused file can be retried; upload the file again if it has changed`, {
      code: "INBOX_FILE_NOT_REFUSED",
      httpStatus: 409,
      details: { path, status },
    });
  }
}

export class InboxFileGoneError extends RingmasterError {
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
