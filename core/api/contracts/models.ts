import { z } from "zod";
import { contract } from "../contract";
import { examples } from "../examples";
import { nameText, reason, versionNumber } from "../schemas/common";
import { decision, historyEntry, model, modelVersion, resolvedModel } from "../schemas/models";

const tag = "Models";
const name = z.strictObject({ name: nameText });
const nameAndVersion = name.extend({ version: versionNumber });
const answerVersion = z.object({ version: modelVersion }).meta({ id: "ModelVersionAnswer" });
const change = z.object({ model, version: modelVersion }).meta({ id: "ModelChange" });
const changeExample = { model: examples.model, version: examples.modelVersion };

export const listModels = contract({
  operationId: "listModels",
  method: "GET",
  path: "/models",
  tag,
  summary: "List registered models",
  responses: {
    200: {
      description: "All of them.",
      schema: z.object({ models: z.array(model) }).meta({ id: "ModelList" }),
      example: { models: [examples.model] },
    },
  },
});

export const getModel = contract({
  operationId: "getModel",
  method: "GET",
  path: "/models/{name}",
  tag,
  summary: "Get a model with its versions and its history",
  params: name,
  responses: {
    200: {
      description: "Versions newest first, history oldest first.",
      schema: z
        .object({ model, versions: z.array(modelVersion), history: z.array(historyEntry) })
        .meta({ id: "ModelDetails" }),
      example: { model: examples.model, versions: [examples.modelVersion], history: [] },
    },
  },
  errors: ["MODEL_NOT_FOUND"],
});

export const getProductionModel = contract({
  operationId: "getProductionModel",
  method: "GET",
  path: "/models/{name}/production",
  tag,
  summary: "Get what serving should load: version, artifact, digest, schemas",
  params: name,
  responses: { 200: { description: "The champion.", schema: resolvedModel, example: examples.resolvedModel } },
  errors: ["MODEL_NOT_FOUND", "NO_CHAMPION", "CORRUPT_OBJECT"],
});

export const getModelVersion = contract({
  operationId: "getModelVersion",
  method: "GET",
  path: "/models/{name}/versions/{version}",
  tag,
  summary: "Get a version",
  params: nameAndVersion,
  responses: {
    200: { description: "The version.", schema: answerVersion, example: { version: examples.modelVersion } },
  },
  errors: ["MODEL_NOT_FOUND", "MODEL_VERSION_NOT_FOUND"],
});

export const decideModelVersion = contract({
  operationId: "decideModelVersion",
  method: "POST",
  path: "/models/{name}/versions/{version}/approvals",
  tag,
  summary: "Approve or reject a version that passed its gates",
  description:
    "Deciding the same way twice is deciding once; the opposite of a decision is refused. A run that waits goes on.",
  params: nameAndVersion,
  body: z.strictObject({ decision, reason }).meta({ id: "DecisionRequest" }),
  bodyExample: { decision: "approved", reason: "better on every slice" },
  idempotent: true,
  responses: {
    200: { description: "The version.", schema: answerVersion, example: { version: examples.modelVersion } },
  },
  errors: [
    "MODEL_NOT_FOUND",
    "MODEL_VERSION_NOT_FOUND",
    "GATE_NOT_PASSED",
    "ALREADY_DECIDED",
    "NOT_AN_APPROVER",
    "REGISTRY_BUSY",
  ],
});

export const setModelVersionStage = contract({
  operationId: "setModelVersionStage",
  method: "PUT",
  path: "/models/{name}/versions/{version}/stage",
  tag,
  summary: "Put an approved version into production",
  description:
    "Through the same door as a run's promotion: a passed gate and an approval. The champion before it is archived in the same write.",
  params: nameAndVersion,
  body: z.strictObject({ stage: z.literal("production"), reason }).meta({ id: "StageRequest" }),
  bodyExample: { stage: "production", reason: "canary went well" },
  responses: { 200: { description: "The model and the version.", schema: change, example: changeExample } },
  // Sent again after a rollback it would undo that.
  idempotent: false,
  idempotencyKey: true,
  errors: [
    "MODEL_NOT_FOUND",
    "MODEL_VERSION_NOT_FOUND",
    "GATE_NOT_PASSED",
    "GATE_OUTDATED",
    "NOT_APPROVED",
    "REGISTRY_BUSY",
  ],
});

export const rollBackModel = contract({
  operationId: "rollBackModel",
  method: "POST",
  path: "/models/{name}/rollback",
  tag,
  summary: "Go back to the version that was in production before",
  description:
    "Meant for one champion: that of now, or `from`. Where another has been promoted meanwhile, or another rollback was first, it is refused and changes nothing. " +
    "The version serves again under the verdict and the approval that it served under.",
  params: name,
  body: z
    .strictObject({
      reason,
      from: z.int().min(1).optional().meta({ description: "The version that is to go." }),
    })
    .meta({ id: "RollbackRequest" }),
  bodyExample: { reason: "latency of the new one" },
  responses: { 200: { description: "The model and the champion of before.", schema: change, example: changeExample } },
  idempotencyKey: true,
  errors: ["MODEL_NOT_FOUND", "NOTHING_TO_ROLL_BACK", "ROLLBACK_OVERTAKEN", "REGISTRY_BUSY"],
});
