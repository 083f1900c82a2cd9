import { isNamed, type Person } from "../access/principals";
import { sha256 } from "../digest";
import { conflict, forbidden } from "../errors";
import { shellWord } from "../shell-word";
import { isVisible } from "./change";
import type { Named } from "./errors";
import { isPending } from "./gates/external-check";
import type { GateVerdict } from "./gates/verdict";
import type { Actor, Approval, ApprovalNeeded, ApprovalsWithdrawn, HistoryEntry, Model, ModelVersion } from "./model";
import { type ApprovalRules, approvalRulesOf, comparesPeople, type ModelPolicy } from "./policy";

export type Decision =
  | { readonly state: "approved" | "rejected"; readonly approval: Approval }
  | {
      readonly state: "waiting";
      readonly given: number;
      readonly required: number;
      /** The reason why a person must approve under a policy that requires nobody. */
      readonly because?: string;
    };

/**
 * Decides by the model's present policy: a rejection decides, and so does the required number of approvals by different
 * permitted people. A policy that became stricter requires more; one that became milder may be satisfied. Under a policy
 * that requires nobody, the policy approves, except where `personNeeded` gives a reason.
 */
export function decisionOn(model: Pick<Model, "policy" | "production">, version: Decided): Decision {
  const { approvals } = version;
  const rejection = approvals.find(({ decision }) => decision === "rejected");
  if (rejection) return { state: "rejected", approval: rejection };
  const rules = approvalRulesOf(model);
  const byPerson = new Map(
    approvals
      .filter(({ person }) => refusalOfDecision(rules, version, person) === undefined)
      .map((approval) => [approval.person?.id ?? "", approval]),
  );
  const last = [...byPerson.values()].at(-1);
  const because = rules.required === 0 ? personNeeded(model, version) : undefined;
  const required = because === undefined ? rules.required : 1;
  if (byPerson.size < required) return { state: "waiting", given: byPerson.size, required, because };
  return { state: "approved", approval: last ?? policyApproval(model.policy!, version.gate!) };
}

type Decided = Pick<ModelVersion, "version" | "approvals" | "approvalsWithdrawn" | "submitters" | "gate">;

/**
 * Returns why a policy that requires nobody does not approve a version by itself. It never undoes what a person or a
 * canary's test decided, and never replaces a champion by an older version that finished later.
 */
function personNeeded({ production = 0 }: Pick<Model, "production">, version: Decided): string | undefined {
  const { gate, approvalsWithdrawn: withdrawn } = version;
  if (withdrawn !== undefined && withdrawn.after !== "evaluated-again") return withdrawal(withdrawn);
  if (!gate?.checks.some(({ waived }) => !waived)) return "it has no gate that could refuse it";
  return production > version.version ? `version ${production}, which is in production, is newer` : undefined;
}

function policyApproval({ revision, by, proposedBy = [] }: ModelPolicy, { at }: GateVerdict): Approval {
  const people = [...proposedBy, by];
  const name = `the policy (revision ${revision}, set by ${people.join(", ")})`;
  return { decision: "approved", by: name, policy: { revision, by: people }, reason: "", at };
}

/** Withdraws approvals, the policy's included, because circumstances have changed. A rejection stays. */
export function withoutApprovals(
  model: Model,
  version: ModelVersion,
  after: ApprovalsWithdrawn["after"],
  { by, reason, at }: Actor,
): ModelVersion {
  const approvals = version.approvals.filter(({ decision }) => decision === "rejected");
  const decision = decisionOn(model, version);
  const last = version.approval ?? (decision.state === "approved" ? decision.approval : undefined);
  const ofPolicy = last?.policy ? [last.by] : [];
  const of = [...version.approvals.filter((each) => each.decision === "approved").map((each) => each.by), ...ofPolicy];
  if (of.length === 0) return version;
  const why = reason === undefined || reason === "" ? {} : { reason };
  const approvalsWithdrawn = { after, of, revision: model.revision + 1, by, ...why, at };
  return { ...version, approvals, approval: approvals[0], approvalsWithdrawn };
}

/** @param at ISO 8601 */
export function hasExpired({ approvalRequest }: Pick<ModelVersion, "approvalRequest">, at: string): boolean {
  return approvalRequest !== undefined && Date.parse(at) >= Date.parse(approvalRequest.expiresAt);
}

export type DecisionRefusal = "no-identity" | "unknown-submitter" | "submitter" | "not-listed";

/**
 * Returns why a person's decision on a version does not count; `undefined` if it counts. If the rules compare people, a
 * caller without an identity counts for nobody. If the submitter must be another person and is not known, no approval
 * counts.
 */
export function refusalOfDecision(
  rules: ApprovalRules,
  { submitters }: Pick<ModelVersion, "submitters">,
  person: Person | undefined,
): DecisionRefusal | undefined {
  if (!comparesPeople(rules)) return undefined;
  if (person === undefined) return "no-identity";
  if (rules.notTheSubmitter && submitters === undefined) return "unknown-submitter";
  if (rules.notTheSubmitter && submitters?.includes(person.id)) return "submitter";
  const listed = rules.approvers.length === 0 || rules.approvers.some((each) => isNamed(person, each));
  return listed ? undefined : "not-listed";
}

const withdrawnBecause: Readonly<Record<ApprovalsWithdrawn["after"], string>> = {
  "rolled-back": "the version was rolled back",
  "canary-ended": "the canary was ended",
  "evaluated-again": "the gates evaluated the version again",
};

