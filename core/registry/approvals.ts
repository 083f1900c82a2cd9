import { isNamed, type Person } from "../access/principals";
import type { Actor, Approval, ApprovalsWithdrawn, Model, ModelVersion } from "./model";
import type { ApprovalRules } from "./policy";
import { approvalRulesOf, comparesPeople } from "./policy";

/** The result of people's approvals and rejections of a version under its model's policy. */
export type Decision =
  | { readonly state: "approved" | "rejected"; readonly approval: Approval }
  | { readonly state: "waiting"; readonly given: number; readonly required: number };

/**
 * Decides by the model's present policy: a rejection decides, and so does the required number of approvals by different
 * permitted people. A policy that became stricter requires more; one that became milder may be satisfied.
 */
export function decisionOn(
  model: Pick<Model, "policy">,
  version: Pick<ModelVersion, "approvals" | "submitters">,
): Decision {
  const { approvals } = version;
  const rejection = approvals.find(({ decision }) => decision === "rejected");
  if (rejection) return { state: "rejected", approval: rejection };
  const rules = approvalRulesOf(model);
  const given = new Map(
    approvals
      .filter(({ person }) => mayDecide(rules, version, person))
      .map((approval) => [approval.person?.id ?? "", approval]),
  );
  const last = [...given.values()].at(-1);
  if (last && given.size >= rules.required) return { state: "approved", approval: last };
  return { state: "waiting", given: given.size, required: rules.required };
}

/**
 * Withdraws a version's approvals, because circumstances have changed since they were given. A rejection stays.
 *
 * @param revision revision of the change that withdraws them
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
 * Tests whether a person's decision counts. If the rules compare people, a caller without an identity counts for
 * nobody. If the submitter must be another person and is not known, no approval counts.
 */
export function mayDecide(
  rules: ApprovalRules,
  version: Pick<ModelVersion, "submitters">,
  person: Person | undefined,
): boolean {
  return refusalOfDecision(rules, version, person) === undefined;
}

/** @param at ISO 8601 */
export function hasExpired({ approvalRequest }: Pick<ModelVersion, "approvalRequest">, at: string): boolean {
  return approvalRequest !== undefined && Date.parse(at) >= Date.parse(approvalRequest.expiresAt);
}

/** The reason why a caller's decision does not count. */
export type DecisionRefusal = "no-identity" | "unknown-submitter" | "submitter" | "not-listed";

/** Returns why a person's decision on a version does not count; `undefined` if it counts. */
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
