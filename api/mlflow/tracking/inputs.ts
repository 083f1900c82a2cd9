import { checkModelNames } from "../../../core/tracking/records/artifact-paths";
import { checkReferences } from "../../../core/tracking/references";
import type { DatasetInput, RunRecord } from "../../../core/tracking/shapes";
import { hidePassword } from "../../../core/url-password";
import { invalidParameter } from "../errors";
import { integer, list, message, required, text, type Values } from "../fields";
import { type MlflowOperation, operation } from "../operation";
import { keyValue } from "./experiments";
import { changeActiveRun } from "./ports";
import { checkLength, checkRunId, limits } from "./validation";

const datasetMembers = { name: text, digest: text, source_type: text, source: text, schema: text, profile: text };
const datasetInput = message({ tags: list(keyValue), dataset: message(datasetMembers) });

export const inputOperations: readonly MlflowOperation[] = [
  operation(
    "POST /mlflow/runs/log-inputs",
    { run_id: required(text), datasets: list(datasetInput), models: list(message({ model_id: text })) },
    async ({ fields: { run_id, datasets: given, models }, platform }) => {
      checkRunId(run_id);
      const datasets = given.map((each) => readDataset(each.dataset ?? {}, each.tags));
      await checkReferences(platform, { loggedModels: models.map(({ model_id }) => model_id) });
      await changeActiveRun(platform, run_id, (record) => {
        const modelInputs = added(
          record.modelInputs,
          models.map(({ model_id = "" }) => model_id),
          (id) => id,
        );
        const inputs = added(record.datasets, datasets, ({ name, digest }) => JSON.stringify([name, digest]));
        return unlessSame(record, { modelInputs, datasets: inputs });
      });
      return {};
    },
  ),

  operation(
    "POST /mlflow/runs/outputs",
    { run_id: required(text), models: required(list(message({ model_id: text, step: integer }))) },
    async ({ fields: { run_id, models }, platform }) => {
      const outputs = models.map(({ model_id = "", step = 0 }) => ({ modelId: model_id, step }));
      await checkReferences(platform, { loggedModels: models.map(({ model_id }) => model_id) });
      const named = await Promise.all(outputs.map(({ modelId }) => platform.loggedModels.find(modelId)));
      await changeActiveRun(platform, run_id, (record) => {
        checkModelNames(
          record,
          named.flatMap((model) => model?.name ?? []),
        );
        const modelOutputs = added(record.modelOutputs, outputs, ({ modelId, step }) =>
          JSON.stringify([modelId, step]),
        );
        return unlessSame(record, { modelOutputs });
      });
      return {};
    },
  ),
];

/** Adds new items; existing ones stay unchanged. Idempotent. */
function added<T>(known: readonly T[], given: readonly T[], identity: (item: T) => string): readonly T[] {
  const ids = new Set(known.map(identity));
  const fresh = given.filter((item) => {
    const isNew = !ids.has(identity(item));
    ids.add(identity(item));
    return isNew;
  });
  return fresh.length === 0 ? known : [...known, ...fresh];
}

function unlessSame(record: RunRecord, changed: Partial<RunRecord>): RunRecord | undefined {
  const same = (Object.keys(changed) as (keyof RunRecord)[]).every((key) => changed[key] === record[key]);
  return same ? undefined : { ...record, ...changed };
}

function readDataset(
  {
    name = "",
    digest = "",
    source_type = "",
    source = "",
    schema,
    profile,
  }: Values<typeof datasetMembers> | Record<string, undefined>,
  tags: readonly { readonly key?: string; readonly value?: string }[],
): DatasetInput {
  checkLength("name", limits.datasetName, name);
  checkLength("digest", limits.datasetDigest, digest);
  checkLength("source", limits.datasetSource, source);
  checkLength("schema", limits.datasetSchema, schema ?? "");
  checkLength("profile", limits.datasetProfile, profile ?? "");
  const read: Record<string, string> = {};
  for (const { key = "", value = "" } of tags) {
    checkLength("key", limits.inputTagKey, key);
    checkLength("value", limits.inputTagValue, value);
    if (key === "__proto__") throw invalidParameter("An input's tag must not be named __proto__.");
    read[key] = value;
  }
  if (name === "" && digest === "") throw invalidParameter("Dataset input must have a dataset associated with it.");
  return {
    name,
    digest,
    sourceType: source_type,
    source: hidePassword(source),
    ...(schema ? { schema } : {}),
    ...(profile ? { profile } : {}),
    tags: read,
  };
}
