import * as z from "zod";
import { modelPolicy } from "../../core/registry/policy";
import { operationsFor, response } from "../operation";
import { versionReport } from "../report/shapes";
import { reason, versionNumber } from "../schemas/common";
import { answerModel, answerVersion, declaredPolicy, modelName, reasonRequest } from "../schemas/models";

const operation = operationsFor("Models");
const checkName = z.string().min(1).max(63);
const target = z.strictObject({ name: modelName, version: versionNumber });

export const getModelVersionReport = operation(
  "getModelVersionReport",
  "GET /models/{name}/versions/{version}/report",
  {
    summary: "Get the report on a version: its metrics, verdict, evidence and approvals",
    description: "As JSON, as Markdown, or as one self-contained page with plots.",
    params: target,
    query: z.strictObject({ format: z.enum(["json", "markdown", "html"]).default("json") }),
    class: "heavy",
    responses: {
      200: {
        description: "The report, in the requested format.",
        schema: versionReport,
        content: ["application/json", "text/markdown", "text/html"],
      },
    },
    errors: ["MODEL_NOT_FOUND", "MODEL_VERSION_NOT_FOUND", "CORRUPT_OBJECT"],
  },
);

export const answerModelCheck = operation("answerModelCheck", "POST /models/{name}/versions/{version}/checks/{check}", {
  summary: "Report the result of an external check",
  description:
    "Answers a check of kind `command` that the verdict waits for; the rest of the verdict stays. Idempotent. Another answer replaces it, and new approvals are required. " +
    "A run that waits ends where the check failed.",
  params: target.extend({ check: checkName }),
  body: z
    .strictObject({
      passed: z.boolean(),
      evidence: z.string().max(4_000).default("").meta({ description: "A sentence." }),
      exitCode: z.int().min(-1).max(255).optional(),
      command: z.string().max(4_000).optional(),
      output: z.string().max(8_000).optional().meta({ description: "The end of what the command wrote." }),
    })
    .meta({ id: "CheckAnswerRequest" }),
  bodyExample: { passed: true, evidence: "no regression on the safety set", exitCode: 0, command: "./review.sh" },
  idempotent: true,
  responses: {
    200: response("The version.", answerVersion),
  },
  errors: [
    "MODEL_NOT_FOUND",
    "MODEL_VERSION_NOT_FOUND",
    "NOT_JUDGED",
    "CHECK_NOT_FOUND",
    "CHECK_ANSWERED_BY_HOOK",
    "REGISTRY_BUSY",
  ],
});

export const getModelCheckKey = operation("getModelCheckKey", "GET /models/{name}/checks/{check}/key", {
  scope: "approve",
  summary: "Get the key that signs the requests to a check's hook",
  description: "For the operator of the hook, which verifies `webhook-signature` with it (Standard Webhooks).",
  params: z.strictObject({ name: modelName, check: checkName }),
  responses: {
    200: response(
      "The key in force.",
      z.object({ check: z.string(), generation: z.int(), key: z.string() }).meta({ id: "CheckKey" }),
    ),
  },
  errors: ["MODEL_NOT_FOUND", "CHECK_NOT_FOUND"],
});

const name = z.strictObject({ name: modelName });
const policyExample = {
  rules: { thresholds: { accuracy: 0.95 }, slices: [], fairness: [], checks: [] },
  approvals: { required: 2, approvers: ["ada", "grace", "alan"], notTheSubmitter: true },
} as const;
export const getModelPolicy = operation("getModelPolicy", "GET /models/{name}/policy", {
  summary: "Get a model's gates and approval rules, and their earlier revisions",
  params: name,
  responses: {
    200: response(
      "The policy in force, and all earlier ones, oldest first. A model without a policy requires one approval.",
      z.object({ policy: modelPolicy.optional(), history: z.array(modelPolicy) }).meta({ id: "ModelPolicyAnswer" }),
    ),
  },
  errors: ["MODEL_NOT_FOUND"],
});

export const setModelPolicy = operation("setModelPolicy", "PUT /models/{name}/policy", {
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
    ),
  },
  errors: ["MODEL_NOT_FOUND", "POLICY_NEEDS_PEOPLE", "REGISTRY_BUSY"],
});

export const judgeModelVersion = operation("judgeModelVersion", "POST /models/{name}/versions/{version}/judge", {
  summary: "Judge a version by its model's gates and the present champion",
  description:
    "For a version that no run of this platform made, and for one with an outdated verdict. Approvals stay if the verdict rests on the same evidence, and are withdrawn otherwise. The version in production keeps them.",
  params: name.extend({ version: versionNumber }),
  body: reasonRequest,
  bodyExample: { reason: "another champion since" },
  idempotencyKey: true,
  responses: {
    200: response("The version with its verdict.", answerVersion),
  },
  errors: ["MODEL_NOT_FOUND", "MODEL_VERSION_NOT_FOUND", "REGISTRY_BUSY"],
});
