import { createHash } from "node:crypto";
import type { Platform } from "../../adapters/platform";
import { setNotifications } from "../../api/routes/notifications";
import { takeInboxFile } from "../../core/datasets/inbox/take-file";
import type { DatasetDraft } from "../../core/datasets/shapes";
import type { ModelArtifact } from "../../core/evaluation/model-artifact";
import type { BatchDraft } from "../../core/feature-store/shapes";
import { deliverEvent } from "../../core/notifications/deliver";
import { eventTypes } from "../../core/notifications/shapes";
import { objectKeys } from "../../core/object-keys";
import { storeArtifact } from "../../core/registry/artifact";
import { answeredCheck, pendingCheck } from "../../core/registry/gates/external-check";
import { setPolicy } from "../../core/registry/lifecycle";
import { noRules } from "../../core/registry/policy";
import { decideApproval, promote, recordGate } from "../../core/registry/transitions";
import { createRule } from "../../core/retraining/lifecycle";
import { ruleDefinitionSchema } from "../../core/retraining/rule";
import { checkpointFormat } from "../../core/training/checkpoint/manifest";
import { createStudy } from "../../core/tuning/lifecycle";
import { studyDefinitionSchema } from "../../core/tuning/study";
import { jobInput, numerics, registerTestDataset, runOf } from "../support/fixtures";
import { createMeasuredMonitor } from "../support/measured-monitor";
import { createStoredView, fileOf, spendView } from "../support/stored-view";

/** One team's things, by the names that a request gives; or names of nothing at all. */
export interface Things {
  readonly runId: string;
  readonly experimentId: string;
  readonly dataset: string;
  readonly model: string;
  readonly content: string;
  readonly rule: string;
  readonly monitor: string;
  readonly study: string;
  readonly view: string;
  /** Rows of the view. */
  readonly batch: BatchDraft;
  /** Report of a file that was put into the inbox and refused. */
  readonly report: string;
  readonly draft: DatasetDraft;
}

export interface Case {
  readonly body?: (things: Things) => unknown;
  /** The owner's response. The case would show nothing if the request failed for the owner too. */
  readonly owner: number | ((body: never) => void);
  /**
   * The other team's response: `absent`, 404 as for missing things; a refusal because of its own state; or a response
   * without the owner's things.
   */
  readonly other: "absent" | { readonly refused: string } | ((body: never, things: Things) => void);
}

const at = "2026-01-01T00:00:00.000Z";
const by = { by: "test", at };
const absent = { owner: 200, other: "absent" } as const;
const empty = (list: string, itemsOf: (things: Things) => string): Case => ({
  owner: (body: Record<string, readonly unknown[]>) => expect(body[list]!.length).toBeGreaterThan(0),
  other: (body: Record<string, readonly unknown[]>, things) => {
    expect(body[list]).toEqual([]);
    expect(JSON.stringify(body)).not.toContain(itemsOf(things));
  },
});
function ruleOf({ rule, dataset }: Pick<Things, "rule" | "dataset">) {
  return { name: rule, trigger: { type: "dataset", dataset }, job: jobInput({ dataset, evaluation: {} }) };
}
const violation = {
  ...{ rule: "rowCount", index: 0, severity: "block", columns: [], requirement: "must have rows" },
  ...{ status: "violated", measured: 0, samples: [] },
};
const servedReport = {
  version: 1,
  rows: [{ unit: "user-17", at: "2026-01-01T00:00:00.000Z", row: { x: 1 }, prediction: 1 }],
};
const everyone: Case = { owner: 200, other: () => undefined };

/**
 * Every route of the API. A new one needs a line here that says how it keeps teams apart; without one the test fails. In the order in which the
 * owner makes the calls.
 */
