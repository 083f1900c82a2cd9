import type { ModelChange } from "./change";
import { changeModel } from "./change";
import { modelExists, modelNameFixed } from "./errors";
import { emptyModel, renewed } from "./lifecycle";
import type { Actor, Model, ModelVersion } from "./model";

export interface Rename {
  /** The old name's last change: the model is hidden, and refers to its new name. */
  readonly left: ModelChange;
  /** The new name's change: it has the model's labels and aliases and every version under its old number. */
  readonly taken: ModelChange;
}

/** Rows that move with a model. A transaction has 100, of which heads, histories and events of both names take six. */
const maxRows = 94;
/** Maximum size of these rows; a transaction has at most 4 MB. */
const maxBytes = 3_500_000;

/**
 * Renames a model without production history: the same versions under the same numbers, with its labels and aliases.
 * @param versions all versions since the model was created, deleted ones included
 * @param to target: the model that exists under the new name, if any
 * @throws MODEL_EXISTS if the new name is in use
 * @throws MODEL_NAME_FIXED if runs, rules or serving clients know the old name, or if the new name had versions
 */
export function renameModel(
  model: Model,
  versions: readonly ModelVersion[],
  to: { readonly name: string; readonly target: Model | undefined },
  actor: Actor,
): Rename {
  const { name, team } = model;
  const { target } = to;
  if (target?.lifecycle === "active") throw modelExists(to.name);
  const fixed = whyFixed(model, versions) ?? whyTaken(versions, to.name, target);
  if (fixed !== undefined) throw modelNameFixed(name, fixed);
  const left = changeModel(stateOf(model), { action: "renamed", subject: to.name }, actor, {
    lifecycle: "deleted",
    renamedTo: to.name,
  });
  // The new name keeps a deleted model's policy and continues its numbers, like every model that is created under a
  // used name.
  const before = target === undefined ? emptyModel(to.name, team, actor) : renewed(target, actor);
  const { description, tags, aliases, createdAt, createdBy } = model;
  const numbers = versions.length > 0 ? { latestVersion: model.latestVersion, firstVersion: model.firstVersion } : {};
  const taken = changeModel(stateOf(before), { action: "renamed", subject: name }, actor, {
    ...{ description, tags, aliases, createdAt, createdBy },
    ...numbers,
  });
  const moved = versions.map((version) => ({ ...version, model: to.name, updatedAt: actor.at }));
  return { left, taken: { ...taken, versions: moved } };
}

/** Returns why a model must keep its name; `undefined` if it can be renamed. */
function whyFixed(model: Model, versions: readonly ModelVersion[]): string | undefined {
  if (model.productionRevision !== undefined) return "one of its versions is or was in production under this name";
  if (model.policy !== undefined) return "it has a policy, which is stored under this name";
  if (model.traffic !== undefined) return "it has traffic settings, which are stored under this name";
  const named = (what: string, is: (version: ModelVersion) => boolean): string | undefined => {
    const match = versions.find(is);
    return match && `version ${match.version} ${what}`;
  };
  return (
    named(
      "was trained here, and its run and job refer to it by this name",
      ({ artifactKey }) => artifactKey !== undefined,
    ) ??
    named("is a canary", ({ stage }) => stage === "canary") ??
    named("has a run that waits for it", ({ awaitedBy }) => awaitedBy !== undefined) ??
    named("waits for the answer of a check", ({ gate }) => gate?.checks.some(({ pending }) => pending) ?? false) ??
    whyTooLarge(versions)
  );
}

function whyTooLarge(versions: readonly ModelVersion[]): string | undefined {
  const rows = versions.reduce((sum, { semver, dataset }) => sum + 1 + (semver ? 1 : 0) + (dataset ? 2 : 0), 0);
  if (rows > maxRows) return `its ${versions.length} versions have ${rows} rows, and a rename moves at most ${maxRows}`;
  const bytes = Buffer.byteLength(JSON.stringify(versions));
  return bytes > maxBytes ? `its versions have ${bytes} bytes, and a rename moves at most ${maxBytes}` : undefined;
}

/** Returns why the name cannot be used. A version's number or semver never means two versions, even if one is deleted. */
function whyTaken(versions: readonly ModelVersion[], name: string, target: Model | undefined): string | undefined {
  if (versions.length === 0 || target === undefined || target.latestVersion === 0) return undefined;
  return `${JSON.stringify(name)} already had versions (up to ${target.latestVersion}): choose a name that was never used`;
}

function stateOf(model: Model) {
  return { model, version: () => undefined };
}
