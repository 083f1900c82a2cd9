import { RingmasterError } from "../errors";

export class MonitorNotFoundError extends RingmasterError {
  constructor(name: string) {
    super(`there is no monitor ${JSON.stringify(name)}; \`ringmaster monitors list\` shows the monitors`, {
      code: "MONITOR_NOT_FOUND",
      httpStatus: 404,
      details: { monitor: name },
    });
  }
}

export class WindowNotFoundError extends RingmasterError {
  constructor(name: string, window: number) {
    super(`monitor ${name} has no window ${window}; \`ringmaster monitors show ${name}\` lists its windows`, {
      code: "MONITOR_WINDOW_NOT_FOUND",
      httpStatus: 404,
      details: { monitor: name, window },
    });
  }
}

/** Thrown when a monitor of that name has another definition. */
export class MonitorExistsError extends RingmasterError {
  constructor(name: string) {
    super(
      `monitor ${name} already exists with other settings; choose another name, or delete it first with \`ringmaster monitors delete ${name}\``,
      { code: "MONITOR_EXISTS", httpStatus: 409, details: { monitor: name } },
    );
  }
}

/** Thrown when other requests changed the monitor before each attempt. */
export class MonitorBusyError extends RingmasterError {
  constructor(name: string) {
    super(`too many requests change monitor ${name} at the same time; send the request again`, {
      code: "MONITOR_BUSY",
      httpStatus: 503,
      retryable: true,
      details: { monitor: name },
    });
  }
}
