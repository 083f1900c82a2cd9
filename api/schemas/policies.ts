import * as z from "zod";
import { approvalRules } from "../../core/registry/policy-shapes";
import { policyRulesSchema } from "../../core/runs/gate-rules";

/** Maximum size of a policy, because each change of the model reads and writes its head row. */
const policyBytes = 32_768;

export const declaredPolicy = z
  .strictObject({ rules: policyRulesSchema.prefault({}), approvals: approvalRules.prefault({}) })
  .refine((policy) => JSON.stringify(policy).length <= policyBytes, {
    error: `must be at most ${policyBytes} bytes of JSON`,
  })
  .meta({ id: "DeclaredPolicy", description: "Gates and approvals that a version needs before it serves." });
