import { isSamePerson } from "../access/principals";
import {
  alreadyDecided,
  approvalExpired,
  decisionOn,
  hasExpired,
  notAnApprover,
  notApproved,
  refusalOfDecision,
  withdrawal,
  withoutApprovals,
} from "./approvals";
import { activeVersion, changeVersion, type ModelChange, type ModelState, type Transition } from "./change";
import {
  canaryUnderTest,
  GateOutdatedError,
  gateNotPassed,
  inProduction,
  nothingToRollBack,
  rollbackRace,
} from "./errors";
import { evidenceChange, outdatedBy } from "./gates/evidence";
import type { GateVerdict } from "./gates/verdict";
import type { Actor, Approval, HistoryAction, Model, ModelVersion, Stage } from "./model";
import { approvalRulesOf, expiryOf } from "./policy";
import { isUnderTest } from "./serving/traffic";

/**
 * Number of former champions to which a rollback is possible. Each is in the list once; the present champion is not.
 */
const rememberedChampions = 100;

/**
 * Records a verdict. A version that passes goes to staging, unless it is a canary; one that does not goes to `none`.
 * Approvals stay if the verdict rests on the evidence for which they were given; otherwise they are withdrawn, and row
 * and history have the reason. A rejection stays. The champion stays in production.
 */
export function recordGate(version: number, verdict: GateVerdict, actor: Actor): Transition {
  return (state) => {
    const candidate = activeVersion(state, version);
    if (state.model.production === version) return changeVersion(state, gated, actor, { ...candidate, gate: verdict });
    const judged = { ...candidate, gate: verdict };
    if (candidate.approvals.some(({ decision }) => decision === "rejected")) {
      return changeVersion(state, gated, actor, judged);
    }
    const staged = { ...judged, stage: stageAfter(verdict, candidate.stage) };
    const changed = evidenceChange(candidate.gate, verdict);
    if (changed === undefined || candidate.approvals.length === 0) return changeVersion(state, gated, actor, staged);
    const next = withoutApprovals(state.model, staged, "evaluated-again", { ...actor, reason: changed });
    const change = changeVersion(state, gated, actor, next);
    const approvalsWithdrawn = withdrawal(next.approvalsWithdrawn!);
    return { ...change, history: { ...change.history, approvalsWithdrawn } };
  };
}

const gated = { action: "gated" } as const;

function stageAfter({ passed }: GateVerdict, stage: Stage): Stage {
  if (!passed) return "none";
  return stage === "canary" ? "canary" : "staging";
}

/** Requests approval after the run's end. Nothing changes if that was done, or one is open and `again` is false. */
export function requestApproval(
  version: number,
  { id, runId, again }: { readonly id: string; readonly runId: string; readonly again: boolean },
  actor: Actor,
): Transition {
  return (state) => {
    const candidate = activeVersion(state, version);
    const { model } = state;
    if (model.production === version || decisionOn(model, candidate).state === "rejected") return undefined;
    const { approvalRequest: open } = candidate;
    if (open?.id === id || (open !== undefined && !again && !hasExpired(candidate, actor.at))) return undefined;
    const approvalRequest = { id, by: actor.by, at: actor.at, expiresAt: expiryOf(model, actor.at) };
    const next = { ...candidate, awaitedBy: runId, approvalRequest };
    return changeVersion(state, { action: "approval-requested" }, actor, next);
  };
}

export function expireApproval(version: number, id: string, actor: Actor): Transition {
  return (state) => {
    const candidate = activeVersion(state, version);
    const { approvalRequest: open } = candidate;
    if (open?.id !== id || open.expired || !hasExpired(candidate, actor.at)) return undefined;
    const next: ModelVersion = { ...candidate, approvalRequest: { ...open, expired: true } };
    return changeVersion(state, { action: "approval-expired" }, actor, next);
  };
}

/**
 * Records a person's decision. The last approval that the policy requires decides, and so does any rejection. The
 * opposite of a final decision is refused; its repetition changes nothing. An approval of an outdated verdict is
 * refused, because it could not lead to a promotion.
 * @throws ALREADY_DECIDED, GATE_NOT_PASSED, NOT_AN_APPROVER, GateOutdatedError
 */
export function decideApproval(version: number, decision: Approval["decision"], actor: Actor): Transition {
  return (state) => {
    const candidate = activeVersion(state, version);
    const { model } = state;
    const ruling = model.production === version ? servedDecision(candidate) : decisionOn(model, candidate);
    if (ruling.state === decision) return undefined;
    // A person may overrule the policy's own approval before the promotion.
    if (ruling.state !== "waiting" && (model.production === version || ruling.approval.policy === undefined))
      throw alreadyDecided(candidate.model, version, ruling.approval.decision, ruling.approval.by);
    if (!candidate.gate?.passed) throw gateNotPassed(candidate.model, version, candidate.gate);
    const refusal = refusalOfDecision(approvalRulesOf(model), candidate, actor.person);
    if (refusal !== undefined) throw notAnApprover(candidate, actor, approvalRulesOf(model), refusal);
    if (candidate.approvals.some((each) => isSamePerson(each, actor)) && decision === "approved") return undefined;
    if (decision === "approved") {
      if (hasExpired(candidate, actor.at)) throw approvalExpired(candidate);
      refuseOutdated(model, candidate, candidate.gate);
    }
    const { by, person, reason = "", at } = actor;
    const vote: Approval = { decision, by, ...(person ? { person } : {}), reason, at };
    const approvals = [...candidate.approvals, vote];
    const next: ModelVersion = { ...candidate, approvals };
    if (decision === "approved") {
      const approval = decisionOn(model, next).state === "approved" ? vote : undefined;
      return changeVersion(state, { action: "approved" }, actor, { ...next, approval });
    }
    // A rollback must not return to a former champion that was rejected since.
    const formerProduction = model.formerProduction.filter((former) => former !== version);
    const change = changeVersion(state, { action: "rejected" }, actor, { ...next, approval: vote, stage: "archived" });
    return { ...change, model: { ...change.model, formerProduction } };
  };
}

