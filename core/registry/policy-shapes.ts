import * as z from "zod";
import type { PolicyRules } from "../runs/gate-rules";
import { policyRulesSchema } from "../runs/gate-rules";
import { count, instant, type Shape } from "../shapes";

/** Rules as rows hold them. Rows of earlier releases lack members that got a default later. */
type WithStoredRules<Policy> = Omit<Policy, "rules"> & { readonly rules: PolicyRules };

const person = z.string().min(1).max(2_048);

export const approvalRules = z
  .strictObject({
    required: z.int().min(1).max(20).default(1).meta({ description: "Number of different people who must approve." }),
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
    at: instant,
  })
  .meta({ id: "ModelPolicy", description: "The policy in force." });
export type ModelPolicy = WithStoredRules<Shape<typeof modelPolicy>>;
