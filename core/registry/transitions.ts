import { isSamePerson } from "../access/person";
import { decisionOn, refusalOfDecision, withoutApprovals } from "./approvals";
import { activeVersion, changeVersion, type ModelChange, type ModelState, type Transition } from "./change";
import {
  AlreadyDecidedError,
  CanaryUnderTestError,
  GateNotPassedError,
  GateOutdatedError,
  NotAnApproverError,
  NotApprovedError,
  NothingToRollBackError,
  RollbackOvertakenError,
  withdrawal,
} from "./errors";
import { evidenceChange, outdatedBy } from "./gates/evidence";
import type { GateVerdict } from "./gates/verdict";
import type { Actor, Approval, HistoryAction, Model, ModelVersion, Stage } from "./model";
import { approvalRulesOf } from "./policy";
import { isUnderTest } from "./serving/traffic";

/** A rollback goes back so far; each is in the list once, and the champion never. */
const rememberedChampions = 100;

/**
 * Records a verdict. A version that passes goes to staging, unless it is a canary; one that does not goes to `none`. Approvals stand where the
 * verdict rests on the evidence that they were given for; else they are withdrawn, and the row and the history say why. A rejection stands,
 * and the champion stays where it is.
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
    const next = withoutApprovals(staged, "evaluated-again", { ...actor, reason: changed }, state.model.revision + 1);
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

/** A run waits for people's word on this version. */
export function requestApproval(version: number, runId: string, actor: Actor): Transition {
  return (state) => {
    const candidate = activeVersion(state, version);
    if (candidate.awaitedBy === runId) return undefined;
    return changeVersion(state, { action: "approval-requested" }, actor, { ...candidate, awaitedBy: runId });
  };
}

/**
 * Records a person's decision. The last approval that the policy asks for decides, and so does any rejection; the opposite of a decision is
 * refused, and the same again changes nothing. An approval of an outdated verdict is refused: it could not lead to a promotion.
 *
 * @throws AlreadyDecidedError, GateNotPassedError, NotAnApproverError, GateOutdatedError
 */
export function decideApproval(version: number, decision: Approval["decision"], actor: Actor): Transition {
  return (state) => {
    const candidate = activeVersion(state, version);
    const { model } = state;
    const made = model.production === version ? servedDecision(candidate) : decisionOn(model, candidate);
    if (made.state === decision) return undefined;
    if (made.state !== "waiting")
      throw new AlreadyDecidedError(candidate.model, version, made.word.decision, made.word.by);
    if (!candidate.gate?.passed) throw new GateNotPassedError(candidate.model, version, candidate.gate);
    const refusal = refusalOfDecision(approvalRulesOf(model), candidate, actor.person);
    if (refusal !== undefined) throw new NotAnApproverError(candidate, actor, approvalRulesOf(model), refusal);
    if (candidate.approvals.some((each) => isSamePerson(each, actor)) && decision === "approved") return undefined;
    if (decision === "approved") refuseOutdated(model, candidate, candidate.gate);
    const { by, person, reason = "", at } = actor;
    const word: Approval = { decision, by, ...(person ? { person } : {}), reason, at };
    const approvals = [...candidate.approvals, word];
    const next: ModelVersion = { ...candidate, approvals };
    if (decision === "approved") {
      const approval = decisionOn(model, next).state === "approved" ? word : undefined;
      return changeVersion(state, { action: "approved" }, actor, { ...next, approval });
    }
    // What a person has rejected since it was the champion is nothing to go back to.
    const formerProduction = model.formerProduction.filter((former) => former !== version);
    const change = changeVersion(state, { action: "rejected" }, actor, { ...next, approval: word, stage: "archived" });
    return { ...change, model: { ...change.model, formerProduction } };
  };
}

/** The champion serves upon what it was promoted upon, whatever the policy has become. */
function servedDecision({ served, approval }: ModelVersion): { readonly state: "approved"; readonly word: Approval } {
  return { state: "approved", word: (served?.approval ?? approval)! };
}

/**
 * The one door to production: a passed gate about the champion of now by the rules of now, and the approvals that the policy asks for. The old champion
 * is archived in the same write.
 *
 * @param by `test`: the canary's own test has decided so; by `hand` nobody goes past one that is running
 * @throws GateNotPassedError, GateOutdatedError, NotApprovedError, CanaryUnderTestError
 */
export function promote(version: number, actor: Actor, by: "hand" | "test" = "hand"): Transition {
  return (state) => {
    const candidate = activeVersion(state, version);
    const { model } = state;
    if (model.production === version) return undefined;
    const gate = mayServe(model, candidate);
    const decision = decisionOn(model, candidate);
    if (decision.state !== "approved") throw new NotApprovedError(candidate, decision);
    if (by === "hand" && isUnderTest(model.traffic, version)) throw new CanaryUnderTestError(candidate);
    const { production, formerProduction } = model;
    const former = [...formerProduction.filter((each) => each !== version), ...(production ? [production] : [])];
    const { approvals } = candidate;
    const served = { gate, approvals, approval: decision.word };
    const next = { ...candidate, approval: decision.word, approvalsWithdrawn: undefined, served };
    return enthrone(state, next, "promoted", actor, former.slice(-rememberedChampions));
  };
}

/** What stands at the door of every stage that answers anybody. @returns the verdict that lets it through */
export function mayServe(model: Model, candidate: ModelVersion): GateVerdict {
  const { gate } = candidate;
  if (!gate?.passed) throw new GateNotPassedError(candidate.model, candidate.version, gate);
  const decision = decisionOn(model, candidate);
  if (decision.state === "rejected") throw new NotApprovedError(candidate, decision);
  refuseOutdated(model, candidate, gate);
  return gate;
}

/** @throws GateOutdatedError */
function refuseOutdated(model: Model, candidate: ModelVersion, gate: GateVerdict): void {
  const changed = outdatedBy(model, gate);
  if (changed !== undefined) throw new GateOutdatedError(candidate, changed, model.production);
}

/**
 * Back to the version that was in production before, under the verdict and the approvals that it served under: judged again since against
 * its successor, it may have lost both. The one that goes leaves its approvals: who wants it again has to say so again.
 *
 * @param from the version that is to go; where another is in production by now, the rollback is refused: it was not meant
 */
export function rollBack(actor: Actor, from: number | undefined): Transition {
  return (state) => {
    const { name, production, formerProduction } = state.model;
    if (from !== production) throw new RollbackOvertakenError(name, from, production);
    const target = formerProduction.at(-1);
    if (target === undefined) throw new NothingToRollBackError(name, production);
    const version = activeVersion(state, target);
    const back = { ...version, ...version.served, approvalsWithdrawn: undefined };
    return enthrone(state, back, "rolled-back", actor, formerProduction.slice(0, -1));
  };
}

function enthrone(
  state: ModelState,
  next: ModelVersion,
  action: Extract<HistoryAction, "promoted" | "rolled-back">,
  actor: Actor,
  formerProduction: readonly number[],
): ModelChange {
  const { production, aliases, revision } = state.model;
  const before = production === undefined ? undefined : activeVersion(state, production);
  const old = before && action === "rolled-back" ? withoutApprovals(before, action, actor, revision + 1) : before;
  const made = changeVersion(state, { action, replaced: production }, actor, { ...next, stage: "production" });
  return {
    ...made,
    model: {
      ...made.model,
      formerProduction,
      production: next.version,
      productionRevision: made.model.revision,
      aliases: { ...aliases, champion: next.version },
    },
    versions: old ? [...made.versions, { ...old, stage: "archived", updatedAt: actor.at }] : made.versions,
  };
}
