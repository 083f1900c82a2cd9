import type { Platform } from "../../../adapters/platform";
import { parseJson } from "../../../core/json-text";
import { parentsIn, withMlflowTag, withoutMlflowTag } from "../../../core/tracking/member-tags";
import type { ParamConflict } from "../../../core/tracking/records/errors";
import { checkReferences } from "../../../core/tracking/references";
import { checkNotMeasured } from "../../../core/tracking/test-metrics";
import { doesNotExist, invalidParameter } from "../errors";
import { double, integer, required, text } from "../fields";
import { type MlflowOperation, operation } from "../operation";
import { logModelMetrics } from "./model-metrics";
import { changeActiveRun, requireActiveRun } from "./ports";
import { type KeyValue, unlessSame, withParamsAndTags } from "./run-changes";
import { runId } from "./runs";
import { checkedParam, checkedTag, checkMetric } from "./validation";

export const runWriteOperations: readonly MlflowOperation[] = [
  operation(
    "POST /mlflow/runs/log-metric",
    {
      run_id: runId,
      key: required(text),
      value: required(double),
      timestamp: required(integer),
      step: integer,
      model_id: text,
      dataset_name: text,
      dataset_digest: text,
    },
    async ({ fields, platform }) => {
      const { run_id, key, value, timestamp, step = 0 } = fields;
      checkMetric(key, timestamp, "");
      const run = await requireActiveRun(platform, run_id);
      checkNotMeasured(run, [key]);
      if (fields.model_id) await logModelMetrics(platform, run, [{ ...fields, step }]);
      await platform.metrics.append(run_id, [{ metric: key, steps: [step], values: [value], times: [timestamp] }]);
      return {};
    },
  ),

  operation(
    "POST /mlflow/runs/log-parameter",
    { run_id: runId, key: required(text), value: text },
    async ({ fields: { run_id, key, value = "" }, platform }) => {
      await changeParamsAndTags(platform, run_id, [{ key, value: checkedParam(key, value, "") }], []);
      return {};
    },
  ),

  operation(
    "POST /mlflow/runs/set-tag",
    { run_id: runId, key: required(text), value: text },
    async ({ fields: { run_id, key, value = "" }, platform }) => {
      await changeParamsAndTags(platform, run_id, [], [{ key, value: checkedTag(key, value, "") }]);
      return {};
    },
  ),

  operation(
    "POST /mlflow/runs/delete-tag",
    { run_id: required(text), key: required(text) },
    async ({ fields: { run_id, key }, platform }) => {
      await changeActiveRun(platform, run_id, (before) => {
        const without = withoutMlflowTag(before, key);
        if (!without) throw doesNotExist(`No tag with name: ${key} in run with id ${run_id}`);
        return unlessSame(before, without);
      });
      return {};
    },
  ),

  operation(
    "POST /mlflow/runs/log-model",
    { run_id: required(text), model_json: required(text) },
    async ({ fields: { run_id, model_json }, platform }) => {
      const model = parseModel(model_json);
      await changeActiveRun(platform, run_id, (before) => {
        const known = modelsOf(before.tags[modelsTag]);
        const same = JSON.stringify(model);
        if (known.some((one) => JSON.stringify(one) === same)) return undefined;
        return withMlflowTag(before, modelsTag, JSON.stringify([...known, model]));
      });
      return {};
    },
  ),
];

/** The tag in which clients of MLflow 2 record the models of a run. */
const modelsTag = "mlflow.log-model.history";
const modelMembers = ["artifact_path", "flavors", "utc_time_created", "run_id"] as const;

/** Parses the tag. A client may have set any value. A value that is not a list is refused, not discarded. */
function modelsOf(tag: string | undefined): readonly unknown[] {
  let known: unknown;
  try {
    known = parseJson(tag ?? "[]");
  } catch {}
  if (!Array.isArray(known)) throw invalidParameter(`Tag '${modelsTag}' of the run is no JSON list: delete it first.`);
  return known;
}

function parseModel(json: string): object {
  let model: unknown;
  try {
    model = parseJson(json);
  } catch {}
  if (model === null || typeof model !== "object" || Array.isArray(model)) {
    throw invalidParameter(`Malformed model info: ${json.slice(0, 500)} is not a JSON object`);
  }
  const lacking = modelMembers.filter((member) => !Object.hasOwn(model, member));
  if (lacking.length > 0) {
    throw invalidParameter(`Model json is missing mandatory fields: ${lacking.join(", ")}`);
  }
  return model;
}

/**
 * Writes params and tags together, or nothing if a param would change.
 *
 * @throws MlflowError
 */
export async function changeParamsAndTags(
  platform: Platform,
  id: string,
  params: readonly KeyValue[],
  tags: readonly KeyValue[],
): Promise<void> {
  await checkReferences(platform, { runs: parentsIn(tags) });
  await changeActiveRun(platform, id, (before) =>
    unlessSame(
      before,
      withParamsAndTags(before, params, tags, (conflicts) => paramsChanged(id, conflicts)),
    ),
  );
}

function paramsChanged(id: string, conflicts: readonly ParamConflict[]): Error {
  const shown = conflicts.map(
    ({ key, known, given }) => `${JSON.stringify(key)} is ${JSON.stringify(known)}, not ${JSON.stringify(given)}`,
  );
  return invalidParameter(`Changing param values is not allowed. Param of run ${id}: ${shown.join("; ")}`);
}
