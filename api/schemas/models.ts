import * as z from "zod";
import { model, modelVersion } from "../../core/registry/model";
import { aliasProblem, labelLimits, modelNameProblem, semverProblem } from "../../core/registry/names";
import { approvalRules } from "../../core/registry/policy";
import { policyRulesSchema } from "../../core/runs/gate-rules";
import { reason } from "./common";

/** Builds the schema of a text that satisfies a rule of `core/`. */
const ruled = (problemOf: (text: string) => string | undefined) =>
  z.string().superRefine((text, context) => {
    const problem = problemOf(text);
    if (problem !== undefined) context.addIssue({ code: "custom", message: problem });
  });

export const modelName = ruled(modelNameProblem);

export const aliasName = ruled(aliasProblem);

export const semver = ruled(semverProblem);

export const description = z.string().max(labelLimits.description).meta({ description: "Markdown." });

export const tagKey = z
  .string()
  .min(1)
  .max(labelLimits.tagKey)
  .refine((key) => key !== "__proto__", "must not be __proto__, which a JavaScript object cannot have as a key");

export const tagValue = z.string().max(labelLimits.tagValue);

/** Maximum size of a policy, because each change of the model reads and writes its head row. */
const policyBytes = 32_768;

export const declaredPolicy = z
  .strictObject({ rules: policyRulesSchema.prefault({}), approvals: approvalRules.prefault({}) })
  .refine((policy) => JSON.stringify(policy).length <= policyBytes, {
    error: `must be at most ${policyBytes} bytes of JSON`,
  })
  .meta({ id: "DeclaredPolicy", description: "Gates and approvals that a version needs before it serves." });

export const answerModel = z.object({ model }).meta({ id: "ModelAnswer" });

export const answerVersion = z.object({ version: modelVersion }).meta({ id: "ModelVersionAnswer" });

export const descriptionRequest = z.strictObject({ description, reason }).meta({ id: "DescriptionRequest" });

export const tagRequest = z.strictObject({ key: tagKey, value: tagValue, reason }).meta({ id: "TagRequest" });

export const tagQuery = z.strictObject({ key: tagKey, reason });

export const reasonQuery = z.strictObject({ reason });

export const reasonRequest = z.strictObject({ reason }).meta({ id: "ReasonRequest" });
