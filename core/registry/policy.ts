import * as z from "zod";
import { isNamed, type Person } from "../access/principals";
import { type PolicyRules, policyRulesSchema } from "../runs/gate-rules";
import { count, instant, type Shape } from "../shapes";

export const noRules: PolicyRules = { thresholds: {}, slices: [], fairness: [], checks: [] };

/** The rules of a model without a policy: one person's approval. */
export const defaultApprovals: ApprovalRules = { required: 1, approvers: [], notTheSubmitter: false };

/** Days after which a request for an approval expires, unless the policy says otherwise. */
const defaultExpiryDays = 30;

/** Returns when a request expires. ISO 8601. */
export function expiryOf(model: { readonly policy?: ModelPolicy }, at: string): string {
  const days = approvalRulesOf(model).expiresAfterDays ?? defaultExpiryDays;
  return new Date(Date.parse(at) + days * 86_400_000).toISOString();
}

/** Tests whether the rules name or compare people, so that callers must be distinguished by identity. */
export function comparesPeople({ required, approvers, notTheSubmitter }: ApprovalRules): boolean {
  return required > 1 || approvers.length > 0 || notTheSubmitter;
}

export function rulesOf(model: { readonly policy?: ModelPolicy }): PolicyRules {
  return model.policy?.rules ?? noRules;
}

export function approvalRulesOf(model: { readonly policy?: ModelPolicy }): ApprovalRules {
  return model.policy?.approvals ?? defaultApprovals;
}

/** Whether rules permit versions that others would not: fewer people, other people, or the submitter. */
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
 * Returns how many more people must request looser rules before they apply: as many as a promotion needs, so that one
 * person cannot remove what several must agree on. As many of them as the rules require must be approvers. The
 * submitter may be one of them, even under `notTheSubmitter`.
 */
export function missingRequests(
  { required, approvers, notTheSubmitter }: ApprovalRules,
  people: readonly Person[],
): number {
  const listed = people.filter((person) => approvers.length === 0 || approvers.some((each) => isNamed(person, each)));
  const all = Math.max(required, notTheSubmitter ? 2 : 1);
  return Math.max(all - people.length, required - listed.length, 0);
}

type WithStoredRules<Policy> = Omit<Policy, "rules"> & { readonly rules: PolicyRules };

const person = z.string().min(1).max(2_048);

export const approvalRules = z
  .strictObject({
    required: z.int().min(0).max(20).default(1).meta({
      description:
        "Number of different people who must approve. 0: a version that passes its gates is promoted without a person.",
    }),
    approvers: z
      .array(person)
      .max(50)
      .default([])
      .meta({ description: "The people who may approve; empty: everybody in the team." }),
    notTheSubmitter: z
      .boolean()
      .default(false)
      .meta({ description: "Approvals of the people who submitted the run or registered the version do not count." }),
    expiresAfterDays: z.int().min(1).max(180).optional().meta({
      description: "Days after which a request for an approval expires. Default: 30.",
    }),
  })
  .refine(({ required, approvers }) => approvers.length === 0 || new Set(approvers).size >= required, {
    path: ["required"],
    error: "must be at most the number of approvers: nothing could ever be promoted",
  })
  .refine(({ required, approvers, notTheSubmitter }) => required > 0 || (approvers.length === 0 && !notTheSubmitter), {
    path: ["required"],
    error: "must be at least 1 with approvers or notTheSubmitter: 0 means that nobody has to approve",
  });
export interface ApprovalRules extends Shape<typeof approvalRules> {}

export const policyProposal = z
  .object({
    rules: policyRulesSchema,
    approvals: approvalRules,
    requests: z.array(
      z.object({ by: z.string(), person: z.object({ id: z.string(), names: z.array(z.string()) }), at: instant }),
    ),
  })
  .meta({
    id: "PolicyProposal",
    description: "Looser approval rules that too few people have requested so far, with these people.",
  });
export type PolicyProposal = WithStoredRules<Shape<typeof policyProposal>>;

export const modelPolicy = z
  .object({
    rules: policyRulesSchema,
    approvals: approvalRules,
    revision: count.meta({ description: "The model's revision that made this policy." }),
    rulesRevision: count.meta({
      description: "The revision that last changed the rules: verdicts of older rules are outdated.",
    }),
    by: z.string(),
    proposedBy: z.array(z.string()).optional().meta({
      description: "The people who had requested the same looser rules before; `by` was the last one needed.",
    }),
    at: instant,
  })
  .meta({ id: "ModelPolicy", description: "The policy in force." });
export type ModelPolicy = WithStoredRules<Shape<typeof modelPolicy>>;
