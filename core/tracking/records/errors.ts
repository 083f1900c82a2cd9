import { RingmasterError } from "../../errors";

export class ExperimentNotFoundError extends RingmasterError {
  constructor(reference: { readonly experimentId: string } | { readonly name: string }) {
    const what =
      "name" in reference ? `named ${JSON.stringify(reference.name)}` : JSON.stringify(reference.experimentId);
    super(`there is no experiment ${what}; \`ringmaster experiments list\` lists experiments`, {
      code: "EXPERIMENT_NOT_FOUND",
      httpStatus: 404,
      details: reference,
    });
  }
}

/** Thrown when an experiment, possibly deleted, has the name. A deleted one could be restored. */
export class ExperimentExistsError extends RingmasterError {
  constructor(name: string, experimentId: string | undefined) {
    super(
      `an experiment with the name ${JSON.stringify(name)} already exists: use it, restore it if it is deleted, or choose another name`,
      { code: "EXPERIMENT_EXISTS", httpStatus: 409, details: { name, experimentId } },
    );
  }
}

/** Thrown when something is added to a deleted experiment. */
export class ExperimentDeletedError extends RingmasterError {
  constructor(experimentId: string, name: string) {
    super(
      `experiment ${experimentId} (${JSON.stringify(name)}) is deleted: restore it with \`ringmaster experiments restore ${experimentId}\``,
      { code: "EXPERIMENT_DELETED", httpStatus: 409, details: { experimentId, name } },
    );
  }
}

export class ExperimentBusyError extends RingmasterError {
  constructor(experimentId: string, rounds: number) {
    super(`experiment ${experimentId} was changed by other requests during each of ${rounds} attempts; try again`, {
      code: "EXPERIMENT_BUSY",
      httpStatus: 503,
      retryable: true,
      details: { experimentId },
    });
  }
}

export class RunBusyError extends RingmasterError {
  constructor(runId: string, rounds: number) {
    super(`run ${runId} was changed by other requests during each of ${rounds} attempts; try again`, {
      code: "RUN_BUSY",
      httpStatus: 503,
      retryable: true,
      details: { runId },
    });
  }
}

/** Thrown when the changed run would not fit its row. Nothing was changed. */
export class RunRecordTooLargeError extends RingmasterError {
  constructor(runId: string, bytes: number, most: number) {
    super(
      `the record of run ${runId} would take ${bytes} bytes compressed, but must take at most ${most}; nothing was changed: log large values as artifacts`,
      { code: "RUN_RECORD_TOO_LARGE", httpStatus: 413, details: { runId, bytes, most } },
    );
  }
}

/** Thrown when the changed experiment would not fit its row. Nothing was changed. */
export class ExperimentTooLargeError extends RingmasterError {
  constructor(name: string, bytes: number, most: number) {
    super(
      `experiment ${JSON.stringify(name)} would take ${bytes} bytes with its tags, but must take at most ${most}; nothing was changed`,
      { code: "EXPERIMENT_TOO_LARGE", httpStatus: 413, details: { name, bytes, most } },
    );
  }
}

/**
 * Thrown when a client changes the status, end or job parameters of a training run, which follow from its own progress.
 */
export class RunFieldFixedError extends RingmasterError {
  constructor(runId: string, field: string) {
    super(
      `${field} of run ${runId} cannot be changed, because the platform records it for training runs; name, tags, notes and additional params can be changed`,
      { code: "RUN_FIELD_FIXED", httpStatus: 409, details: { runId, field } },
    );
  }
}

export interface ParamConflict {
  readonly key: string;
  readonly known: string;
  readonly given: string;
}

/** Thrown when a param is written with another value. */
export class ParamConflictError extends RingmasterError {
  constructor(
    runId: string,
    readonly conflicts: readonly ParamConflict[],
  ) {
    const [{ key, known, given }] = conflicts as readonly [(typeof conflicts)[number]];
    const more = conflicts.length > 1 ? ` (and ${conflicts.length - 1} more)` : "";
    super(
      `param ${JSON.stringify(key)} of run ${runId} is ${quote(known)} and cannot become ${quote(given)}${more}: a param cannot be changed; log another run or use a tag`,
      { code: "PARAM_CONFLICT", httpStatus: 409, details: { runId, conflicts } },
    );
  }
}

/** Thrown when a deleted run is changed. */
export class RunDeletedError extends RingmasterError {
  constructor(runId: string) {
    super(`run ${runId} is deleted: restore it first with \`ringmaster runs undelete ${runId}\``, {
      code: "RUN_DELETED",
      httpStatus: 409,
      details: { runId },
    });
  }
}

export class ArtifactNotFoundError extends RingmasterError {
  constructor(runId: string, path: string) {
    super(
      `run ${runId} has no artifact ${JSON.stringify(path)}; \`ringmaster runs artifacts list ${runId}\` lists them`,
      {
        code: "ARTIFACT_NOT_FOUND",
        httpStatus: 404,
        details: { owner: `run ${runId}`, path },
      },
    );
  }
}

/** Thrown when a client changes files that the platform writes for a training run. */
export class ArtifactReservedError extends RingmasterError {
  constructor(runId: string, path: string, reserved: string) {
    super(
      `${quote(path)} of training run ${runId} cannot be changed: ${reserved}/ is reserved for the output of the training; choose another path`,
      { code: "ARTIFACT_RESERVED", httpStatus: 409, details: { runId, path } },
    );
  }
}

/** Thrown when the files of an evaluated version are changed. */
export class ArtifactFrozenError extends RingmasterError {
  constructor(owner: string, path: string, frozen: string) {
    const which = frozen === "" ? "its files" : `the files under ${quote(frozen)}`;
    super(
      `${quote(path)} of ${owner} cannot be changed: ${which} belong to a model version that was evaluated; log the files elsewhere and register another version`,
      { code: "ARTIFACT_FROZEN", httpStatus: 409, details: { owner, path, frozen } },
    );
  }
}

export class ArtifactsBusyError extends RingmasterError {
  constructor(owner: string, rounds: number) {
    super(`the artifacts of ${owner} were changed by other requests during each of ${rounds} attempts; try again`, {
      code: "ARTIFACTS_BUSY",
      httpStatus: 503,
      retryable: true,
      details: { owner },
    });
  }
}

function quote(value: string): string {
  return JSON.stringify(value.length <= 100 ? value : `${value.slice(0, 100)}…`);
}
