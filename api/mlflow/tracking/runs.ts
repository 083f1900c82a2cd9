import { createHash, randomUUID } from "node:crypto";
import type { Platform } from "../../../adapters/platform";
import { submittersOf } from "../../../core/access/principals";
import { parseJson } from "../../../core/json-text";
import { isoTime } from "../../../core/ports";
import { idempotencyConflict } from "../../../core/runs/errors";
import { parentsIn, withMlflowTag, withoutMlflowTag } from "../../../core/tracking/member-tags";
import type { ParamConflict } from "../../../core/tracking/records/errors";
import { checkReferences } from "../../../core/tracking/references";
import type { Lifecycle, RunRecord } from "../../../core/tracking/shapes";
import { checkNotMeasured } from "../../../core/tracking/test-metrics";
import { readIdempotencyKey } from "../../http/input";
import { doesNotExist, invalidParameter } from "../errors";
import { double, integer, keyValue, list, oneOf, required, text } from "../fields";
import { randomName } from "../names";
import { type MlflowOperation, operation } from "../operation";
import { locationWithin } from "./experiments";
import { newRunMessage, runInfoMessage, runMessage, statusFromMlflow } from "./messages";
import { logModelMetrics } from "./model-metrics";
import {
  changeActiveRun,
  checkExperimentIsActive,
  findExperiment,
  findRun,
  identifyRun,
  requireActiveRun,
} from "./ports";
import { checkedParam, checkedTag, checkMetric } from "./validation";

export interface KeyValue {
  readonly key: string;
  readonly value: string;
}

/**
 * Adds params and tags; returns the same record if nothing changes. @throws `refuse`'s error if a param would change
 */
export function withParamsAndTags(
  record: RunRecord,
  params: readonly KeyValue[],
  tags: readonly KeyValue[],
  refuse: (conflicts: readonly ParamConflict[]) => Error,
): RunRecord {
  const conflicts: ParamConflict[] = [];
  const added: Record<string, string> = {};
  for (const { key, value } of params) {
    if (!Object.hasOwn(record.params, key)) added[key] = value;
    else if (record.params[key] !== value) conflicts.push({ key, known: record.params[key]!, given: value });
  }
  if (conflicts.length > 0) throw refuse(conflicts);
  const withParams = Object.keys(added).length === 0 ? record : { ...record, params: { ...record.params, ...added } };
  return tags.reduce((changed, { key, value }) => withMlflowTag(changed, key, value), withParams);
}

/** Returns `undefined` if there is nothing to write. */
function unlessSame(before: RunRecord, after: RunRecord): RunRecord | undefined {
  return after === before ? undefined : after;
}

/** The id of a run; `run_uuid` is its name in MLflow 1.0. */
export const runId = { ...required(text), alias: "run_uuid" };
const status = oneOf({ RUNNING: 1, SCHEDULED: 2, FINISHED: 3, FAILED: 4, KILLED: 5 });

