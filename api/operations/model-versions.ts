import * as z from "zod";
import { modelArtifact } from "../../core/evaluation/model-artifact";
import { decision, model, modelDataset, modelSignature, modelVersion, stage } from "../../core/registry/model";
import { metrics, sha256 } from "../../core/shapes";
import { operationsFor, response } from "../operation";
import { nameText, reason, versionNumber } from "../schemas/common";
import {
  answerModel,
  answerVersion,
  description,
  descriptionRequest,
  modelName,
  reasonQuery,
  reasonRequest,
  semver,
  tagKey,
  tagQuery,
  tagRequest,
  tagValue,
} from "../schemas/models";

const operation = operationsFor("Models");
const name = z.strictObject({ name: modelName });
const nameAndVersion = name.extend({ version: versionNumber });
const versionAnswer = {
  200: response("The version.", answerVersion),
};
const change = z.object({ model, version: modelVersion }).meta({ id: "ModelChange" });
const notThere = ["MODEL_NOT_FOUND", "MODEL_VERSION_NOT_FOUND", "REGISTRY_BUSY"] as const;
const text = (length: number) => z.string().min(1).max(length);

export const registerTrainingRun = operation("registerTrainingRun", "POST /training-runs/{runId}/register", {
  summary: "Register the model of a completed run as a version",
  description:
    "As `registerAs` in its job would have done: the version is judged by its gates, and then waits for its approval. Idempotent: a run makes one version of a model.",
  params: z.strictObject({ runId: nameText }),
  body: z.strictObject({ model: modelName, reason }).meta({ id: "RunRegistration" }),
  bodyExample: { model: "digits" },
  idempotent: true,
  responses: {
    200: response("The version with its verdict.", answerVersion),
  },
  errors: ["RUN_NOT_FOUND", "RUN_NOT_COMPLETED", "RUN_NOT_EVALUATED", "REPRODUCTION_NOT_REGISTERED", "REGISTRY_BUSY"],
});

export const registerModelVersion = operation("registerModelVersion", "POST /models/register", {
  summary: "Register a version of another program",
  description:
    "Creates the model if there is none of that name. The version starts without a verdict, approvals and stage, whatever its origin.",
  body: z
    .strictObject({
      name: modelName,
      source: text(2_000).meta({
        description:
          "Location of its files: a place in an object store; among the files of `runId` (`runs:/…`, `mlflow-artifacts:/…`) or of `loggedModelId` (`models:/m-…`); or another version (`models:/NAME/3`, " +
          "`models:/NAME@ALIAS`), whose run and logged model it shares. Local paths, paths that leave their root and locations with a host name are refused.",
      }),
      framework: text(100).optional(),
      runId: text(255).optional().meta({ description: "The run that made it, trained here or logged." }),
      runLink: text(2_000).optional(),
      loggedModelId: text(255).optional(),
      weightsSha256: sha256.optional(),
      signature: modelSignature
        .refine((value) => JSON.stringify(value).length <= 60_000, { error: "must be at most 60,000 bytes of JSON" })
        .optional(),
      dataset: modelDataset.optional(),
      metrics: metrics
        .refine((value) => Object.keys(value).length <= 200, { error: "must be at most 200 metrics" })
        .default({}),
      semver: semver.optional(),
      description: description.default(""),
      tags: z
        .record(tagKey, tagValue)
        .refine((tags) => JSON.stringify(tags).length <= 60_000, { error: "must be at most 60,000 bytes of JSON" })
        .default({}),
      reason,
    })
    .meta({ id: "RegisterModelRequest" }),
  bodyExample: {
    name: "digits",
    source: "s3://elsewhere/digits/7",
    framework: "sklearn",
    metrics: { accuracy: 0.97 },
    signature: { inputs: [{ name: "pixels", type: "float32", shape: [-1, 784] }], outputs: [{ type: "int64" }] },
  },
  responses: {
    201: response("The version.", answerVersion),
  },
  idempotencyKey: true,
  errors: [
    "MODEL_NOT_FOUND",
    "MODEL_VERSION_NOT_FOUND",
    "ALIAS_NOT_FOUND",
    "RUN_NOT_FOUND",
    "DATASET_NOT_FOUND",
    "DATASET_VERSION_NOT_FOUND",
    "SEMVER_TAKEN",
    "REGISTRY_BUSY",
  ],
});

export const getModelVersion = operation("getModelVersion", "GET /models/{name}/versions/{version}", {
  summary: "Get a version",
  params: nameAndVersion,
  responses: versionAnswer,
  errors: ["MODEL_NOT_FOUND", "MODEL_VERSION_NOT_FOUND"],
});

export const getModelArtifact = operation("getModelArtifact", "GET /models/{name}/versions/{version}/artifact", {
  summary: "Get the files of a version that serving would load",
  params: nameAndVersion,
  responses: {
    200: response(
      "The artifact; absent for a version from elsewhere.",
      z.object({ artifact: modelArtifact.optional() }).meta({ id: "ModelArtifactAnswer" }),
    ),
  },
  errors: ["MODEL_NOT_FOUND", "MODEL_VERSION_NOT_FOUND"],
});

