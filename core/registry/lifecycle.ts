import { isSamePerson, submittersOf } from "../access/principals";
import { digestOf } from "../digest";
import type { PolicyRules } from "../runs/gate-rules";
import { policyNeedsPeople, withoutApprovals } from "./approvals";
import {
  activeModel,
  activeVersion,
  changeModel,
  changeVersion,
  type ModelChange,
  type ModelState,
  type Transition,
} from "./change";
import { inProduction, modelExists, modelNotFound, semverTaken, versionNotFound } from "./errors";
import type { Actor, Model, ModelVersion } from "./model";
import type { ApprovalRules, ModelPolicy } from "./policy";
import { areLooser, comparesPeople, missingRequests } from "./policy";

/** Returns the model of a name that was never used, before its first change. */
export function emptyModel(name: string, team: string, { by, at }: Pick<Actor, "by" | "at">): Model {
  return {
    name,
    team,
    revision: 0,
    lifecycle: "active",
    latestVersion: 0,
    firstVersion: 1,
    description: "",
    tags: {},
    aliases: {},
    formerProduction: [],
    createdBy: by,
    createdAt: at,
    updatedAt: at,
  };
}

/**
 * Returns a deleted model whose name is used again: without its versions, labels and aliases. It keeps its policy,
 * because otherwise deletion would bypass the gates. Version numbers continue, so that a number never means two
 * versions.
 */
export function renewed(model: Model, { by, at }: Pick<Actor, "by" | "at">): Model {
  const { name, team, revision, latestVersion, policy } = model;
  return { ...emptyModel(name, team, { by, at }), revision, latestVersion, firstVersion: latestVersion + 1, policy };
}

/** @throws MODEL_EXISTS if the name is in use */
export function createModel(labels: Pick<Model, "description" | "tags">, actor: Actor): Transition {
  return (state) => {
    const { model } = state;
    if (model.revision > 0 && model.lifecycle === "active") throw modelExists(model.name);
    const fresh = model.revision === 0 ? model : renewed(model, actor);
    return changeModel({ ...state, model: fresh }, { action: "created" }, actor, labels);
  };
}

/** Hides a model. @throws IN_PRODUCTION if one of its versions serves */
export function deleteModel(actor: Actor): Transition {
  return (state) => {
    const { name, production } = activeModel(state);
    if (production !== undefined) throw inProduction(name, production);
    return changeModel(state, { action: "deleted" }, actor, { lifecycle: "deleted" });
  };
}

/** Restores a deleted model with everything that it had. @throws MODEL_NOT_FOUND if it was renamed instead */
export function restoreModel(actor: Actor): Transition {
  return (state) => {
    const { name, lifecycle, renamedTo } = state.model;
    if (lifecycle === "active") return undefined;
    if (renamedTo !== undefined) throw modelNotFound(name, renamedTo);
    return changeModel(state, { action: "restored" }, actor, { lifecycle: "active" });
  };
}

/** Hides a version. It can no longer serve, have an alias, or be the target of a rollback. @throws IN_PRODUCTION */
export function deleteVersion(version: number, actor: Actor): Transition {
  return (state) => {
    const candidate = activeVersion(state, version);
    const { production, aliases, formerProduction } = state.model;
    if (production === version) throw inProduction(candidate.model, version);
    const left =
      candidate.stage === "canary"
        ? { ...withoutApprovals(state.model, candidate, "canary-ended", actor), stage: "archived" as const }
        : candidate;
    const change = changeVersion(state, { action: "deleted" }, actor, { ...left, lifecycle: "deleted" });
    return {
      ...change,
      model: {
        ...change.model,
        aliases: Object.fromEntries(Object.entries(aliases).filter(([, named]) => named !== version)),
        formerProduction: formerProduction.filter((former) => former !== version),
      },
    };
  };
}

/** Restores a deleted version without its aliases. @throws MODEL_VERSION_NOT_FOUND */
export function restoreVersion(version: number, actor: Actor): Transition {
  return (state) => {
    const model = activeModel(state);
    const modelVersion = state.version(version);
    if (!modelVersion || version < model.firstVersion) throw versionNotFound(model.name, version);
    if (modelVersion.lifecycle === "active") return undefined;
    return changeVersion(state, { action: "restored" }, actor, { ...modelVersion, lifecycle: "active" });
  };
}

/**
 * Sets the rules for the model's versions. Verdicts by other rules become outdated, and approvals are counted by the
 * new rules. Looser approval rules apply only once enough people have requested the same (`missingRequests`); until
 * then the request is stored.
 * @throws POLICY_NEEDS_PEOPLE if a caller without an identity requests looser rules
 */
export function setPolicy(rules: PolicyRules, approvals: ApprovalRules, actor: Actor): Transition {
  return (state) => {
    const { name, policy: before, policyProposal, revision } = activeModel(state);
    const sameRules = before !== undefined && digestOf(before.rules) === digestOf(rules);
    if (sameRules && digestOf(before.approvals) === digestOf(approvals)) return undefined;
    const { by, person, at } = actor;
    let proposedBy: readonly string[] | undefined;
    // One person may promote under a policy that compares nobody, and may therefore loosen it.
    if (before && comparesPeople(before.approvals) && areLooser(approvals, before.approvals)) {
      if (!person) throw policyNeedsPeople(name, by);
      const requested = { rules, approvals };
      const { requests = [], ...proposal } = policyProposal ?? {};
      const earlier = digestOf(proposal) === digestOf(requested) ? requests : [];
      const all = [...earlier.filter((request) => !isSamePerson(request, actor)), { by, person, at }];
      const people = all.map((request) => request.person);
      if (missingRequests(before.approvals, people) > 0) {
        if (all.length === earlier.length) return undefined;
        return changeModel(state, { action: "policy-proposed" }, actor, {
          policyProposal: { ...requested, requests: all },
        });
      }
      proposedBy = all.slice(0, -1).map((request) => request.by);
    }
    const rulesRevision = sameRules ? before.rulesRevision : revision + 1;
    const policy: ModelPolicy = { rules, approvals, revision: revision + 1, rulesRevision, by, proposedBy, at };
    return { ...changeModel(state, { action: "policy-set" }, actor, { policy, policyProposal: undefined }), policy };
  };
}

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

/** Adds the model's next version. It has no verdict and no approvals, whatever its origin. @throws SEMVER_TAKEN */
export function newVersion(state: ModelState, draft: NewVersion, actor: Actor): ModelChange {
  const { model } = state;
  const version: ModelVersion = {
    description: "",
    tags: {},
    submittedBy: actor.by,
    ...submittersOf(actor),
    ...draft,
    version: model.latestVersion + 1,
    stage: "none",
    lifecycle: "active",
    approvals: [],
    createdAt: actor.at,
    updatedAt: actor.at,
  };
  const { semver } = version;
  if (semver !== undefined && state.semverOwner !== undefined)
    throw semverTaken({ ...version, semver: undefined }, semver, state.semverOwner);
  const change = changeModel(state, { action: "registered" }, actor, { latestVersion: version.version });
  return {
    ...change,
    versions: [version],
    history: { ...change.history, version: version.version, to: "none" },
    ...(semver === undefined ? {} : { semver: { text: semver, version: version.version } }),
  };
}
