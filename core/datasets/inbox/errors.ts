import { RingmasterError } from "../../errors";

export class InboxReportNotFoundError extends RingmasterError {
  constructor(id: string) {
    super(`there is no report ${JSON.stringify(id)} of the inbox; \`ringmaster datasets inbox\` lists them`, {
      code: "INBOX_REPORT_NOT_FOUND",
      httpStatus: 404,
      details: { id },
    });
  }
}

/** Only what was refused can be tried again. */
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
    super(`${path} is not in the inbox any more, or has another content by now, which has a report of its own`, {
      code: "INBOX_FILE_GONE",
      httpStatus: 409,
      details: { path },
    });
  }
}
