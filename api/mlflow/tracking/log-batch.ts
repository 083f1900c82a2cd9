import type { MetricSeries } from "../../../core/tracking/metric-batch";
import { checkNotMeasured } from "../../../core/tracking/test-metrics";
import { invalidParameter, missingValue } from "../errors";
import { double, type Field, integer, list, message, readDouble, required, text, WrongTypeError } from "../fields";
import { type MlflowOperation, operation } from "../operation";
import { type LoggedMetric, logModelMetrics } from "./model-metrics";
import { requireActiveRun } from "./ports";
import type { KeyValue } from "./run-changes";
import { changeParamsAndTags } from "./run-writes";
import { checkBatchLimits, checkedParam, checkedTag, checkMetric, checkRunId } from "./validation";

/** Parsed without the generic fields, because a request has hundreds of metrics. */
const metricList: Field<readonly LoggedMetric[], readonly LoggedMetric[]> = {
  absent: [],
  read(value, at) {
    if (!Array.isArray(value)) throw new WrongTypeError(at, value);
    const metrics: LoggedMetric[] = new Array(value.length);
    for (let i = 0; i < value.length; i += 1) metrics[i] = readMetric(value[i], at, i);
    return metrics;
  },
  shape: list(
    message({
      ...{ key: text, value: double, timestamp: integer, step: integer },
      ...{ model_id: text, dataset_name: text, dataset_digest: text },
    }),
  ).shape,
};

const optionalMembers = message({ model_id: text, dataset_name: text, dataset_digest: text });

function readMetric(value: unknown, at: string, i: number): LoggedMetric {
  if (value === null || typeof value !== "object") throw new WrongTypeError(`${at}[${i}]`, value);
  const given = value as Readonly<Record<string, unknown>>;
  const { key, timestamp, step } = given;
  if (isMissing(key)) throw missingValue(`${at}[${i}].key`);
  if (isMissing(given["value"])) throw missingValue(`${at}[${i}].value`);
  if (isMissing(timestamp)) throw missingValue(`${at}[${i}].timestamp`);
  const metric = {
    key: typeof key === "string" ? key : text.read(key, `${at}[${i}].key`),
    value: typeof given["value"] === "number" ? given["value"] : readDouble(given["value"], `${at}[${i}].value`),
    timestamp: Number.isSafeInteger(timestamp)
      ? (timestamp as number)
      : integer.read(timestamp, `${at}[${i}].timestamp`),
    step:
      step === undefined || step === null
        ? 0
        : Number.isSafeInteger(step)
          ? (step as number)
          : integer.read(step, `${at}[${i}].step`),
  };
  const ofModel = (given["model_id"] ?? given["modelId"]) !== undefined;
  return ofModel ? { ...metric, ...optionalMembers.read(given, `${at}[${i}]`) } : metric;
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}

function keyValueList(): Field<readonly KeyValue[], readonly KeyValue[]> {
  return {
    absent: [],
    read(value, at) {
      if (!Array.isArray(value)) throw new WrongTypeError(at, value);
      return value.map((one: unknown, i) => {
        const { key, value: said } = pair.read(one, `${at}[${i}]`);
        if (isMissing(key)) throw missingValue(`${at}[${i}].key`);
        return { key: key!, value: said ?? "" };
      });
    },
    shape: list(pair).shape,
  };
}

const pair = message({ key: text, value: text });

export const logBatch: MlflowOperation = operation(
  "POST /mlflow/runs/log-batch",
  { run_id: required(text), metrics: metricList, params: keyValueList(), tags: keyValueList() },
  async ({ fields: { run_id, metrics, params: givenParams, tags: givenTags }, platform }) => {
    checkRunId(run_id);
    for (let i = 0; i < metrics.length; i += 1) checkMetricAt(metrics[i]!, i);
    const params = givenParams.map(({ key, value }, i) => ({ key, value: checkedParam(key, value, `params[${i}].`) }));
    const tags = givenTags.map(({ key, value }, i) => ({ key, value: checkedTag(key, value, `tags[${i}].`) }));
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
    const known = byKey.get(metric.key);
    if (known) known.push(metric);
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
