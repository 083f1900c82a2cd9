import { busy, conflict, notFound, RingmasterError, tooLarge } from "../../errors";

export function experimentNotFound(reference: { readonly experimentId: string } | { readonly name: string }) {
  const what = "name" in reference ? `named ${JSON.stringify(reference.name)}` : JSON.stringify(reference.experimentId);
  return notFound(
    "EXPERIMENT_NOT_FOUND",
    `there is no experiment ${what}; \`ringmaster experiments list\` lists experiments`,
    reference,
  );
}

export const experimentExists = (name: string, experimentId: string | undefined) =>
  conflict(
    "EXPERIMENT_EXISTS",
    `an experiment with the name ${JSON.stringify(name)} already exists: use it, restore it if it is deleted, or choose another name`,
    { name, experimentId },
  );

export const experimentDeleted = (experimentId: string, name: string) =>
  conflict(
    "EXPERIMENT_DELETED",
    `experiment ${experimentId} (${JSON.stringify(name)}) is deleted: restore it with \`ringmaster experiments restore ${experimentId}\``,
    { experimentId, name },
  );

export const experimentBusy = (experimentId: string, rounds: number) =>
  busy(
    "EXPERIMENT_BUSY",
    `experiment ${experimentId} was changed by other requests during each of ${rounds} attempts; try again`,
    { experimentId },
  );

export const runBusy = (runId: string, rounds: number) =>
  busy("RUN_BUSY", `run ${runId} was changed by other requests during each of ${rounds} attempts; try again`, {
    runId,
  });

export const runRecordTooLarge = (runId: string, bytes: number, most: number) =>
  tooLarge(
    "RUN_RECORD_TOO_LARGE",
    `the record of run ${runId} would take ${bytes} bytes compressed, but must take at most ${most}; nothing was changed: log large values as artifacts`,
    { runId, bytes, most },
  );

export const experimentTooLarge = (name: string, bytes: number, most: number) =>
  tooLarge(
    "EXPERIMENT_TOO_LARGE",
    `experiment ${JSON.stringify(name)} would take ${bytes} bytes with its tags, but must take at most ${most}; nothing was changed`,
    { name, bytes, most },
  );

export const runFieldFixed = (runId: string, field: string) =>
  conflict(
    "RUN_FIELD_FIXED",
    `${field} of run ${runId} cannot be changed, because the platform records it for training runs; name, tags, notes and additional params can be changed`,
    { runId, field },
  );

export interface ParamConflict {
  readonly key: string;
  readonly known: string;
  readonly given: string;
}

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

export const runDeleted = (runId: string) =>
  conflict("RUN_DELETED", `run ${runId} is deleted: restore it first with \`ringmaster runs undelete ${runId}\``, {
    runId,
  });

export const artifactNotFound = (runId: string, path: string) =>
  notFound(
    "ARTIFACT_NOT_FOUND",
    `run ${runId} has no artifact ${JSON.stringify(path)}; \`ringmaster runs artifacts list ${runId}\` lists them`,
    { owner: `run ${runId}`, path },
  );

export const artifactReserved = (runId: string, path: string, reserved: string) =>
  conflict(
    "ARTIFACT_RESERVED",
    `${quote(path)} of training run ${runId} cannot be changed: ${reserved}/ is reserved for the output of the training; choose another path`,
    { runId, path },
  );

export function artifactFrozen(owner: string, path: string, frozen: string) {
  const which = frozen === "" ? "its files" : `the files under ${quote(frozen)}`;
  return conflict(
    "ARTIFACT_FROZEN",
    `${quote(path)} of ${owner} cannot be changed: ${which} belong to a model version that was evaluated; log the files elsewhere and register another version`,
    { owner, path, frozen },
  );
}

export const artifactsBusy = (owner: string, rounds: number) =>
  busy(
    "ARTIFACTS_BUSY",
    `the artifacts of ${owner} were changed by other requests during each of ${rounds} attempts; try again`,
    { owner },
  );

function quote(value: string): string {
  return JSON.stringify(value.length <= 100 ? value : `${value.slice(0, 100)}…`);
}
