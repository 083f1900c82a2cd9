import { randomUUID } from "node:crypto";
import type { Platform } from "../../../adapters/platform";
import { checkModelNames, directoryPath } from "../../../core/tracking/artifacts";
import { type LoggedModel, loggedModelNotFound } from "../../../core/tracking/logged-model";
import { checkReferences } from "../../../core/tracking/references";
import { doesNotExist, invalidParameter, invalidValue } from "../errors";
import { boolean, integer, keyValue, list, message, oneOf, required, text } from "../fields";
import { randomName } from "../names";
import { type MlflowOperation, operation } from "../operation";
import { parseLoggedModelFilter, parseLoggedModelOrder } from "../search/logged-models";
import { locationWithin } from "./experiments";
import { keyValues, metricMessage, undefinedIfEmpty } from "./messages";
import { checkExperimentIsActive, findExperiment, pageOf, parseExperimentId } from "./ports";

type MlflowModelStatus =
  | "LOGGED_MODEL_STATUS_UNSPECIFIED"
  | "LOGGED_MODEL_PENDING"
  | "LOGGED_MODEL_READY"
  | "LOGGED_MODEL_UPLOAD_FAILED";

const toMlflow: Readonly<Record<LoggedModel["status"], MlflowModelStatus>> = {
  unspecified: "LOGGED_MODEL_STATUS_UNSPECIFIED",
  pending: "LOGGED_MODEL_PENDING",
  ready: "LOGGED_MODEL_READY",
  failed: "LOGGED_MODEL_UPLOAD_FAILED",
};

function modelStatusFromMlflow(status: MlflowModelStatus): LoggedModel["status"] {
  return (Object.keys(toMlflow) as LoggedModel["status"][]).find((ours) => toMlflow[ours] === status)!;
}

function loggedModelMessage(model: LoggedModel): object {
  return {
    info: {
      model_id: model.modelId,
      experiment_id: model.experimentId,
      name: model.name,
      creation_timestamp_ms: model.createdAt,
      last_updated_timestamp_ms: model.updatedAt,
      artifact_uri: model.artifactLocation,
      status: toMlflow[model.status],
      model_type: model.modelType,
      source_run_id: model.sourceRunId,
      tags: undefinedIfEmpty(keyValues(model.tags)),
    },
    data: {
      params: undefinedIfEmpty(keyValues(model.params)),
      metrics: undefinedIfEmpty(
        model.metrics.map(({ key, value, timestamp, step, runId, datasetName, datasetDigest }) =>
          metricMessage(
            key,
            { value, step, time: timestamp },
            {
              model_id: model.modelId,
              run_id: runId,
              dataset_name: datasetName,
              dataset_digest: datasetDigest,
            },
          ),
        ),
      ),
    },
  };
}

const status = oneOf({
  LOGGED_MODEL_STATUS_UNSPECIFIED: 0,
  LOGGED_MODEL_PENDING: 1,
  LOGGED_MODEL_READY: 2,
  LOGGED_MODEL_UPLOAD_FAILED: 3,
});

const one = "/mlflow/logged-models/{model_id}" as const;

