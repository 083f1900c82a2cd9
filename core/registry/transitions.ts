import {
  AlreadyDecidedError,
  GateNotPassedError,
  NotApprovedError,
  NothingToRollBackError,
  RollbackOvertakenError,
  VersionNotFoundError,
} from "./errors";
import type { Approval, GateVerdict, HistoryEntry, Model, ModelVersion } from "./model";

/** A rollback goes back so far; each is in the list once, and the champion never. */
const rememberedChampions = 100;

/** A model with those of its versions that a decision needs. */
export interface ModelState {
  readonly model: Model;
  readonly version: (version: number) => ModelVersion | undefined;
}

/** All that changes in one atomic write, under "revision is still what the decision was made upon". */
export interface ModelChange {
  readonly model: Model;
  readonly versions: readonly ModelVersion[];
  readonly history: HistoryEntry;
}

/** `undefined`: what was asked for is so already. */
export type Transition = (state: ModelState) => ModelChange | undefined;

export interface Actor {
  readonly by: string;
  readonly reason?: string;
  /** ISO 8601. */
  readonly at: string;
}

/** The gates have spoken. A version that passes goes to staging and needs a new approval, unless it is the champion. */
export function recordGate(version: number, verdict: GateVerdict, actor: Actor): Transition {
  return (state) => {
    const candidate = versionOf(state, version);
    const isChampion = state.model.production === version;
    return change(state, "gated", actor, {
      ...candidate,
      gate: verdict,
      stage: isChampion ? candidate.stage : verdict.passed ? "staging" : "none",
      approval: isChampion ? candidate.approval : undefined,
    });
  };
}

/** A run waits for a person's word on this version. */
export function requestApproval(version: number, runId: string, actor: Actor): Transition {
  return (state) => {
    const candidate = versionOf(state, version);
    if (candidate.awaitedBy === runId) return undefined;
    return change(state, "approval-requested", actor, { ...candidate, awaitedBy: runId });
  };
}

/** Approving twice is one approval; the opposite of a decision is refused. */
export function decideApproval(version: number, decision: Approval["decision"], actor: Actor): Transition {
  return (state) => {
    const candidate = versionOf(state, version);
    const earlier = candidate.approval;
    if (earlier?.decision === decision) return undefined;
    if (earlier) throw new AlreadyDecidedError(candidate.model, version, earlier.decision, earlier.by);
    if (!candidate.gate?.passed) throw new GateNotPassedError(candidate.model, version, candidate.gate);
    const made = change(state, decision, actor, {
      ...candidate,
      stage: decision === "rejected" ? "archived" : candidate.stage,
      approval: { decision, by: actor.by, reason: actor.reason ?? "", at: actor.at },
    });
    if (decision === "approved") return made;
    // What a person has rejected since it was the champion is nothing to go back to.
    const formerProduction = state.model.formerProduction.filter((former) => former !== version);
    return { ...made, model: { ...made.model, formerProduction } };
  };
}

/** The one door to production: a passed gate and an approval. The old champion is archived in the same write. */
export function promote(version: number, actor: Actor): Transition {
  return (state) => {
    const candidate = versionOf(state, version);
    if (state.model.production === version) return undefined;
    if (!candidate.gate?.passed) throw new GateNotPassedError(candidate.model, version, candidate.gate);
    if (candidate.approval?.decision !== "approved") {
      throw new NotApprovedError(candidate.model, version, candidate.approval?.decision);
    }
    const { production, formerProduction } = state.model;
    const former = [...formerProduction.filter((each) => each !== version), ...(production ? [production] : [])];
    const served = { gate: candidate.gate, approval: candidate.approval };
    return champion(state, { ...candidate, served }, "promoted", actor, former.slice(-rememberedChampions));
  };
}

/**
 * Back to the version that was in production before, under the verdict and the approval that it served under: judged again since against
 * its successor, it may have lost both.
 *
 * @param from the version that is to go; where another is in production by now, the rollback is refused: it was not meant
 */
export function rollBack(actor: Actor, from: number | undefined): Transition {
  return (state) => {
    const { name, production, formerProduction } = state.model;
    if (from !== production) throw new RollbackOvertakenError(name, from, production);
    const target = formerProduction.at(-1);
    if (target === undefined) throw new NothingToRollBackError(name, production);
    const version = versionOf(state, target);
    return champion(state, { ...version, ...version.served }, "rolled-back", actor, formerProduction.slice(0, -1));
  };
}

function champion(
  state: ModelState,
  next: ModelVersion,
  action: HistoryEntry["action"],
  actor: Actor,
  formerProduction: readonly number[],
): ModelChange {
  const old = state.model.production === undefined ? undefined : versionOf(state, state.model.production);
  const made = change(state, action, actor, { ...next, stage: "production" });
  return {
    ...made,
    model: { ...made.model, formerProduction, production: next.version },
    versions: old ? [...made.versions, { ...old, stage: "archived" }] : made.versions,
  };
}

function change(state: ModelState, action: HistoryEntry["action"], actor: Actor, version: ModelVersion): ModelChange {
  const revision = state.model.revision + 1;
  return {
    model: { ...state.model, revision, updatedAt: actor.at },
    versions: [version],
    history: { revision, action, version: version.version, by: actor.by, reason: actor.reason, at: actor.at },
  };
}

function versionOf(state: ModelState, version: number): ModelVersion {
  const found = state.version(version);
  if (!found) throw new VersionNotFoundError(state.model.name, version);
  return found;
}
