import { createHash, randomUUID } from "node:crypto";
import type { Platform } from "../../../adapters/platform";
import { submittersOf } from "../../../core/access/principals";
import { isoTime } from "../../../core/ports";
import { idempotencyConflict } from "../../../core/runs/errors";
import { parentsIn, withMlflowTag } from "../../../core/tracking/member-tags";
import { checkReferences } from "../../../core/tracking/references";
import type { Lifecycle, RunRecord } from "../../../core/tracking/shapes";
import { readIdempotencyKey } from "../../http/input";
import { invalidParameter } from "../errors";
import { integer, list, oneOf, required, text } from "../fields";
import { randomName } from "../names";
import { type MlflowOperation, operation } from "../operation";
import { keyValue, locationWithin } from "./experiments";
import { changeActiveRun, checkExperimentIsActive, findExperiment, findRun, identifyRun } from "./ports";
import { unlessSame } from "./run-changes";
import { newRunView, runInfoView, runView, statusFromMlflow } from "./run-view";

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
      const made = await platform.records.create(record, { requestDigest: digest });
      if (!made.created && made.requestDigest !== digest) throw idempotencyConflict(key!);
      return { run: newRunView(made.record) };
    },
  ),

  operation("GET /mlflow/runs/get", { run_id: runId }, async ({ fields, platform }) => {
    await identifyRun(platform, fields.run_id);
    const [record, metrics] = await Promise.all([
      findRun(platform, fields.run_id),
      platform.metrics.summariesOf([fields.run_id]),
    ]);
    return { run: runView(record, metrics.get(fields.run_id) ?? []) };
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
        const known = fields.status ? statusFromMlflow(fields.status) : named.status;
        if (named === before && known === before.status && ended === before.endedAt) return undefined;
        return { ...named, status: known, ...(ended === undefined ? {} : { endedAt: ended }) };
      });
      return { run_info: runInfoView(changed) };
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

/** Derives a run's id from an idempotency key. */
function runIdOfKey(team: string, key: string): string {
  return createHash("sha256").update(`mlflow-run\n${team}\n${key}`).digest("hex").slice(0, 32);
}
