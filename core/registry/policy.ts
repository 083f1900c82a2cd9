import { isNamed, type Person } from "../access/person";

/**
 * What a model's versions must show before one of them serves, declared once for the model. A job's own `evaluation` values add to it: of two limits
 * the stricter holds.
 */
export interface PolicyRules {
  /** Least value of a metric of the whole test split, or most where less is better (`logLoss`, `rmse`, …). */
  readonly thresholds: Readonly<Record<string, number>>;
  /** Against the champion on the same rows; left out: `defaultNoRegression`. `waived`: a regression refuses nobody, and each verdict says so. */
  readonly noRegression?: NoRegressionRule | "waived";
  readonly slices: readonly SliceRule[];
  readonly fairness: readonly FairnessRule[];
  /** 99th percentile of the time that one row's prediction takes. */
  readonly latency?: { readonly p99Ms: number };
  /** Of weights and topology together. */
  readonly size?: { readonly bytes: number };
  readonly checks: readonly ExternalCheck[];
}

export interface NoRegressionRule {
  /** How much worse the primary metric may be, absolute. */
  readonly tolerance: number;
  /** `credible`: refused where a regression is shown. `excluded`: refused where it is not excluded. */
  readonly rule: "credible" | "excluded";
  /** What becomes of a candidate whose champion cannot be given the rows. */
  readonly incompatible: "refuse" | "pass";
}

/** Of the slices that a column's values cut; slices of fewer rows are shown and not judged. */
export interface SliceRule {
  readonly column: string;
  readonly metric: string;
  readonly minRows: number;
  /** Limit of the worst slice: least, or most where less is better. */
  readonly worst?: number;
  /** The most that the best slice may be ahead of the worst. */
  readonly gap?: number;
  /** What the interval must show; `credible` where left out. */
  readonly rule?: "credible" | "excluded";
}

/** Of a column's groups; differences between the largest and the smallest rate, 0 to 1. */
export interface FairnessRule {
  readonly column: string;
  readonly minRows: number;
  /** The class that counts as positive; where left out the second of two, and each in turn of more. */
  readonly positive?: string | number | boolean;
  /** Of the rate of positive predictions. */
  readonly demographicParity?: number;
  /** Of true and of false positive rates, the larger. */
  readonly equalizedOdds?: number;
  readonly rule?: "credible" | "excluded";
}

/** A user's own check: passes with exit code 0, or with status 200 and `{"passed": true}`. */
export type ExternalCheck =
  | {
      readonly name: string;
      readonly kind: "command";
      /** Program and arguments. */
      readonly command: readonly string[];
      readonly timeoutSeconds: number;
    }
  | {
      readonly name: string;
      readonly kind: "http";
      readonly url: string;
      readonly timeoutSeconds: number;
      /** Which of the check's keys signs: counted up, the key changes. */
      readonly keyGeneration?: number;
    };

export interface ApprovalRules {
  /** How many different people. */
  readonly required: number;
  /** Ids or immutable names of the people who may (`Person`); empty: everybody in the team. */
  readonly approvers: readonly string[];
  /** Whoever submitted the run or registered the version does not count. */
  readonly notTheSubmitter: boolean;
}

/** Kept on the model's head: every transition decides by the policy of its moment. */
export interface ModelPolicy {
  readonly rules: PolicyRules;
  readonly approvals: ApprovalRules;
  /** The model's revision that made this policy. */
  readonly revision: number;
  /** The revision that last changed `rules`: a verdict of older rules is outdated. */
  readonly rulesRevision: number;
  readonly by: string;
  readonly at: string;
}

/** A policy with looser approval rules than the one in force: requested, and not yet by enough people. */
export interface PolicyProposal {
  readonly rules: PolicyRules;
  readonly approvals: ApprovalRules;
  /** Oldest first, one of each person. */
  readonly requests: readonly PolicyRequest[];
}

export interface PolicyRequest {
  readonly by: string;
  readonly person: Person;
  readonly at: string;
}

/** Of a model whose policy says nothing, or that has none: who replaces what serves must not be shown to be worse. A job may be stricter, and not milder. */
export const defaultNoRegression: NoRegressionRule = { tolerance: 0, rule: "credible", incompatible: "refuse" };

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