/** Describes whose approvals no longer count, and why: a sentence without its full stop. */
export function withdrawal({ after, of = [], revision, by, reason }: ApprovalsWithdrawn): string {
  const whose = of.length === 0 ? "earlier approvals" : `approval${of.length > 1 ? "s" : ""} of ${of.join(", ")}`;
  const why = `${withdrawnBecause[after]} (revision ${revision}, by ${by})`;
  return `${whose} withdrawn: ${why}${reason === undefined ? "" : `: ${reason}`}`;
}

const notes = (text: string | undefined): string => (text === undefined ? "" : ` (${text})`);

export const notApproved = (
  { model, version, approvalsWithdrawn }: Named & Pick<ModelVersion, "approvalsWithdrawn">,
  decision: Decision,
  consequence = "it cannot be promoted",
) =>
  conflict(
    "NOT_APPROVED",
    decision.state !== "waiting"
      ? `version ${version} of ${model} was rejected by ${decision.approval.by}: ${consequence}; train a new version`
      : `version ${version} of ${model} has ${decision.given} of ${decision.required} approvals${notes(decision.because ?? (approvalsWithdrawn && withdrawal(approvalsWithdrawn)))}: ${consequence}`,
    { model, version, decision: decision.state },
  );

export function notAnApprover(
  { model, version }: Named,
  { by, person }: Pick<Actor, "by" | "person">,
  { approvers }: ApprovalRules,
  refusal: DecisionRefusal,
) {
  const named = person === undefined || person.names.includes(by) ? by : `${by} (${person.id})`;
  const of = `version ${version} of ${model}`;
  const message: Readonly<Record<DecisionRefusal, string>> = {
    "no-identity":
      `${by} cannot decide on ${of}: its policy compares people, and this caller was not authenticated as a person. ` +
      "On one machine, every caller is unauthenticated until there are tokens",
    "unknown-submitter": `nobody can decide on ${of}: its policy excludes the submitter (notTheSubmitter), and it was submitted by a caller without an identity; train or register it again as an authenticated caller`,
    submitter: `${named} submitted ${of}: its policy requires the decision of another person (notTheSubmitter)`,
    "not-listed": `${named} cannot decide on ${of}: the approvers in its policy are ${approvers.join(", ")}`,
  };
  return forbidden("NOT_AN_APPROVER", message[refusal], {
    model,
    version,
    by,
    refusal,
    approvers,
    ...(person ? { personId: person.id } : {}),
  });
}

export const policyNeedsPeople = (model: string, by: string) =>
  forbidden(
    "POLICY_NEEDS_PEOPLE",
    `${by} cannot loosen the policy of ${model}: as many people must request it as the policy requires, and this caller was not authenticated as a person`,
    { model, by },
  );

export function approvalNotRequested({ model, version, gate }: Named & Pick<ModelVersion, "gate">) {
  const why = gate
    ? "only a version that a training run of the platform made, and that passed its gates, can wait for one"
    : "it has no gate verdict yet";
  return conflict("APPROVAL_NOT_REQUESTED", `no approval of version ${version} of ${model} can be requested: ${why}`, {
    ...{ model, version, judged: gate !== undefined },
  });
}

export const approvalExpired = ({ model, version, approvalRequest }: Named & Pick<ModelVersion, "approvalRequest">) =>
  conflict(
    "APPROVAL_EXPIRED",
    `the request to approve version ${version} of ${model} expired at ${approvalRequest?.expiresAt}`,
    { model, version, expiresAt: approvalRequest?.expiresAt },
  );

export const alreadyDecided = (model: string, version: number, decision: string, by: string) =>
  conflict(
    "ALREADY_DECIDED",
    `version ${version} of ${model} was already ${decision} by ${by}, and a decision is final; train a new version`,
    { model, version, decision, by },
  );

const maxMetrics = 50;

/**
 * Returns the event for a change; `undefined` if the change requests no approval, or the version no longer waits.
 *
 * A verdict of the version's own run requests nothing, because the run requests the approval in its next step. A
 * verdict that a person requested does.
 */
export function approvalNeeded(
  team: string,
  entry: HistoryEntry,
  model: Model,
  version: ModelVersion,
): ApprovalNeeded | undefined {
  const requested = entry.action === "approval-requested" || (entry.action === "gated" && !entry.by.startsWith("run "));
  const { gate } = version;
  if (!requested || !gate || !(gate.passed || isPending(gate))) return undefined;
  if (model.production === version.version || !isVisible(model, version)) return undefined;
  const decision = decisionOn(model, version);
  if (decision.state !== "waiting") return undefined;
  const target = `${shellWord(model.name)} ${version.version}`;
  return {
    id: `approval-needed-${sha256(JSON.stringify([team, model.name, entry.revision])).slice(0, 32)}`,
    type: "approval.needed",
    at: entry.at,
    team,
    model: model.name,
    version: version.version,
    runId: version.awaitedBy,
    approvals: { required: decision.required, given: decision.given },
    approvers: [...approvalRulesOf(model).approvers],
    checks: gate.checks.filter(({ pending }) => pending).map(({ metric }) => metric),
    submittedBy: version.submittedBy,
    metrics: Object.fromEntries(
      Object.entries(version.metrics)
        .filter(([, value]) => Number.isFinite(value)) // JSON has no others
        .slice(0, maxMetrics),
    ),
    commands: { approve: `ringmaster models approve ${target}`, reject: `ringmaster models reject ${target}` },
  };
}
