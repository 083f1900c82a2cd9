import { modelNotFound, versionNotFound } from "./errors";
import type { Actor, HistoryEntry, Model, ModelVersion } from "./model";
import type { ModelPolicy } from "./policy";

export interface ModelState {
  readonly model: Model;
  readonly version: (version: number) => ModelVersion | undefined;
  /** The version that has the semver of the decision, if one has it. */
  readonly semverOwner?: number;
}

/** The changes of one atomic write, which requires that the revision is still the one that the decision read. */
export interface ModelChange {
  readonly model: Model;
  readonly versions: readonly ModelVersion[];
  readonly history: HistoryEntry;
  /** A semver that is assigned permanently. */
  readonly semver?: { readonly text: string; readonly version: number };
  readonly policy?: ModelPolicy;
}

/** Decides on a change; `undefined` if nothing changes. */
export type Transition = (state: ModelState) => ModelChange | undefined;

type What = Pick<HistoryEntry, "action" | "replaced" | "subject">;

export function changeVersion(state: ModelState, what: What, actor: Actor, next: ModelVersion): ModelChange {
  const before = state.version(next.version)?.stage;
  const moved = before === undefined || before === next.stage ? {} : { from: before, to: next.stage };
  const change = changeModel(state, what, actor, {});
  return {
    ...change,
    versions: [{ ...next, updatedAt: actor.at }],
    history: { ...change.history, version: next.version, ...moved },
  };
}

export function changeModel(state: ModelState, what: What, actor: Actor, next: Partial<Model>): ModelChange {
  const revision = state.model.revision + 1;
  const { by, person, reason, at } = actor;
  const personId = person && { personId: person.id };
  return {
    model: { ...state.model, ...next, revision, updatedAt: at },
    versions: [],
    history: { revision, ...what, by, ...personId, reason: reason === "" ? undefined : reason, at },
  };
}

/** @throws MODEL_NOT_FOUND if the model is deleted */
export function activeModel({ model }: ModelState): Model {
  if (model.lifecycle === "deleted") throw modelNotFound(model.name, model.renamedTo);
  return model;
}

/** @throws MODEL_VERSION_NOT_FOUND, MODEL_NOT_FOUND if there is none or it is deleted */
export function activeVersion(state: ModelState, version: number): ModelVersion {
  const model = activeModel(state);
  const modelVersion = state.version(version);
  if (!modelVersion || !isVisible(model, modelVersion)) throw versionNotFound(model.name, version);
  return modelVersion;
}

/** Returns whether lists show the version and changes find it. */
export function isVisible(model: Model, { version, lifecycle }: Pick<ModelVersion, "version" | "lifecycle">): boolean {
  return model.lifecycle === "active" && lifecycle === "active" && version >= model.firstVersion;
}
