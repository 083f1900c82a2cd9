import { isNamed, type Person } from "../access/person";
import type { PolicyRules } from "../runs/gate-rules";
import type { ApprovalRules, ModelPolicy } from "./policy-shapes";

export {
  defaultNoRegression,
  type ExternalCheck,
  type FairnessRule,
  type NoRegressionRule,
  type PolicyRules,
  type SliceRule,
} from "../runs/gate-rules";
export type { ApprovalRules, ModelPolicy, PolicyProposal, PolicyRequest } from "./policy-shapes";

export const noRules: PolicyRules = { thresholds: {}, slices: [], fairness: [], checks: [] };

/** Of a model that declares none: one person's word. */
export const defaultApprovals: ApprovalRules = { required: 1, approvers: [], notTheSubmitter: false };

/** Tests whether the rules say who decides, so that callers must be told apart by identity. */
export function comparesPeople({ required, approvers, notTheSubmitter }: ApprovalRules): boolean {
  return required > 1 || approvers.length > 0 || notTheSubmitter;
}

export function rulesOf(model: { readonly policy?: ModelPolicy }): PolicyRules {
  return model.policy?.rules ?? noRules;
}

export function approvalRulesOf(model: { readonly policy?: ModelPolicy }): ApprovalRules {
  return model.policy?.approvals ?? defaultApprovals;
}

/** Tests whether rules let versions through that other rules would not: fewer people, others than those listed, or the submitter. */
export function areLooser(after: ApprovalRules, before: ApprovalRules): boolean {
  const listed = new Set(before.approvers);
  const others = after.approvers.length === 0 || after.approvers.some((each) => !listed.has(each));
  return (
    after.required < before.required ||
    (before.notTheSubmitter && !after.notTheSubmitter) ||
    (before.approvers.length > 0 && others)
  );
}

/**
 * Returns how many more people must request looser rules before they replace those in force: as many as a promotion takes, so that one person cannot
 * lift what several have to agree on. As many of them as the rules require must be approvers; the submitter's counterpart under `notTheSubmitter` need not.
 */
export function missingRequests(
  { required, approvers, notTheSubmitter }: ApprovalRules,
  people: readonly Person[],
): number {
  const listed = people.filter((person) => approvers.length === 0 || approvers.some((each) => isNamed(person, each)));
  const all = Math.max(required, notTheSubmitter ? 2 : 1);
  return Math.max(all - people.length, required - listed.length, 0);
}