export const runOperations: readonly MlflowOperation[] = [
  operation(
    "POST /mlflow/runs/create",
    { experiment_id: text, user_id: text, run_name: text, start_time: integer, tags: list(keyValue) },
    async ({ fields, platform, actor, caller, context }) => {
      const experiment = await findExperiment(platform, fields.experiment_id ?? "", "findRecent");
      checkExperimentIsActive(experiment);
      const tagged = fields.tags.findLast(({ key }) => key === "mlflow.runName")?.value;
      if (fields.run_name && tagged && fields.run_name !== tagged) {
        throw invalidParameter(
          `Both 'run_name' argument and 'mlflow.runName' tag are specified, but with different values (run_name='${fields.run_name}', mlflow.runName='${tagged}').`,
        );
      }
      await checkReferences(platform, { runs: parentsIn(fields.tags) });
      const key = readIdempotencyKey(context);
      const id = key === undefined ? randomUUID().replaceAll("-", "") : runIdOfKey(platform.team, key);
      const blank: RunRecord = {
        runId: id,
        team: platform.team,
        experimentId: experiment.experimentId,
        source: "logged",
        name: fields.run_name || tagged || randomName(Math.random),
        status: "running",
        lifecycle: "active",
        createdBy: fields.user_id || actor,
        ...submittersOf(caller),
        startedAt: fields.start_time ?? platform.clock.now(),
        params: {},
        tags: {},
        notes: "",
        datasets: [],
        modelInputs: [],
        modelOutputs: [],
        code: {},
        environment: {},
        artifactUri: locationWithin(experiment, id, "artifacts"),
        revision: 0,
      };
      const record = fields.tags.reduce(
        (made, { key: tag = "", value = "" }) => (tag === "mlflow.runName" ? made : withMlflowTag(made, tag, value)),
        blank,
      );
      const digest = key && createHash("sha256").update(JSON.stringify(fields)).digest("hex");
      const creation = await platform.records.create(record, { requestDigest: digest });
      if (!creation.created && creation.requestDigest !== digest) throw idempotencyConflict(key!);
      return { run: newRunMessage(creation.record) };
    },
  ),

  operation("GET /mlflow/runs/get", { run_id: runId }, async ({ fields, platform }) => {
    await identifyRun(platform, fields.run_id);
    const [record, metrics] = await Promise.all([
      findRun(platform, fields.run_id),
      platform.metrics.summariesOf([fields.run_id]),
    ]);
    return { run: runMessage(record, metrics.get(fields.run_id) ?? []) };
  }),

  operation(
    "POST /mlflow/runs/update",
    { run_id: runId, status, end_time: integer, run_name: text },
    async ({ fields, platform }) => {
      const changed = await changeActiveRun(platform, fields.run_id, (before) => {
        const named = fields.run_name ? withMlflowTag(before, "mlflow.runName", fields.run_name) : before;
        // A run that is trained here sets its status itself. A client that adds to it does not change the status.
        if (before.source === "training") return unlessSame(before, named);
        const ended = fields.end_time ?? named.endedAt;
        const newStatus = fields.status ? statusFromMlflow(fields.status) : named.status;
        if (named === before && newStatus === before.status && ended === before.endedAt) return undefined;
        return { ...named, status: newStatus, endedAt: ended };
      });
      return { run_info: runInfoMessage(changed) };
    },
  ),

  ...(["delete", "restore"] as const).map((verb) =>
    operation(`POST /mlflow/runs/${verb}`, { run_id: required(text) }, async ({ fields, platform }) => {
      await setRunLifecycle(platform, fields.run_id, verb === "delete" ? "deleted" : "active");
      return {};
    }),
  ),
];

async function setRunLifecycle(platform: Platform, id: string, lifecycle: Lifecycle): Promise<void> {
  await identifyRun(platform, id);
  await platform.records.change(id, ({ deletedAt, ...record }) => {
    if (record.lifecycle === lifecycle) return undefined;
    return { ...record, lifecycle, ...(lifecycle === "deleted" ? { deletedAt: isoTime(platform.clock) } : {}) };
  });
}

function runIdOfKey(team: string, key: string): string {
  return createHash("sha256").update(`mlflow-run\n${team}\n${key}`).digest("hex").slice(0, 32);
}

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
        const models = modelsOf(before.tags[modelsTag]);
        const same = JSON.stringify(model);
        if (models.some((one) => JSON.stringify(one) === same)) return undefined;
        return withMlflowTag(before, modelsTag, JSON.stringify([...models, model]));
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
  let models: unknown;
  try {
    models = parseJson(tag ?? "[]");
  } catch {}
  if (!Array.isArray(models)) throw invalidParameter(`Tag '${modelsTag}' of the run is no JSON list: delete it first.`);
  return models;
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

/** Writes params and tags together, or nothing if a param would change. @throws MlflowError */
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
