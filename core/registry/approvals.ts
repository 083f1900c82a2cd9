import type { Actor } from "./change";
import type { Approval, ApprovalsWithdrawn, Model, ModelVersion } from "./model";
import { type ApprovalRules, approvalRulesOf } from "./policy";

/** What people's words on a version come to under its model's policy. */
export type Decision =
  | { readonly state: "approved" | "rejected"; readonly word: Approval }
  | { readonly state: "waiting"; readonly given: number; readonly required: number };

/**
 * A rejection decides; else so many different people as the policy of this moment asks for, of those it names. A policy that has grown stricter since
 * asks for more, one that has grown milder may be content.
 */
export function decisionOn(
  model: Pick<Model, "policy">,
  version: Pick<ModelVersion, "approvals" | "submittedBy">,
): Decision {
  const { approvals } = version;
  const rejection = approvals.find(({ decision }) => decision === "rejected");
  if (rejection) return { state: "rejected", word: rejection };
  const rules = approvalRulesOf(model);
  const given = new Map(
    approvals.filter(({ by }) => mayDecide(rules, version, by)).map((approval) => [approval.by, approval]),
  );
  const last = [...given.values()].at(-1);
  if (last && given.size >= rules.required) return { state: "approved", word: last };
  return { state: "waiting", given: given.size, required: rules.required };
}

/**
 * Withdraws a version's approvals: those who gave them did not know what has happened since. A rejection stands.
 *
 * @param revision of the change that withdraws them
 */
export function withoutApprovals(
  version: ModelVersion,
  after: ApprovalsWithdrawn["after"],
  { by, reason, at }: Actor,
  revision: number,
): ModelVersion {
  const approvals = version.approvals.filter(({ decision }) => decision === "rejected");
  if (approvals.length === version.approvals.length) return version;
  const of = version.approvals.filter(({ decision }) => decision === "approved").map((each) => each.by);
  const why = reason === undefined || reason === "" ? {} : { reason };
  return { ...version, approvals, approval: approvals[0], approvalsWithdrawn: { after, of, revision, by, ...why, at } };
}

export function mayDecide(rules: ApprovalRules, version: Pick<ModelVersion, "submittedBy">, person: string): boolean {
  if (rules.notTheSubmitter && person === version.submittedBy) return false;
  return rules.approvers.length === 0 || rules.approvers.includes(person);
}
