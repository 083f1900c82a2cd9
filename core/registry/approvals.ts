import { isNamed, type Person } from "../access/person";
import type { Actor, Approval, ApprovalsWithdrawn, Model, ModelVersion } from "./model";
import { type ApprovalRules, approvalRulesOf, comparesPeople } from "./policy";

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
  version: Pick<ModelVersion, "approvals" | "submitters">,
): Decision {
  const { approvals } = version;
  const rejection = approvals.find(({ decision }) => decision === "rejected");
  if (rejection) return { state: "rejected", word: rejection };
  const rules = approvalRulesOf(model);
  const given = new Map(
    approvals
      .filter(({ person }) => mayDecide(rules, version, person))
      .map((approval) => [approval.person?.id ?? "", approval]),
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

/**
 * Tests whether a person's decision counts. Where the rules compare people, a caller without an identity counts for nobody, and nobody's approval counts
 * for a version whose submitter must be another person and is not known.
 */
export function mayDecide(
  rules: ApprovalRules,
  version: Pick<ModelVersion, "submitters">,
  person: Person | undefined,
): boolean {
  return refusalOfDecision(rules, version, person) === undefined;
}

/** Why a caller's decision does not count; `undefined` where it does. */
export type DecisionRefusal = "no-identity" | "unknown-submitter" | "submitter" | "not-listed";

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