export const cases: Readonly<Record<string, Case>> = {
  "GET /api/v1/health": everyone,
  "GET /api/v1/openapi.json": everyone,
  "GET /api/v1/docs": everyone,

  "GET /api/v1/training-runs": empty("runs", ({ runId }) => runId),
  "GET /api/v1/training-runs/:runId": absent,
  "GET /api/v1/training-runs/:runId/checkpoints": absent,
  "GET /api/v1/training-runs/:runId/metrics": absent,
  "GET /api/v1/training-runs/:runId/logs": absent,
  "POST /api/v1/training-runs": {
    body: ({ dataset }) => ({ job: jobInput({ dataset }) }),
    owner: 201,
    other: "absent",
  },
  "POST /api/v1/training-runs/:runId/checkpoints/:epoch/restore": { body: () => ({}), owner: 201, other: "absent" },
  // It has not trained, which only its owner can see.
  "POST /api/v1/training-runs/:runId/reproduce": { owner: 409, other: "absent" },
  "GET /api/v1/training-runs/:runId/reproduction": { owner: 409, other: "absent" },
  // It is not paused and has not completed, which only its owner can see.
  "POST /api/v1/training-runs/:runId/resume": { owner: 409, other: "absent" },
  "POST /api/v1/training-runs/:runId/register": { body: () => ({ model: "its-model" }), owner: 409, other: "absent" },
  "POST /api/v1/training-runs/:runId/cancel": absent,

  "GET /api/v1/experiments": {
    owner: (body: { experiments: readonly unknown[] }) => expect(body.experiments.length).toBeGreaterThan(1),
    other: (body: { experiments: readonly { name: string }[] }) => {
      expect(JSON.stringify(body)).not.toContain("its-experiment");
    },
  },
  "GET /api/v1/experiments/:experimentId": absent,
  "GET /api/v1/experiments/:experimentId/export": absent,
  "GET /api/v1/experiments/:experimentId/runs": absent,
  "GET /api/v1/experiments/:experimentId/runs/:runId": absent,
  "PATCH /api/v1/experiments/:experimentId": { ...absent, body: () => ({ tags: { seen: "yes" } }) },
  // Each team has its own names.
  "POST /api/v1/experiments": {
    body: () => ({ name: "another experiment" }),
    owner: 201,
    other: (body: { experiment: { team: string } }) => expect(body.experiment.team).toBe("blue"),
  },
  "POST /api/v1/runs": { body: ({ experimentId }) => ({ experimentId }), owner: 201, other: "absent" },
  "GET /api/v1/runs/:runId": absent,
  "PATCH /api/v1/runs/:runId": { ...absent, body: () => ({ notes: "seen" }) },
  "POST /api/v1/runs/:runId/params": { ...absent, body: () => ({ params: { seen: "yes" } }) },
  "POST /api/v1/runs/:runId/metrics": {
    ...absent,
    body: () => ({ series: [{ metric: "seen", steps: [1], values: [1] }] }),
  },
  "GET /api/v1/runs/:runId/metrics": absent,
  "GET /api/v1/runs/:runId/metrics/history": absent,
  "GET /api/v1/runs/:runId/artifacts": absent,
  "POST /api/v1/runs/:runId/artifacts": {
    ...absent,
    body: ({ content }) => ({ artifacts: [{ path: "its/file.txt", sha256: content }] }),
  },
  "GET /api/v1/runs/:runId/artifacts/content": absent,
  "POST /api/v1/runs/compare": { ...absent, body: ({ runId }) => ({ runs: [runId] }) },
  "POST /api/v1/runs/search": {
    body: () => ({ view: "all" }),
    owner: (body: { runs: readonly unknown[] }) => expect(body.runs.length).toBeGreaterThan(0),
    other: (body: { runs: readonly unknown[] }, { runId }) => expect(JSON.stringify(body)).not.toContain(runId),
  },
  "GET /api/v1/pages/experiments": {
    owner: (body: { text: string }) => expect(body.text).toContain("its-experiment"),
    other: (body: { text: string }) => expect(body.text).not.toContain("its-experiment"),
  },
  "GET /api/v1/pages/experiments/:experimentId": absent,
  "GET /api/v1/pages/runs/:runId": absent,
  "GET /api/v1/pages/studies/:study": absent,
  "GET /api/v1/pages/runs/:runId/artifact": { owner: 307, other: "absent" },
  "GET /api/v1/pages/runs/:runId/register": absent,
  // The request has no header of a browser, which is checked after the run is found.
  "POST /api/v1/pages/runs/:runId/register": { owner: 403, other: "absent" },
  "GET /api/v1/pages/compare": absent,
  "DELETE /api/v1/runs/:runId": absent,
  "POST /api/v1/runs/:runId/restore": absent,

  "GET /api/v1/datasets": empty("items", ({ dataset }) => dataset),
  "GET /api/v1/datasets/:name": absent,
  "GET /api/v1/datasets/:name/versions": absent,
  "GET /api/v1/datasets/:name/versions/:version": absent,
  "GET /api/v1/datasets/:name/versions/:version/lineage": absent,
  // The same data are a version where the content was uploaded, and only there.
  // A contract may be set before the first version; each team has its own.
  "PUT /api/v1/datasets/:name/contract": {
    body: () => ({ contract: { rules: [{ rule: "rowCount", minimum: 1 }] }, ifRevision: 1 }),
    owner: 200,
    other: { refused: "DATA_CONTRACT_CHANGED" },
  },
  "GET /api/v1/datasets/:name/contract": absent,
  "GET /api/v1/datasets/:name/contract/revisions": empty("items", ({ dataset }) => dataset),
  "POST /api/v1/datasets/:name/contract/blocked": {
    body: ({ draft }) => ({ revision: 1, digest: draft.digest, at, rows: 3, violations: [violation] }),
    owner: 200,
    other: "absent",
  },
  "POST /api/v1/datasets/:name/versions": {
    body: ({ draft }) => ({ draft }),
    owner: 200,
    other: { refused: "INVALID_DATASET_MANIFEST" },
  },

  "GET /api/v1/inbox": empty("items", ({ report }) => report),
  "POST /api/v1/inbox/:id/retry": absent,

  "POST /api/v1/uploads": {
    body: ({ content }) => ({ contents: [{ sha256: content, bytes: 3 }] }),
    owner: ({ missing }: { missing: unknown[] }) => expect(missing).toEqual([]),
    // The response does not reveal that another team has the same content.
    other: ({ missing }: { missing: { sha256: string; url: string }[] }, { content }) => {
      expect(missing.map(({ sha256 }) => sha256)).toEqual([content]);
      expect(new URL(missing[0]!.url).pathname).toContain("/teams/blue/cas/");
    },
  },
  "GET /api/v1/contents/:sha256": absent,
  "GET /api/v1/contents/:sha256/lineage": absent,

  "GET /api/v1/models": {
    owner: 200,
    other: ({ models }: { models: readonly unknown[] }) => expect(models).toEqual([]),
  },
  // Each team has its own names.
  "POST /api/v1/models": {
    body: () => ({ name: "another model" }),
    owner: 201,
    other: (body: { model: { team: string } }) => expect(body.model.team).toBe("blue"),
  },
  "POST /api/v1/models/register": {
    body: () => ({ name: "another model", source: "s3://elsewhere/1" }),
    owner: 201,
    other: (body: { version: { version: number } }) => expect(body.version.version).toBe(1),
  },
  "GET /api/v1/models/:name": absent,
  "GET /api/v1/models/:name/history": absent,
  "GET /api/v1/models/:name/production": absent,
  "GET /api/v1/models/:name/versions/:version": absent,
  "GET /api/v1/models/:name/versions/:version/artifact": absent,
  "POST /api/v1/models/:name/versions/:version/approval-requests": { ...absent, body: () => ({}) },
  "POST /api/v1/models/:name/versions/:version/approvals": { ...absent, body: () => ({ decision: "approved" }) },
  "PUT /api/v1/models/:name/versions/:version/stage": { ...absent, body: () => ({ stage: "production" }) },
  "POST /api/v1/models/:name/rollback": { ...absent, body: () => ({}) },
  "PUT /api/v1/models/:name/description": { ...absent, body: () => ({ description: "seen" }) },
  "PUT /api/v1/models/:name/tags": { ...absent, body: () => ({ key: "seen", value: "yes" }) },
  "DELETE /api/v1/models/:name/tags": absent,
  "PUT /api/v1/models/:name/aliases/:alias": { ...absent, body: () => ({ version: 3 }) },
  "GET /api/v1/models/:name/aliases/:alias": absent,
  "DELETE /api/v1/models/:name/aliases/:alias": absent,
  "GET /api/v1/models/:name/policy": absent,
  "PUT /api/v1/models/:name/versions/:version/semver": { ...absent, body: () => ({ semver: "1.0.0" }) },
  "PUT /api/v1/models/:name/versions/:version/description": { ...absent, body: () => ({ description: "seen" }) },
  "PUT /api/v1/models/:name/versions/:version/tags": { ...absent, body: () => ({ key: "seen", value: "yes" }) },
  "DELETE /api/v1/models/:name/versions/:version/tags": absent,
  "POST /api/v1/models/:name/versions/:version/judge": absent,
  "DELETE /api/v1/models/:name/versions/:version": absent,
  "POST /api/v1/models/:name/versions/:version/restore": { ...absent, body: () => ({}) },
  // It is in production, which only its owner can see.
  "DELETE /api/v1/models/:name": { owner: 409, other: "absent" },
  "POST /api/v1/models/:name/restore": { ...absent, body: () => ({}) },
  "GET /api/v1/models/:name/versions/:version/report": {
    owner: (body: { model: string }) => expect(body.model).toBe("its-model"),
    other: "absent",
  },
  "POST /api/v1/models/:name/versions/:version/checks/:check": { ...absent, body: () => ({ passed: true }) },
  "GET /api/v1/models/:name/checks/:check/key": absent,

  "GET /api/v1/models/:name/traffic": absent,
  "PUT /api/v1/models/:name/traffic": { ...absent, body: () => ({ reason: "only the champion" }) },
  "POST /api/v1/models/:name/route": { ...absent, body: () => ({ units: ["user-17"] }) },
  "POST /api/v1/models/:name/outcomes": {
    ...absent,
    body: () => ({ epoch: 0, outcomes: [{ unit: "user-17", value: 1 }] }),
  },
  // It has no canary, which only its owner can see.
  "POST /api/v1/models/:name/traffic/decision": { owner: 409, other: "absent" },
  "POST /api/v1/models/:name/versions/:version/shadow": {
    ...absent,
    body: () => ({ observations: [{ unit: "user-17", served: 1, shadow: 2 }] }),
  },
  "GET /api/v1/models/:name/versions/:version/shadow": absent,
  "POST /api/v1/models/:name/served": { ...absent, body: () => servedReport },
  "GET /api/v1/models/:name/versions/:version/served": absent,
  "POST /api/v1/monitors": {
    body: ({ model }) => ({ name: "another-monitor", target: { type: "model", model } }),
    owner: 201,
    other: "absent",
  },
  "GET /api/v1/monitors": empty("items", ({ monitor }) => monitor),
  "GET /api/v1/monitors/:monitor": absent,
  "GET /api/v1/monitors/:monitor/windows": absent,
  "GET /api/v1/monitors/:monitor/windows/:window": absent,
  "GET /api/v1/pages/monitors/:monitor": absent,
  "GET /api/v1/pages/monitors/:monitor/windows/:window": absent,
  "DELETE /api/v1/monitors/:monitor": absent,

  "GET /api/v1/feature-views": {
    owner: 200,
    // Its own view, which it has registered below.
    other: (body, { view }) => expect(JSON.stringify(body)).not.toContain(view),
  },
  "GET /api/v1/feature-views/:view": absent,
  "GET /api/v1/feature-views/:view/versions": absent,
  "GET /api/v1/feature-views/:view/uses": absent,
  "GET /api/v1/feature-views/:view/versions/:version": absent,
  "POST /api/v1/feature-views/:view/batches": { ...absent, body: ({ batch }) => batch },
  "GET /api/v1/feature-views/:view/batches": absent,
  "POST /api/v1/feature-views/:view/materializations": { owner: 202, other: "absent" },
  "POST /api/v1/feature-views/:view/rows": {
    body: () => ({ rows: [{ customer: 1, at: "2026-01-01T00:00:00.000Z" }] }),
    owner: 202,
    other: "absent",
  },
  "POST /api/v1/online-features": {
    ...absent,
    body: ({ view }) => ({ views: [view], entities: [{ customer: 1 }] }),
  },
  "POST /api/v1/feature-views": {
    body: () => ({ definition: { ...spendView, name: "another-view" } }),
    owner: 201,
    other: (body: { version: { version: number } }) => expect(body.version.version).toBe(1),
  },

  // It has no weights, which only its owner can see.
  "POST /api/v1/models/:name/versions/:version/exports": {
    body: () => ({ format: "onnx" }),
    owner: 409,
    other: "absent",
  },
  "GET /api/v1/models/:name/versions/:version/exports": absent,
  "GET /api/v1/models/:name/versions/:version/lineage": absent,

  "PUT /api/v1/models/:name/policy": { ...absent, body: () => ({ approvals: { required: 2 } }) },

  "GET /api/v1/notifications": {
    owner: (body: { settings: { url: string } }) => expect(body.settings.url).toBe(itsReceiver),
    other: (body: { settings?: { url?: string }; topicArn: string }) => {
      expect(body.settings?.url).toBeUndefined();
      expect(body.topicArn).toMatch(/:ringmaster-team-blue$/);
    },
  },
  "GET /api/v1/notifications/key": { owner: 200, other: { refused: "NOTIFICATIONS_NOT_SET" } },
  "POST /api/v1/notifications/test": { owner: 200, other: { refused: "NOTIFICATIONS_NOT_SET" } },
  "GET /api/v1/notifications/deliveries": empty("items", ({ runId }) => runId),
  "PUT /api/v1/notifications": { ...everyone, body: () => ({ url: "https://receiver.example/" }) },
  "DELETE /api/v1/notifications": everyone,

  "GET /api/v1/hpo/studies": empty("items", ({ study }) => study),
  "GET /api/v1/hpo/studies/:study": absent,
  // It has no trial with a value, which only its owner can see.
  "GET /api/v1/hpo/studies/:study/best": { owner: 409, other: "absent" },
  "POST /api/v1/hpo/studies": { body: studyOf, owner: 200, other: "absent" },
  "POST /api/v1/hpo/studies/:study/stop": absent,
  "POST /api/v1/hpo/studies/:study/extend": { ...absent, body: () => ({ trials: 8 }) },

  "GET /api/v1/retraining-rules": empty("items", ({ rule }) => rule),
  "GET /api/v1/retraining-rules/:rule": absent,
  "GET /api/v1/retraining-rules/:rule/causes": absent,
  "POST /api/v1/retraining-rules": { body: ruleOf, owner: 200, other: "absent" },
  "PUT /api/v1/retraining-rules/:rule": { ...absent, body: ruleOf },
  "POST /api/v1/retraining-rules/:rule/disable": { ...absent, body: () => ({ reason: "wrong" }) },
  "POST /api/v1/retraining-rules/:rule/enable": absent,
  "POST /api/v1/retraining-rules/:rule/runs": { owner: 201, other: "absent" },
  "DELETE /api/v1/retraining-rules/:rule": absent,

  // Last: nothing may be submitted on it afterwards.
  "POST /api/v1/datasets/:name/versions/:version/deprecate": { ...absent, body: () => ({ reason: "wrong" }) },
};

