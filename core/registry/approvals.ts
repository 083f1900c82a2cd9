import { isNamed, type Person } from "../access/principals";
import type { GateVerdict } from "./gates/verdict";
import type { Actor, Approval, ApprovalsWithdrawn, Model, ModelVersion } from "./model";
import type { ApprovalRules, ModelPolicy } from "./policy";
import { approvalRulesOf, comparesPeople } from "./policy";

/** The result of people's approvals and rejections of a version under its model's policy. */
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
  const given = new Map(
    approvals
      .filter(({ person }) => refusalOfDecision(rules, version, person) === undefined)
      .map((approval) => [approval.person?.id ?? "", approval]),
  );
  const last = [...given.values()].at(-1);
  const because = rules.required === 0 ? personNeeded(model, version) : undefined;
  const required = because === undefined ? rules.required : 1;
  if (given.size < required) return { state: "waiting", given: given.size, required, because };
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

/**
 * Withdraws a version's approvals, its policy's included, because circumstances have changed since they were given. A
 * rejection stays.
 */
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

/** The reason why a caller's decision does not count. */
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
