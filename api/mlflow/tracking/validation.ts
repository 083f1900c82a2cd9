import { invalidParameter, invalidValue } from "../errors";
import { isLongerThan, problemOfName, truncated } from "../names";

/** Limits of `mlflow/utils/validation.py`; lengths in code points. */
export const limits = {
  metricsPerBatch: 1000,
  paramsPerBatch: 100,
  tagsPerBatch: 100,
  entitiesPerBatch: 1000,
  key: 250,
  paramValue: 6000,
  tagValue: 8000,
  experimentName: 500,
  experimentTagValue: 20_000,
  artifactLocation: 2048,
  datasetName: 500,
  datasetDigest: 36,
  datasetSource: 65_535,
  datasetSchema: 1_048_575,
  datasetProfile: 16_777_215,
  inputTagKey: 255,
  inputTagValue: 500,
} as const;

export function checkLength(what: string, limit: number, value: string): void {
  if (isLongerThan(value, limit)) throw invalidParameter(`'${what}' exceeds the maximum length of ${limit} characters`);
}

function checkName(name: string, path: string): void {
  const problem = problemOfName(name);
  if (problem !== undefined) throw invalidValue(path, name, problem);
}

/** @param at path of the metric: `metrics[3].`, or empty for a single one @throws MlflowError */
export function checkMetric(key: string, timestamp: number, at: string): void {
  checkName(key, `${at}name`);
  if (timestamp < 0) {
    throw invalidValue(`${at}timestamp`, timestamp, `the timestamp of metric '${key}' must not be negative`);
  }
  checkLength("Metric name", limits.key, key);
}

/** A longer value is truncated, as by MLflow's server. @throws MlflowError */
export function checkedParam(key: string, value: string, at: string): string {
  checkName(key, `${at}key`);
  checkLength("Param key", limits.key, key);
  return truncated(value, limits.paramValue);
}

export function checkedTag(key: string, value: string, at: string): string {
  checkName(key, `${at}key`);
  checkLength(`${at}key`, limits.key, key);
  return truncated(value, limits.tagValue);
}

export function checkExperimentTag(key: string, value: string): void {
  checkName(key, "key");
  checkLength("key", limits.key, key);
  checkLength("value", limits.experimentTagValue, value);
}

export function checkExperimentName(name: string): void {
  if (name === "") throw invalidParameter("Invalid experiment name: ''");
  checkLength("name", limits.experimentName, name);
}

export function checkRunId(runId: string): void {
  if (!/^[a-zA-Z0-9][\w-]{0,255}$/.test(runId)) {
    throw invalidValue("run_id", runId, "is not the id of a run");
  }
}

export function checkBatchLimits(metrics: number, params: number, tags: number): void {
  const check = (what: string, limit: number, length: number): void => {
    if (length > limit) {
      throw invalidParameter(`A batch logging request can contain at most ${limit} ${what}. Got ${length}.`);
    }
  };
  check("metrics", limits.metricsPerBatch, metrics);
  check("params", limits.paramsPerBatch, params);
  check("tags", limits.tagsPerBatch, tags);
  check("metrics, params, and tags", limits.entitiesPerBatch, metrics + params + tags);
}