/** Queries of routes that need one. */
const queries: Readonly<Record<string, string>> = {
  "GET /api/v1/runs/:runId/artifacts/content": "?path=its%2Ffile.txt",
  "GET /api/v1/pages/runs/:runId/artifact": "?path=its%2Ffile.txt",
  "GET /api/v1/pages/runs/:runId/register": "?as=its-model",
  "POST /api/v1/pages/runs/:runId/register": "?as=its-model",
  "GET /api/v1/experiments/:experimentId/export": "?table=params&format=csv",
  "GET /api/v1/pages/compare": "?runs=%5B%22:runId%22%5D",
  "GET /api/v1/runs/:runId/metrics/history": "?metric=seen",
  "DELETE /api/v1/models/:name/tags": "?key=seen",
  "DELETE /api/v1/models/:name/versions/:version/tags": "?key=seen",
};

/** As they are named in paths: the third version is the one that waits for an approval, the second epoch the one with a checkpoint. */
export function pathOf(route: string, things: Things): string {
  const [, path = ""] = route.split(" ");
  const values: Readonly<Record<string, string>> = {
    runId: things.runId,
    experimentId: things.experimentId,
    sha256: things.content,
    name: path.includes("/models") ? things.model : things.dataset,
    version: path.includes("/models") ? "3" : "1",
    epoch: "2",
    rule: things.rule,
    monitor: things.monitor,
    window: "1",
    study: things.study,
    view: things.view,
    id: things.report,
    alias: "seen",
    check: path.endsWith("/key") ? "its-hook" : "its-review",
  };
  const named = `${path}${queries[route] ?? ""}`.replace(/:(\w+)/g, (_, name: string) => {
    if (values[name] === undefined) throw new Error(`say in tenancy-cases.ts what :${name} of ${route} is`);
    return values[name];
  });
  return named;
}