/** The champion serves by the verdict and approval of its promotion, even if the policy has changed. */
function servedDecision({ served, approval }: ModelVersion): {
  readonly state: "approved";
  readonly approval: Approval;
} {
  return { state: "approved", approval: (served?.approval ?? approval)! };
}

/**
 * Promotes a version. Requires a passed gate by the present rules about the present champion, and the approvals that
 * the policy requires. The same write archives the old champion. No other code sets production, except a rollback.
 * @param by `test`: the decision of the canary's own test. `hand`: refused while a test is running.
 * @throws GateOutdatedError, GATE_NOT_PASSED, NOT_APPROVED, CANARY_UNDER_TEST
 */
export function promote(version: number, actor: Actor, by: "hand" | "test" = "hand"): Transition {
  return (state) => {
    const candidate = activeVersion(state, version);
    const { model } = state;
    if (model.production === version) return undefined;
    const gate = mayServe(model, candidate);
    const decision = decisionOn(model, candidate);
    if (decision.state !== "approved") throw notApproved(candidate, decision);
    if (by === "hand" && isUnderTest(model.traffic, version)) throw canaryUnderTest(candidate);
    const { production, formerProduction } = model;
    const former = [...formerProduction.filter((each) => each !== version), ...(production ? [production] : [])];
    const { approvals } = candidate;
    const served = { gate, approvals, approval: decision.approval };
    const next = { ...candidate, approval: decision.approval, approvalsWithdrawn: undefined, served };
    const { policy, by: approver } = decision.approval;
    const reason = [actor.reason, policy && `approved by ${approver}`].filter(Boolean).join("; ");
    return setChampion(state, next, "promoted", { ...actor, reason }, former.slice(-rememberedChampions));
  };
}

/** Checks the condition of every stage that answers requests. @returns the verdict that permits it */
export function mayServe(model: Model, candidate: ModelVersion): GateVerdict {
  const { gate } = candidate;
  if (!gate?.passed) throw gateNotPassed(candidate.model, candidate.version, gate);
  const decision = decisionOn(model, candidate);
  if (decision.state === "rejected") throw notApproved(candidate, decision);
  refuseOutdated(model, candidate, gate);
  return gate;
}

/** @throws GateOutdatedError */
function refuseOutdated(model: Model, candidate: ModelVersion, gate: GateVerdict): void {
  const changed = outdatedBy(model, gate);
  if (changed !== undefined) throw new GateOutdatedError(candidate, changed, model.production);
}

/**
 * Returns to the version that was in production before, by the verdict and the approvals of its promotion. A later
 * evaluation against its successor may have changed its present ones. The version that leaves production loses its
 * approvals and needs new ones.
 * @param from the version that must be in production; otherwise the rollback is refused
 */
export function rollBack(actor: Actor, from: number | undefined): Transition {
  return (state) => {
    const { name, production, formerProduction } = state.model;
    if (from !== production) throw rollbackRace(name, from, production);
    const target = formerProduction.at(-1);
    if (target === undefined) throw nothingToRollBack(name, production);
    const version = activeVersion(state, target);
    const back = { ...version, ...version.served, approvalsWithdrawn: undefined };
    return setChampion(state, back, "rolled-back", actor, formerProduction.slice(0, -1));
  };
}

function setChampion(
  state: ModelState,
  next: ModelVersion,
  action: Extract<HistoryAction, "promoted" | "rolled-back">,
  actor: Actor,
  formerProduction: readonly number[],
): ModelChange {
  const { production, aliases } = state.model;
  const before = production === undefined ? undefined : activeVersion(state, production);
  const old = before && action === "rolled-back" ? withoutApprovals(state.model, before, action, actor) : before;
  const change = changeVersion(state, { action, replaced: production }, actor, { ...next, stage: "production" });
  return {
    ...change,
    model: {
      ...change.model,
      formerProduction,
      production: next.version,
      productionRevision: change.model.revision,
      aliases: { ...aliases, champion: next.version },
    },
    versions: old ? [...change.versions, { ...old, stage: "archived", updatedAt: actor.at }] : change.versions,
  };
}

/**
 * Sets a stage at a person's request. `production` is a promotion. `canary` answers some of the requests and therefore
 * needs a passed gate; there may be several canaries. The others are free. A version leaves production only by the
 * promotion of another version or by a rollback. A canary that leaves its stage loses its approvals.
 * @throws IN_PRODUCTION, and the errors of `promote`
 */
export function setStage(version: number, stage: Stage, actor: Actor): Transition {
  if (stage === "production") return promote(version, actor);
  return (state) => {
    const candidate = activeVersion(state, version);
    if (state.model.production === version) throw inProduction(candidate.model, version);
    if (candidate.stage === stage) return undefined;
    if (stage === "canary") mayServe(state.model, candidate);
    const left =
      candidate.stage === "canary" ? withoutApprovals(state.model, candidate, "canary-ended", actor) : candidate;
    return changeVersion(state, { action: "staged" }, actor, { ...left, stage });
  };
}
