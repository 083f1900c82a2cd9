import { RingmasterError } from "../errors";

export class ViewNotFoundError extends RingmasterError {
  constructor(name: string) {
    super(`there is no feature view ${JSON.stringify(name)}; \`ringmaster views list\` shows the views`, {
      code: "FEATURE_VIEW_NOT_FOUND",
      httpStatus: 404,
      details: { view: name },
    });
  }
}

export class ViewVersionNotFoundError extends RingmasterError {
  constructor(name: string, version: number, latest: number) {
    super(`feature view ${name} has no version ${version}; its latest is ${name}@${latest}`, {
      code: "FEATURE_VIEW_VERSION_NOT_FOUND",
      httpStatus: 404,
      details: { view: name, version, latest },
    });
  }
}

/** Thrown when a definition breaks readers of the previous version and the push did not allow it. */
export class ViewIncompatibleError extends RingmasterError {
  /** @param production model versions in production that read the view */
  constructor(name: string, version: number, changes: readonly string[], production: readonly string[] = []) {
    const uses = production.length > 0 ? `; in production, ${production.join(", ")} would get no new rows` : "";
    super(
      `the definition is not compatible with ${name}@${version}: ${changes.join("; ")}; push under another name, or with --allow-incompatible, which starts without rows${uses}`,
      { code: "FEATURE_VIEW_INCOMPATIBLE", httpStatus: 409, details: { view: name, version, changes, production } },
    );
  }
}

/** Thrown when rows were prepared for another generation of the view than the newest. */
export class ViewChangedError extends RingmasterError {
  constructor(name: string, generation: number, newest: number) {
    super(
      `the rows are for generation ${generation} of feature view ${name}, but its newest version reads generation ${newest}; ingest them again`,
      { code: "FEATURE_VIEW_CHANGED", httpStatus: 409, details: { view: name, generation, newest } },
    );
  }
}

/** Thrown when other requests changed the view before each attempt. */
export class ViewBusyError extends RingmasterError {
  constructor(name: string) {
    super(`too many requests change feature view ${name} at the same time; send the request again`, {
      code: "FEATURE_VIEW_BUSY",
      httpStatus: 503,
      retryable: true,
      details: { view: name },
    });
  }
}