/** Names of the same shape that nothing has. */
export function nothingLike({ draft }: Things): Things {
  const dataset = "no-dataset";
  return {
    runId: "run-0000000000000000",
    experimentId: "99",
    dataset,
    model: "no-model",
    content: "0".repeat(64),
    rule: "no-rule",
    monitor: "no-monitor",
    study: "no-study",
    view: "no-view",
    batch: { generation: 1, rows: 1, latestTime: at, files: [fileOf("0".repeat(64), 1)] },
    report: "0".repeat(16),
    draft: { ...draft, name: dataset },
  };
}

function studyOf({ study, dataset }: Pick<Things, "study" | "dataset">) {
  return {
    name: study,
    job: jobInput({ dataset }),
    objectives: [{ metric: "validation/accuracy", direction: "maximize" }],
    space: { "hyperparameters.learningRate": { type: "float", low: 0.001, high: 0.1 } },
    stop: { trials: 4 },
  };
}

const itsHook = { name: "its-hook", kind: "http", url: "https://checks.example/", timeoutSeconds: 5 } as const;
const itsReview = { name: "its-review", kind: "command", command: ["./review.sh"], timeoutSeconds: 60 } as const;

const itsReceiver = "https://its-receiver.example/hook";

export async function furnish(platform: Platform): Promise<Things> {
  const { team, objects, registry, runs, metrics } = platform;
  const draft = await registerTestDataset(platform, "its-dataset");
  const contract = { rules: [{ rule: "rowCount", minimum: 2, severity: "block" }] } as const;
  await platform.dataContracts.create({ dataset: draft.name, revision: 1, contract, by: "test", at });
  const { dataset, model, runId } = { dataset: draft.name, model: "its-model", runId: "run-1t51t51t51t51t51" };
  // Ids count up within each team: the run's is past those that the other team's calls make.
  for (let i = 0; i < 5; i += 1) await platform.experiments.ensure(`its-experiment-${i}`, "test", at);
  await runs.create(runOf(runId, { team, dataset: { name: dataset, version: 1, digest: draft.digest } }));
  const experimentId = (await platform.records.find(runId))?.experimentId as string;
  await metrics.append(runId, [{ metric: "train/loss", steps: [1], values: [1], times: [1] }]);
  const weights = await objects.putContent("weights");
  const key = objectKeys.tensors(runId, 20, weights.sha256);
  await objects.put(key, "weights");
  const checkpoint = {
    format: checkpointFormat,
    runId,
    finishedSteps: 20,
    epoch: 2,
    identity: { seed: 0, microBatches: 8, batchSize: 128, layout: "l", optimizer: "adam", gradientFormat: "float32" },
    numerics,
    weightsSha256: weights.sha256,
    tensors: [{ buffer: "weights", key, ...weights }],
    epochScore: "",
    createdAt: at,
  };
  await objects.put(objectKeys.checkpointManifest(runId, 20), JSON.stringify(checkpoint));

  const artifact: ModelArtifact = {
    format: 1,
    runId,
    model,
    weights,
    topology: weights,
    weightsSha256: weights.sha256,
    transform: { outputs: [], shape: [1], width: 1 } as unknown as ModelArtifact["transform"],
    label: { kind: "value", column: "label" } as unknown as ModelArtifact["label"],
    inputSchema: [],
    outputSchema: { kind: "value", column: "label" },
    numerics,
  };
  const artifactKey = await storeArtifact(objects, artifact);
  for (const version of [1, 2, 3]) {
    const made = `run-${createHash("sha256").update(String(version)).digest("hex").slice(0, 16)}`;
    await registry.register(
      team,
      {
        model,
        runId: made,
        weightsSha256: weights.sha256,
        artifactKey,
        dataset: { name: dataset, version: 1, digest: draft.digest },
        metrics: { accuracy: 1 },
        evaluationReport: await objects.putContent(
          JSON.stringify({
            ...{
              dataset: { name: dataset, version: 1, digest: draft.digest },
              split: "test",
              task: "regression",
              rows: 1,
              label: "y",
            },
            ...{ metrics: { accuracy: 1 }, slices: [], predictions: weights },
          }),
        ),
      },
      by,
    );
    if (version === 1) {
      const approvals = { required: 1, approvers: [], notTheSubmitter: false };
      await registry.apply(model, [], setPolicy({ ...noRules, checks: [itsHook, itsReview] }, approvals, by));
    }
    const { policy, production } = await registry.head(model);
    const reviewed = answeredCheck(pendingCheck(itsReview, ""), { passed: true, evidence: "", by: "test", at });
    const verdict = {
      passed: true,
      checks: [reviewed],
      rulesRevision: policy?.rulesRevision,
      champion: production,
      at,
    };
    await registry.apply(model, [version], recordGate(version, verdict, by));
    if (version === 3) continue;
    await registry.apply(model, [version], decideApproval(version, "approved", { ...by, reason: "" }));
    await registry.apply(model, [version], promote(version, by));
  }
  const wanted = { url: itsReceiver, topic: false, events: eventTypes, keyGeneration: 1 };
  await setNotifications(platform, wanted, "test");
  await deliverEvent(platform, {
    ...{ id: `run-ended-${runId}`, type: "run.failed", at, team, runId, model, experiment: "e" },
    ...{ metrics: {}, durationSeconds: 1, submittedBy: "test" },
  });
  const rule = "its-rule";
  await createRule(platform, ruleDefinitionSchema.parse(ruleOf({ rule, dataset })), { by: "test" });
  const monitor = await createMeasuredMonitor(platform, "its-monitor", dataset);
  await objects.put(objectKeys.inbox("no-such/its-file.csv"), team);
  const etag = createHash("md5").update(team).digest("hex");
  const put = { path: "no-such/its-file.csv", etag, bytes: team.length, sequencer: "1", at };
  const report = await takeInboxFile({ ...platform, snapshot: async () => undefined }, put);
  const study = "its-study";
  const studyPorts = { ...platform, events: platform.runEvents, randomId: () => "0".repeat(16) };
  await createStudy(studyPorts, studyDefinitionSchema.parse(studyOf({ study, dataset })), { by: "test" });
  const view = "its-view";
  const batch = await createStoredView(platform, view);
  return {
    runId,
    experimentId,
    dataset,
    model,
    content: weights.sha256,
    rule,
    monitor,
    study,
    view,
    batch,
    report: report!.id,
    draft,
  };
}
