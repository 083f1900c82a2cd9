import { InvalidInputError } from "../errors";
import { activeModel, activeVersion, changeModel, changeVersion, type Transition } from "./change";
import { aliasFollowsProduction, aliasNotFound, semverTaken } from "./errors";
import type { Actor, HistoryEntry, Model, ModelVersion } from "./model";
import { labelLimits, pattern, tagsProblem } from "./names";

/** The alias that follows production. `latest` and `v<number>` have fixed meanings. */
const championAlias = "champion";

/**
 * Suggests the next minor version of the highest release, or 0.1.0 if there is none. Callers may choose any free one.
 */
export function suggestSemver(taken: readonly string[]): string {
  const releases = taken.flatMap((text) => {
    const [, major, minor, , pre] = pattern.exec(text) ?? [];
    return major === undefined || pre !== undefined ? [] : [[BigInt(major), BigInt(minor!)] as const];
  });
  const highest = releases.reduce<readonly [bigint, bigint] | undefined>(
    (best, each) =>
      best === undefined || each[0] > best[0] || (each[0] === best[0] && each[1] > best[1]) ? each : best,
    undefined,
  );
  return highest === undefined ? "0.1.0" : `${highest[0]}.${highest[1] + 1n}.0`;
}

/** A version if the number is given, else the model. */
type Target = number | undefined;

/** Sets a description in Markdown; an empty text removes it. */
export function describe(target: Target, description: string, actor: Actor): Transition {
  return change(target, { action: "described" }, actor, (labels) =>
    labels.description === description ? undefined : { ...labels, description },
  );
}

/** @throws InvalidInputError if all tags together exceed the limit */
export function setTag(target: Target, key: string, value: string, actor: Actor): Transition {
  return change(target, { action: "tagged", subject: key }, actor, (labels) => {
    if (Object.hasOwn(labels.tags, key) && labels.tags[key] === value) return undefined;
    const tags = { ...labels.tags, [key]: value };
    const rule = tagsProblem(tags);
    if (rule !== undefined) throw new InvalidInputError("the tag cannot be set", [{ path: "tags", rule }]);
    return { ...labels, tags };
  });
}

export function deleteTag(target: Target, key: string, actor: Actor): Transition {
  return change(target, { action: "untagged", subject: key }, actor, (labels) => {
    if (!Object.hasOwn(labels.tags, key)) return undefined;
    const { [key]: _, ...tags } = labels.tags;
    return { ...labels, tags };
  });
}

type Labels = Pick<Model & ModelVersion, "description" | "tags">;

function change(
  target: Target,
  what: Pick<HistoryEntry, "action" | "subject">,
  actor: Actor,
  next: (labels: Labels) => Labels | undefined,
): Transition {
  return (state) => {
    if (target === undefined) {
      const { description, tags } = activeModel(state);
      const changed = next({ description, tags });
      return changed && changeModel(state, what, actor, changed);
    }
    const version = activeVersion(state, target);
    const changed = next({ description: version.description, tags: version.tags });
    if (!changed) return undefined;
    const modelChange = changeVersion(state, what, actor, { ...version, ...changed });
    // A label of a version does not change the model's `updatedAt`, which follows its own changes, added and deleted
    // versions, and stages.
    return { ...modelChange, model: { ...modelChange.model, updatedAt: state.model.updatedAt } };
  };
}

/** @throws ALIAS_FOLLOWS_PRODUCTION for `champion` once there is a champion: only promotions and rollbacks set it */
export function setAlias(alias: string, version: number, actor: Actor): Transition {
  return (state) => {
    activeVersion(state, version);
    const { name, aliases, production } = state.model;
    if (Object.hasOwn(aliases, alias) && aliases[alias] === version) return undefined;
    if (alias === championAlias && production !== undefined) throw aliasFollowsProduction(name, production);
    if (!Object.hasOwn(aliases, alias) && Object.keys(aliases).length >= labelLimits.aliases)
      throw new InvalidInputError("the alias cannot be set", [
        {
          path: "alias",
          value: alias,
          rule: `must be one of at most ${labelLimits.aliases} aliases: delete one first`,
        },
      ]);
    const change = changeModel(state, { action: "alias-set", subject: alias }, actor, {
      aliases: { ...aliases, [alias]: version },
    });
    return { ...change, history: { ...change.history, version } };
  };
}

/** @throws ALIAS_FOLLOWS_PRODUCTION, ALIAS_NOT_FOUND */
export function deleteAlias(alias: string, actor: Actor): Transition {
  return (state) => {
    const { name, aliases, production } = activeModel(state);
    if (!Object.hasOwn(aliases, alias)) throw aliasNotFound(name, alias);
    if (alias === championAlias && production !== undefined) throw aliasFollowsProduction(name, production);
    const { [alias]: version, ...rest } = aliases;
    const change = changeModel(state, { action: "alias-deleted", subject: alias }, actor, { aliases: rest });
    return { ...change, history: { ...change.history, version } };
  };
}

/** Assigns a semver permanently, so that a pinned semver never means another version. @throws SEMVER_TAKEN */
export function setSemver(version: number, semver: string, actor: Actor): Transition {
  return (state) => {
    const candidate = activeVersion(state, version);
    if (candidate.semver === semver) return undefined;
    if (candidate.semver !== undefined || state.semverOwner !== undefined)
      throw semverTaken(candidate, semver, state.semverOwner);
    const change = changeVersion(state, { action: "semver-set", subject: semver }, actor, { ...candidate, semver });
    return { ...change, semver: { text: semver, version } };
  };
}