export const decideModelVersion = operation("decideModelVersion", "POST /models/{name}/versions/{version}/approvals", {
  scope: "approve",
  summary: "Approve or reject a version that passed its gates",
  description:
    "The model's policy determines how many different people must approve, and who may; without a policy one approval suffices. One rejection decides. " +
    "The same decision again changes nothing; the opposite is refused. `next` of the answer states what follows: the version that waits is " +
    "promoted, more approvals are needed, a canary test decides, or the version has to be promoted by hand because its run has ended. " +
    "If the gate verdict is outdated (another champion, other rules), the approval is refused with `GATE_OUTDATED`, and a version that waits is evaluated again.",
  params: nameAndVersion,
  body: z.strictObject({ decision, reason }).meta({ id: "DecisionRequest" }),
  bodyExample: { decision: "approved", reason: "better on every slice" },
  // A repetition after a rollback would be a new approval.
  idempotencyKey: true,
  responses: versionAnswer,
  errors: [...notThere, "GATE_NOT_PASSED", "GATE_OUTDATED", "APPROVAL_EXPIRED", "ALREADY_DECIDED", "NOT_AN_APPROVER"],
});

export const requestModelApproval = operation(
  "requestModelApproval",
  "POST /models/{name}/versions/{version}/approval-requests",
  {
    summary: "Request the approval of a version that passed its gates",
    description:
      "A run requests it once. A request expires after the days that the model's policy names (30 without a policy); this one replaces it. Once approved, the version is promoted.",
    params: nameAndVersion,
    body: z.strictObject({ reason }).meta({ id: "ApprovalRequest" }),
    bodyExample: { reason: "the last request expired" },
    idempotent: false,
    idempotencyKey: true,
    responses: versionAnswer,
    errors: [...notThere, "APPROVAL_NOT_REQUESTED"],
  },
);

export const setModelVersionStage = operation("setModelVersionStage", "PUT /models/{name}/versions/{version}/stage", {
  scope: "approve",
  summary: "Set the stage of a version",
  description:
    "`production` is a promotion under the same conditions as a run's: a passed gate about the present champion, and the approvals. The previous champion is archived in the same write. " +
    "`canary` needs the gate. A version leaves production by another's promotion or by a rollback.",
  params: nameAndVersion,
  body: z.strictObject({ stage, reason }).meta({ id: "StageRequest" }),
  bodyExample: { stage: "production", reason: "canary went well" },
  responses: { 200: response("The model and the version.", change) },
  // A repetition after a rollback would undo it.
  idempotent: false,
  idempotencyKey: true,
  errors: [...notThere, "GATE_NOT_PASSED", "GATE_OUTDATED", "NOT_APPROVED", "CANARY_UNDER_TEST", "IN_PRODUCTION"],
});

export const rollBackModel = operation("rollBackModel", "POST /models/{name}/rollback", {
  scope: "approve",
  summary: "Roll back to the version that was in production before",
  description:
    "Refers to one champion: the present one, or `from`. If another was promoted in the meantime, or another rollback was first, the request is refused and changes nothing. " +
    "The version serves again under the verdict and the approvals that it served under.",
  params: name,
  body: z
    .strictObject({
      reason,
      from: z
        .int()
        .min(1)
        .optional()
        .meta({ description: "The version to roll back; refused if another one is in production." }),
    })
    .meta({ id: "RollbackRequest" }),
  bodyExample: { reason: "latency of the new one" },
  responses: { 200: response("The model and the champion of before.", change) },
  idempotencyKey: true,
  errors: ["MODEL_NOT_FOUND", "NOTHING_TO_ROLL_BACK", "ROLLBACK_OVERTAKEN", "REGISTRY_BUSY"],
});

export const setModelVersionSemver = operation(
  "setModelVersionSemver",
  "PUT /models/{name}/versions/{version}/semver",
  {
    summary: "Give a version its semantic version",
    description:
      "Permanent: a version has at most one semver, and a semver belongs to one version. Semvers need not increase.",
    params: nameAndVersion,
    body: z.strictObject({ semver, reason }).meta({ id: "SemverRequest" }),
    bodyExample: { semver: "1.4.0" },
    responses: versionAnswer,
    errors: [...notThere, "SEMVER_TAKEN"],
  },
);

export const describeModelVersion = operation(
  "describeModelVersion",
  "PUT /models/{name}/versions/{version}/description",
  {
    summary: "Describe a version",
    params: nameAndVersion,
    body: descriptionRequest,
    bodyExample: { description: "Trained on the winter's pictures as well" },
    responses: versionAnswer,
    errors: notThere,
  },
);

export const tagModelVersion = operation("tagModelVersion", "PUT /models/{name}/versions/{version}/tags", {
  summary: "Set a tag of a version",
  params: nameAndVersion,
  body: tagRequest,
  bodyExample: { key: "season", value: "winter" },
  responses: versionAnswer,
  errors: notThere,
});

export const untagModelVersion = operation("untagModelVersion", "DELETE /models/{name}/versions/{version}/tags", {
  summary: "Delete a tag of a version",
  params: nameAndVersion,
  query: tagQuery,
  responses: versionAnswer,
  errors: notThere,
});

export const deleteModelVersion = operation("deleteModelVersion", "DELETE /models/{name}/versions/{version}", {
  summary: "Hide a version",
  description: "Nothing of it is gone; its aliases are. The version in production stays.",
  params: nameAndVersion,
  query: reasonQuery,
  responses: { 200: response("The model without it.", answerModel) },
  errors: [...notThere, "IN_PRODUCTION"],
});

export const restoreModelVersion = operation("restoreModelVersion", "POST /models/{name}/versions/{version}/restore", {
  summary: "Show a deleted version again",
  params: nameAndVersion,
  body: reasonRequest,
  bodyExample: { reason: "deleted by mistake" },
  idempotent: true,
  responses: versionAnswer,
  errors: notThere,
});
