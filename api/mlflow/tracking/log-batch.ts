import { checkModelNames } from "../../../core/tracking/artifacts";
import type { MetricSeries } from "../../../core/tracking/metric-store";
import { checkReferences } from "../../../core/tracking/references";
import type { DatasetInput, RunRecord } from "../../../core/tracking/shapes";
import { checkNotMeasured } from "../../../core/tracking/test-metrics";
import { hidePassword } from "../../../core/url-password";
import { invalidParameter } from "../errors";
import { double, integer, keyValue, list, message, required, text, type Values } from "../fields";
import { type MlflowOperation, operation } from "../operation";
import { type LoggedMetric, logModelMetrics } from "./model-metrics";
import { changeActiveRun, requireActiveRun } from "./ports";
import { changeParamsAndTags, type KeyValue } from "./runs";
import { checkBatchLimits, checkedParam, checkedTag, checkLength, checkMetric, checkRunId, limits } from "./validation";

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

const loggedMetric = message({
  ...{ key: required(text), value: required(double), timestamp: required(integer), step: integer },
  ...{ model_id: text, dataset_name: text, dataset_digest: text },
});
const pair = message({ key: required(text), value: text });

export const logBatch: MlflowOperation = operation(
  "POST /mlflow/runs/log-batch",
  { run_id: required(text), metrics: list(loggedMetric), params: list(pair), tags: list(pair) },
  async ({ fields: { run_id, params: givenParams, tags: givenTags, ...fields }, platform }) => {
    checkRunId(run_id);
    const metrics = fields.metrics.map((metric) => ({ ...metric, step: metric.step ?? 0 }));
    for (let i = 0; i < metrics.length; i += 1) checkMetricAt(metrics[i]!, i);
    const params = givenParams.map(({ key, value = "" }, i) => ({
      key,
      value: checkedParam(key, value, `params[${i}].`),
    }));
    const tags = givenTags.map(({ key, value = "" }, i) => ({ key, value: checkedTag(key, value, `tags[${i}].`) }));
    checkBatchLimits(metrics.length, params.length, tags.length);
    checkParamsUnique(params);

    const run = await requireActiveRun(platform, run_id);
    checkNotMeasured(run, new Set(metrics.map(({ key }) => key)));
    if (params.length + tags.length > 0) await changeParamsAndTags(platform, run_id, params, tags);
    if (metrics.length > 0) await platform.metrics.append(run_id, seriesOf(metrics));
    const ofModels = metrics.filter(({ model_id }) => model_id);
    if (ofModels.length > 0) await logModelMetrics(platform, run, ofModels);
    return {};
  },
);

/** Builds the path only for a refused metric. */
function checkMetricAt({ key, timestamp }: LoggedMetric, i: number): void {
  try {
    checkMetric(key, timestamp, "");
  } catch {
    checkMetric(key, timestamp, `metrics[${i}].`);
  }
}

function checkParamsUnique(params: readonly KeyValue[]): void {
  const keys = params.map(({ key }) => key);
  if (new Set(keys).size === keys.length) return;
  const twice = keys.filter((key, i) => keys.indexOf(key) !== i);
  throw invalidParameter(`Duplicate parameter keys have been submitted: ${JSON.stringify(twice)}`);
}

/** Groups points by metric, ascending by step, time and value, without duplicates. */
export function seriesOf(metrics: readonly LoggedMetric[]): readonly MetricSeries[] {
  const byKey = new Map<string, LoggedMetric[]>();
  for (const metric of metrics) {
    const group = byKey.get(metric.key);
    if (group) group.push(metric);
    else byKey.set(metric.key, [metric]);
  }
  const series: MetricSeries[] = [];
  for (const [metric, points] of byKey) {
    if (points.length > 1) points.sort(inOrder);
    const unique =
      points.length > 1 ? points.filter((point, i) => i === 0 || inOrder(points[i - 1]!, point) !== 0) : points;
    series.push({
      metric,
      steps: unique.map(({ step }) => step),
      values: unique.map(({ value }) => value),
      times: unique.map(({ timestamp }) => timestamp),
    });
  }
  return series;
}

function inOrder(a: LoggedMetric, b: LoggedMetric): number {
  return a.step - b.step || a.timestamp - b.timestamp || compareValues(a.value, b.value);
}

/** Compares two values; NaN comes last and equals itself. */
function compareValues(a: number, b: number): number {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  return a < b ? -1 : a > b ? 1 : 0;
}
