import * as z from "zod";
import { historyEntry, model, modelVersion } from "../../core/registry/model";
import { tagsProblem } from "../../core/registry/names";
import { resolvedModel } from "../../core/registry/production";
import { operationsFor, pageOf, response } from "../operation";
import { reason } from "../schemas/common";
import {
  aliasName,
  answerModel,
  answerVersion,
  description,
  descriptionRequest,
  modelName,
  reasonQuery,
  reasonRequest,
  tagKey,
  tagQuery,
  tagRequest,
  tagValue,
} from "../schemas/models";

const operation = operationsFor("Models");
const name = z.strictObject({ name: modelName });
const productionHeaders = {
  ETag: "Derived from version and revision; send it as `If-None-Match`.",
  "Ringmaster-Source": "`registry`, or `pointer` where the registry's table did not answer.",
};
const nameAndAlias = name.extend({ alias: aliasName });
const modelAnswer = { 200: response("The model.", answerModel) };

export const listModels = operation("listModels", "GET /models", {
  summary: "List registered models",
  responses: {
    200: response("All of them.", z.object({ models: z.array(model) }).meta({ id: "ModelList" })),
  },
});

export const createModel = operation("createModel", "POST /models", {
  summary: "Create a model without versions",
  description: "A deleted model's name may be used again: it keeps its policy, and its version numbers continue.",
  body: z
    .strictObject({
      name: modelName,
      description: description.default(""),
      tags: z
        .record(tagKey, tagValue)
        .refine((tags) => Object.keys(tags).length <= 100, { error: "must be at most 100 tags at once" })
        .superRefine((tags, context) => {
          const message = tagsProblem(tags);
          if (message !== undefined) context.addIssue({ code: "custom", message });
        })
        .default({}),
      reason,
    })
    .meta({ id: "CreateModelRequest" }),
  bodyExample: { name: "digits", description: "Digit in an image" },
  responses: { 201: response("The model.", answerModel) },
  idempotencyKey: true,
  errors: ["MODEL_EXISTS", "REGISTRY_BUSY"],
});

export const getModel = operation("getModel", "GET /models/{name}", {
  summary: "Get a model with its versions and its newest history",
  params: name,
  responses: {
    200: response(
      "Versions newest first; the newest 100 entries of history, oldest first.",
      z
        .object({
          model,
          versions: z.array(modelVersion),
          history: z.array(historyEntry),
          historyNextToken: z
            .string()
            .optional()
            .meta({ description: "Present if history has older entries: `nextToken` for `listModelHistory`." }),
          suggestedSemver: z.string().meta({ description: "The next minor release after the highest." }),
        })
        .meta({ id: "ModelDetails" }),
    ),
  },
  errors: ["MODEL_NOT_FOUND"],
});

export const listModelHistory = operation("listModelHistory", "GET /models/{name}/history", {
  summary: "List the changes of a model with actor, time and reason, newest first",
  description:
    "Entries never change and have no gaps, so that the pages together are complete, even if entries are added in the meantime.",
  params: name,
  ...pageOf({ id: "ModelHistoryPage" }, historyEntry),
  errors: ["MODEL_NOT_FOUND"],
});

export const getProductionModel = operation("getProductionModel", "GET /models/{name}/production", {
  summary: "Get the version that serving should load: artifact, digest, schemas",
  description:
    "The answer is a function of version and revision, which its `ETag` is made of. Where the registry's table does not answer it comes from the bucket, " +
    "where each promotion and rollback stores it; the header `Ringmaster-Source` names the source.",
  params: name,
  headers: z.strictObject({
    "If-None-Match": z.string().max(1_000).optional().meta({ description: "ETags that the caller has." }),
  }),
  responses: {
    200: {
      description: "The champion.",
      schema: resolvedModel,
      headers: productionHeaders,
    },
    304: { description: "The caller has it.", content: [], headers: productionHeaders },
  },
  errors: ["MODEL_NOT_FOUND", "NO_CHAMPION", "CORRUPT_OBJECT", "REGISTRY_UNAVAILABLE"],
});

export const describeModel = operation("describeModel", "PUT /models/{name}/description", {
  summary: "Describe a model",
  params: name,
  body: descriptionRequest,
  bodyExample: { description: "Digit in an image" },
  responses: modelAnswer,
  errors: ["MODEL_NOT_FOUND", "REGISTRY_BUSY"],
});

export const tagModel = operation("tagModel", "PUT /models/{name}/tags", {
  summary: "Set a tag of a model",
  params: name,
  body: tagRequest,
  bodyExample: { key: "owner", value: "ada" },
  responses: modelAnswer,
  errors: ["MODEL_NOT_FOUND", "REGISTRY_BUSY"],
});

export const untagModel = operation("untagModel", "DELETE /models/{name}/tags", {
  summary: "Delete a tag of a model",
  params: name,
  query: tagQuery,
  responses: modelAnswer,
  errors: ["MODEL_NOT_FOUND", "REGISTRY_BUSY"],
});

export const getModelAlias = operation("getModelAlias", "GET /models/{name}/aliases/{alias}", {
  summary: "Get the version that an alias names",
  description: "`champion` is the version in production.",
  params: nameAndAlias,
  responses: {
    200: response("The version.", answerVersion),
  },
  errors: ["MODEL_NOT_FOUND", "ALIAS_NOT_FOUND", "MODEL_VERSION_NOT_FOUND"],
});

export const setModelAlias = operation("setModelAlias", "PUT /models/{name}/aliases/{alias}", {
  summary: "Set the version that an alias names",
  description: "`champion` follows production from the first promotion on, and is refused to everybody else.",
  params: nameAndAlias,
  body: z.strictObject({ version: z.int().min(1).max(999_999_999), reason }).meta({ id: "AliasRequest" }),
  bodyExample: { version: 1 },
  responses: modelAnswer,
  errors: ["MODEL_NOT_FOUND", "MODEL_VERSION_NOT_FOUND", "ALIAS_FOLLOWS_PRODUCTION", "REGISTRY_BUSY"],
});

export const deleteModelAlias = operation("deleteModelAlias", "DELETE /models/{name}/aliases/{alias}", {
  summary: "Delete an alias",
  params: nameAndAlias,
  query: reasonQuery,
  responses: modelAnswer,
  errors: ["MODEL_NOT_FOUND", "ALIAS_NOT_FOUND", "ALIAS_FOLLOWS_PRODUCTION", "REGISTRY_BUSY"],
});

export const deleteModel = operation("deleteModel", "DELETE /models/{name}", {
  summary: "Hide a model",
  description: "Nothing of it is gone. A model that has a version in production stays.",
  params: name,
  query: reasonQuery,
  responses: {
    200: response("The model as it was left.", answerModel),
  },
  errors: ["MODEL_NOT_FOUND", "IN_PRODUCTION", "REGISTRY_BUSY"],
});

export const restoreModel = operation("restoreModel", "POST /models/{name}/restore", {
  summary: "Show a deleted model again",
  params: name,
  body: reasonRequest,
  bodyExample: { reason: "deleted by mistake" },
  idempotent: true,
  responses: modelAnswer,
  errors: ["MODEL_NOT_FOUND", "REGISTRY_BUSY"],
});
