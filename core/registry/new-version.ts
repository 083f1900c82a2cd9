import { submittersOf } from "../access/principals";
import { changeModel, type ModelChange, type ModelState } from "./change";
import { SemverTakenError } from "./errors";
import type { Actor, ModelVersion } from "./model";

/** The facts that the caller gives when it registers a version. */
export type NewVersion = Pick<ModelVersion, "model" | "metrics"> &
  Partial<
    Pick<
      ModelVersion,
      | "semver"
      | "description"
      | "tags"
      | "submittedBy"
      | "submitters"
      | "runId"
      | "runLink"
      | "loggedModelId"
      | "weightsSha256"
      | "artifactKey"
      | "source"
      | "framework"
      | "signature"
      | "dataset"
      | "evaluationReport"
    >
  >;

/**
 * Adds the model's next version. It has no verdict and no approvals, whatever its origin.
 *
 * @throws SemverTakenError
 */
export function newVersion(state: ModelState, made: NewVersion, actor: Actor): ModelChange {
  const { model } = state;
  const version: ModelVersion = {
    description: "",
    tags: {},
    submittedBy: actor.by,
    ...submittersOf(actor),
    ...made,
    version: model.latestVersion + 1,
    stage: "none",
    lifecycle: "active",
    approvals: [],
    createdAt: actor.at,
    updatedAt: actor.at,
  };
  const { semver } = version;
  if (semver !== undefined && state.semverOwner !== undefined)
    throw new SemverTakenError({ ...version, semver: undefined }, semver, state.semverOwner);
  const change = changeModel(state, { action: "registered" }, actor, { latestVersion: version.version });
  return {
    ...change,
    versions: [version],
    history: { ...change.history, version: version.version, to: "none" },
    ...(semver === undefined ? {} : { semver: { text: semver, version: version.version } }),
  };
}
