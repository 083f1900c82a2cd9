import { RingmasterError } from "../errors";

export class StudyNotFoundError extends RingmasterError {
  constructor(name: string) {
    super(`there is no study ${JSON.stringify(name)}; \`ringmaster study list\` shows the studies`, {
      code: "STUDY_NOT_FOUND",
      httpStatus: 404,
      details: { study: name },
    });
  }
}

/** Thrown when a study of that name has another definition. */
export class StudyExistsError extends RingmasterError {
  constructor(name: string) {
    super(
      `study ${name} already exists with another definition; choose another name, or continue it with \`ringmaster study extend ${name}\``,
      { code: "STUDY_EXISTS", httpStatus: 409, details: { study: name } },
    );
  }
}

/** Thrown when other requests changed the study before each attempt. */
export class StudyBusyError extends RingmasterError {
  constructor(name: string) {
    super(`too many requests change study ${name} at the same time; send the request again`, {
      code: "STUDY_BUSY",
      httpStatus: 503,
      retryable: true,
      details: { study: name },
    });
  }
}

/** Thrown when the best trial is requested before any trial has a value. */
export class StudyWithoutResultError extends RingmasterError {
  constructor(name: string, failed: number) {
    const reason = failed === 0 ? "no trial has reported its objective yet" : `its ${failed} ended trials failed`;
    super(`study ${name} has no best trial: ${reason}; \`ringmaster study show ${name}\` lists the trials`, {
      code: "STUDY_WITHOUT_RESULT",
      httpStatus: 409,
      details: { study: name },
    });
  }
}
