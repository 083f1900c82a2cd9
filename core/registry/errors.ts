import { busy, conflict, notFound, RingmasterError } from "../errors";
import type { GateVerdict } from "./gates/verdict";
import type { ModelVersion } from "./model";

export type Named = Pick<ModelVersion, "model" | "version">;

/** @param renamedTo its present name */
export function modelNotFound(name: string, renamedTo?: string) {
  const rule = name.includes("@") ? "; give the name without version or alias" : "";
  const next = renamedTo === undefined ? rule : `; it was renamed to ${JSON.stringify(renamedTo)}`;
  return notFound("MODEL_NOT_FOUND", `there is no model ${JSON.stringify(name)}${next}`, { model: name, renamedTo });
}

export const versionNotFound = (model: string, version: number) =>
  notFound("MODEL_VERSION_NOT_FOUND", `model ${model} has no version ${version}`, { model, version });

export const noChampion = (model: string) =>
  notFound("NO_CHAMPION", `model ${model} has no version in production: no version was promoted yet`, { model });

export function gateNotPassed(model: string, version: number, verdict: GateVerdict | undefined) {
  const failed = verdict?.checks.filter((check) => !check.passed).map((check) => check.evidence) ?? [];
  return conflict(
    "GATE_NOT_PASSED",
    verdict
      ? `version ${version} of ${model} did not pass its gates (${failed.join("; ")}): only a version that passed can be approved or promoted`
      : `version ${version} of ${model} has no gate verdict yet`,
    { model, version, failed },
  );
}

export const canaryUnderTest = ({ model, version }: Named) =>
  conflict(
    "CANARY_UNDER_TEST",
    `version ${version} of ${model} is a canary under test: its test decides whether it is promoted`,
    { model, version },
  );

export class GateOutdatedError extends RingmasterError {
  /** @param runId the run that trained the version, if it waits for an approval and is therefore evaluated again */
  constructor(
    { model, version }: Named,
    readonly changed: "champion" | "policy",
    production: number | undefined,
    runId?: string,
  ) {
    const why =
      changed === "policy"
        ? "the model's policy has changed since"
        : production === undefined
          ? "the champion that it was compared with is no longer in production"
          : `version ${production} is in production now, and the evaluation did not compare with it`;
    super(`the gate verdict on version ${version} of ${model} is outdated: ${why}`, {
      code: "GATE_OUTDATED",
      httpStatus: 409,
      details: { model, version, changed, production, runId },
    });
  }
}

export const inProduction = (model: string, version: number) =>
  conflict("IN_PRODUCTION", `version ${version} of ${model} is in production`, { model, version });

export const modelExists = (model: string) =>
  conflict("MODEL_EXISTS", `model ${JSON.stringify(model)} already exists`, {
    model,
  });

/** Thrown when a model's name is in use by runs, rules, events or serving clients. @param why part of a sentence */
export const modelNameFixed = (model: string, why: string) =>
  conflict(
    "MODEL_NAME_FIXED",
    `model ${JSON.stringify(model)} cannot be renamed: ${why}; register its versions under another name instead`,
    { model },
  );

export const aliasNotFound = (model: string, alias: string) =>
  notFound("ALIAS_NOT_FOUND", `model ${model} has no alias ${alias}`, { model, alias });

export const aliasFollowsProduction = (model: string, production: number) =>
  conflict(
    "ALIAS_FOLLOWS_PRODUCTION",
    `alias champion of ${model} is version ${production}, the version in production: only a promotion or a rollback moves the alias`,
    { model, production },
  );

export const semverTaken = (
  { model, version, semver }: Named & Pick<ModelVersion, "semver">,
  wanted: string,
  owner: number | undefined,
) =>
  conflict(
    "SEMVER_TAKEN",
    semver === undefined
      ? `${wanted} permanently belongs to version ${owner} of ${model}: choose another semantic version for version ${version}`
      : `version ${version} of ${model} is permanently ${semver} and cannot become ${wanted}: clients may have pinned it`,
    { model, version, semver: wanted, owner },
  );

export function nothingToRollBack(model: string, production?: number) {
  const before =
    production === undefined
      ? "has never had a version in production"
      : `had no version in production before version ${production}`;
  return conflict("NOTHING_TO_ROLL_BACK", `model ${model} ${before}: there is nothing to roll back to`, { model });
}

export const rollbackRace = (model: string, from: number | undefined, now: number | undefined) =>
  conflict(
    "ROLLBACK_OVERTAKEN",
    `version ${from} of ${model} is no longer in production (${now === undefined ? "no version" : `version ${now}`} is), ` +
      `so nothing was rolled back`,
    { model, from, now },
  );

export const registryUnavailable = (model: string, cause: unknown) =>
  busy(
    "REGISTRY_UNAVAILABLE",
    `the registry is unavailable, and the bucket has no production pointer of ${model}; send the request again`,
    { model },
    cause,
  );

/** Another version was promoted between evaluation and gates. The state machine then evaluates again. */
export function championChanged(model: string, met: number | undefined, now: number) {
  const compared = met === undefined ? "no champion" : `version ${met}`;
  return conflict(
    "CHAMPION_CHANGED",
    `the champion of ${model} is version ${now}, but the candidate was compared with ${compared}: the run evaluates it again`,
    { model, met, now },
  );
}

export const reproductionNotRegistered = (runId: string, of: string) =>
  conflict(
    "REPRODUCTION_NOT_REGISTERED",
    `run ${runId} reproduces ${of}, and a reproduction makes no version: the version of ${of} is the one to promote`,
    { runId, of },
  );
