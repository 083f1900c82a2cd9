import { z } from "zod";
import { approvalRules } from "../../core/registry/policy-shapes";
import { policyRulesSchema } from "../../core/runs/gate-rule-schemas";

/** A head row is read and written with each change of the model. */
const policyBytes = 32_768;

export const declaredPolicy = z
  .strictObject({ rules: policyRulesSchema.prefault({}), approvals: approvalRules.prefault({}) })
  .refine((policy) => JSON.stringify(policy).length <= policyBytes, {
    error: `must be at most ${policyBytes} bytes of JSON`,
  })
  .meta({ id: "DeclaredPolicy", description: "What a version must show and who must agree before it serves." });