export const loggedModelOperations: readonly MlflowOperation[] = [
  operation(
    "POST /mlflow/logged-models",
    {
      experiment_id: required(text),
      name: text,
      model_type: text,
      source_run_id: text,
      params: list(keyValue),
      tags: list(keyValue),
    },
    async ({ fields, platform }) => {
      const { name, model_type: modelType = "", source_run_id: sourceRunId = "" } = fields;
      if (name) checkModelName(name);
      const experiment = await findExperiment(platform, fields.experiment_id);
      checkExperimentIsActive(experiment);
      await checkReferences(platform, { runs: [sourceRunId] });
      if (name && sourceRunId) checkModelNames(await platform.records.identify(sourceRunId), [name]);
      const modelId = `m-${randomUUID().replaceAll("-", "")}`;
      const at = platform.clock.now();
      const model: LoggedModel = {
        modelId,
        team: platform.team,
        experimentId: experiment.experimentId,
        name: name || randomName(Math.random),
        modelType,
        sourceRunId,
        status: "pending",
        lifecycle: "active",
        params: textsOf(fields.params),
        tags: textsOf(fields.tags),
        metrics: [],
        artifactLocation: locationWithin(experiment, "models", modelId, "artifacts"),
        createdAt: at,
        updatedAt: at,
        revision: 0,
      };
      return { model: loggedModelMessage(await platform.loggedModels.create(model)) };
    },
  ),

  operation(`GET ${one}`, { allow_deleted: boolean }, async ({ fields, params, platform }) => {
    const model = await platform.loggedModels.find(params["model_id"]!);
    if (!model || (model.lifecycle === "deleted" && !fields.allow_deleted)) throw notFound(params["model_id"]!);
    return { model: loggedModelMessage(model) };
  }),

  operation(`PATCH ${one}`, { model_id: required(text), status: required(status) }, async ({ fields, platform }) => ({
    model: loggedModelMessage(
      await change(platform, fields.model_id, (model) => ({ ...model, status: modelStatusFromMlflow(fields.status) })),
    ),
  })),

  operation(`DELETE ${one}`, {}, async ({ params, platform }) => {
    await change(platform, params["model_id"]!, (model) => ({ ...model, lifecycle: "deleted" }));
    return {};
  }),

  operation(
    `GET ${one}/artifacts/directories`,
    { artifact_directory_path: text, page_token: text },
    async ({ fields, params, platform }) => {
      const model = await platform.loggedModels.find(params["model_id"]!);
      if (!model || model.lifecycle === "deleted") throw notFound(params["model_id"]!);
      const owner = { kind: "logged-model", modelId: model.modelId } as const;
      const entries = await platform.artifacts.list(owner, directoryPath(fields.artifact_directory_path ?? ""));
      return {
        root_uri: model.artifactLocation,
        files: undefinedIfEmpty(
          entries.map(({ path, isDirectory, bytes }) => ({ path, is_dir: isDirectory, file_size: bytes })),
        ),
      };
    },
  ),

  operation(`PATCH ${one}/tags`, { tags: list(keyValue) }, async ({ fields, params, platform }) => {
    const tags = textsOf(fields.tags);
    await platform.loggedModels.change(params["model_id"]!, (model) => ({
      ...model,
      tags: { ...model.tags, ...tags },
    }));
    return {};
  }),

  operation(`DELETE ${one}/tags/{tag_key}`, {}, async ({ params, platform }) => {
    const { model_id: modelId, tag_key: key } = params as { readonly model_id: string; readonly tag_key: string };
    await platform.loggedModels.change(modelId, (model) => {
      if (!Object.hasOwn(model.tags, key)) {
        throw doesNotExist(`No tag with key '${key}' found for model with ID '${modelId}'.`);
      }
      const { [key]: _, ...tags } = model.tags;
      return { ...model, tags };
    });
    return {};
  }),

  operation(
    `POST ${one}/params`,
    { model_id: required(text), params: list(keyValue) },
    async ({ fields, params: { model_id: modelId }, platform }) => {
      const params = textsOf(fields.params);
      await platform.loggedModels.change(modelId!, (model) => {
        const changed = Object.keys(params).find(
          (key) => Object.hasOwn(model.params, key) && model.params[key] !== params[key],
        );
        if (changed !== undefined) {
          throw invalidParameter(
            `Changing param values is not allowed. Param with key='${changed}' was already logged with value='${model.params[changed]}' for model ID='${modelId}'. Attempted logging new value '${params[changed]}'.`,
          );
        }
        return { ...model, params: { ...model.params, ...params } };
      });
      return {};
    },
  ),

  operation(
    "POST /mlflow/logged-models/search",
    {
      experiment_ids: required(list(text)),
      filter: text,
      datasets: list(message({ dataset_name: text, dataset_digest: text })),
      max_results: integer,
      order_by: list(message({ field_name: text, ascending: boolean, dataset_name: text, dataset_digest: text })),
      page_token: text,
    },
    async ({ fields, platform }) => {
      if (fields.datasets.some(({ dataset_name }) => !dataset_name)) {
        throw invalidParameter("`dataset_name` in the `datasets` clause must be specified.");
      }
      const ids = [...new Set(fields.experiment_ids.map(parseExperimentId))];
      const meets = parseLoggedModelFilter(fields.filter ?? "", fields.datasets.map(datasetFilter));
      const order = parseLoggedModelOrder(
        fields.order_by.map((each) => ({
          fieldName: each.field_name ?? "",
          ascending: each.ascending ?? true,
          datasetName: each.dataset_name || undefined,
          datasetDigest: each.dataset_digest || undefined,
        })),
      );
      const models = (await Promise.all(ids.map((id) => platform.loggedModels.list(id)))).flat();
      const matching = models.filter((model) => model.lifecycle === "active" && meets(model)).sort(order);
      const { items, nextToken } = pageOf(matching, fields.max_results || 50, fields.page_token, {
        experiment_ids: ids,
        filter: fields.filter || "",
        order_by: fields.order_by,
      });
      return { models: undefinedIfEmpty(items.map(loggedModelMessage)), next_page_token: nextToken };
    },
  ),
];

function change(platform: Platform, modelId: string, to: (model: LoggedModel) => LoggedModel): Promise<LoggedModel> {
  return platform.loggedModels.change(modelId, (model) => ({ ...to(model), updatedAt: platform.clock.now() }));
}

function datasetFilter({
  dataset_name,
  dataset_digest,
}: {
  readonly dataset_name?: string;
  readonly dataset_digest?: string;
}) {
  return { datasetName: dataset_name!, datasetDigest: dataset_digest || undefined };
}

/** Converts pairs to a record; the last value of a key wins. */
function textsOf(
  pairs: readonly { readonly key?: string; readonly value?: string }[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(pairs.map(({ key = "", value = "" }) => [key, value]));
}

function notFound(modelId: string): Error {
  return loggedModelNotFound(modelId);
}

function checkModelName(name: string): void {
  if (!/[/:.%"']/.test(name)) return;
  throw invalidValue("name", name, "the name of a logged model cannot contain / : . % \" or '");
}
