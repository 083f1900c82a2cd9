import { z } from "zod";
import { policyRulesSchema } from "../../core/registry/gates/spec";
import type { ApprovalRules, ModelPolicy, PolicyProposal } from "../../core/registry/policy";
import { count, instant } from "./common";

const person = z.string().min(1).max(2_048);

const approvalRules = z
  .strictObject({
    required: z.int().min(1).max(20).default(1).meta({ description: "How many different people." }),
    approvers: z.array(person).max(50).default([]).meta({ description: "Who may; empty: everybody in the team." }),
    notTheSubmitter: z
      .boolean()
      .default(false)
      .meta({ description: "Whoever submitted the run or registered the version does not count." }),
  })
  .refine(({ required, approvers }) => approvers.length === 0 || new Set(approvers).size >= required, {
    path: ["required"],
    error: "must be at most the number of approvers: nothing could ever be promoted",
  }) satisfies z.ZodType<ApprovalRules>;

/** A head row is read and written with each change of the model. */
const policyBytes = 32_768;

export const declaredPolicy = z
  .strictObject({ rules: policyRulesSchema.prefault({}), approvals: approvalRules.prefault({}) })
  .refine((policy) => JSON.stringify(policy).length <= policyBytes, {
    error: `must be at most ${policyBytes} bytes of JSON`,
  })
  .meta({ id: "DeclaredPolicy", description: "What a version must show and who must agree before it serves." });

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
    description: "Looser approval rules, and the people who have requested them: not yet enough.",
  }) satisfies z.ZodType<PolicyProposal>;

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
  .meta({ id: "ModelPolicy", description: "The policy in force." }) satisfies z.ZodType<ModelPolicy>;
