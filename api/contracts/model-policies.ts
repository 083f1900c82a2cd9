import * as z from "zod";
import { modelPolicy } from "../../core/registry/policy";
import { contractsFor, response } from "../contract";
import { examples } from "../examples";
import { reason, versionNumber } from "../schemas/common";
import { answerModel, answerVersion, declaredPolicy, modelName, reasonRequest } from "../schemas/models";

const contract = contractsFor("Models");
const name = z.strictObject({ name: modelName });
const policyExample = {
  rules: { thresholds: { accuracy: 0.95 }, slices: [], fairness: [], checks: [] },
  approvals: { required: 2, approvers: ["ada", "grace", "alan"], notTheSubmitter: true },
} as const;
const inForce = { ...policyExample, revision: 6, rulesRevision: 6, by: "ada", at: examples.model.updatedAt };

export const getModelPolicy = contract("getModelPolicy", "GET /models/{name}/policy", {
  summary: "Get a model's gates and approval rules, and their earlier revisions",
  params: name,
  responses: {
    200: response(
      "The policy in force, and all earlier ones, oldest first. A model without a policy requires one approval.",
      z.object({ policy: modelPolicy.optional(), history: z.array(modelPolicy) }).meta({ id: "ModelPolicyAnswer" }),
      { policy: inForce, history: [inForce] },
    ),
  },
  errors: ["MODEL_NOT_FOUND"],
});

export const setModelPolicy = contract("setModelPolicy", "PUT /models/{name}/policy", {
  scope: "approve",
  summary: "Declare the gates and approvals that a model's versions need before one serves",
  description:
    "Applies to every version from now on. Verdicts by other rules are outdated: a version that passed is judged again before it is promoted. Existing approvals are counted by the new policy. " +
    "Looser approval rules (fewer people, other approvers, the submitter) take effect once as many people have sent the same policy as the policy in force requires; until then `policyProposal` has the requests. " +
    "A job's own gates add to the rules: of two limits the stricter holds.",
  params: name,
  body: declaredPolicy.safeExtend({ reason }).meta({ id: "PolicyRequest" }),
  bodyExample: policyExample,
  responses: {
    200: response(
      "The model with its policy.",
      answerModel
        .extend({
          warnings: z
            .array(z.object({ code: z.string(), message: z.string() }))
            .optional()
            .meta({ description: "Reasons why the policy is not in force or cannot be satisfied." }),
        })
        .meta({ id: "PolicySetAnswer" }),
      { model: examples.model },
    ),
  },
  errors: ["MODEL_NOT_FOUND", "POLICY_NEEDS_PEOPLE", "REGISTRY_BUSY"],
});

export const judgeModelVersion = contract("judgeModelVersion", "POST /models/{name}/versions/{version}/judge", {
  summary: "Judge a version by its model's gates and the present champion",
  description:
    "For a version that no run of this platform made, and for one with an outdated verdict. Approvals stay if the verdict rests on the same evidence, and are withdrawn otherwise. The version in production keeps them.",
  params: name.extend({ version: versionNumber }),
  body: reasonRequest,
  bodyExample: { reason: "another champion since" },
  idempotencyKey: true,
  responses: {
    200: response("The version with its verdict.", answerVersion, { version: examples.modelVersion }),
  },
  errors: ["MODEL_NOT_FOUND", "MODEL_VERSION_NOT_FOUND", "REGISTRY_BUSY"],
});
