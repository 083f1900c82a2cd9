import type { Platform } from "../../adapters/platform";
import { setNotifications } from "../../api/routes/notifications";
import { deliverEvent } from "../../core/notifications/deliver";
import { eventTypes } from "../../core/notifications/shapes";
import { createStudy } from "../../core/tuning/lifecycle";
import { studyDefinitionSchema } from "../../core/tuning/study";
import { jobInput } from "../support/fixtures";
import { startStoredPipeline } from "../support/stored-pipeline";
import { createStoredView } from "../support/stored-view";
import type { Thing } from "./fuzz/knowledge";
import { createWorld, furnish } from "./fuzz/world";

export interface Case {
  /** `"@model"` stands for the model's name. By default a body that fuzzing knows. */
  readonly body?: unknown;
  readonly query?: string;
  /** The status of the owner's response. By default a success: the case would show nothing if the request failed. */
  readonly owner?: number;
  /**
   * The other team's response. By default `absent`, the 404 of a thing that nobody has; `own`: a success that names
   * nothing of the owner's; or a refusal for its own state.
   */
  readonly other?: "absent" | "own" | { readonly refused: string };
  /** Called after all others. */
  readonly last?: true;
}

const own: Case = { other: "own" };
const file = "?path=its%2Ffile.txt";

/** Differences from the defaults. A new route needs a line here if it names nothing of a team, or has a query. */
export const cases: Readonly<Record<string, Case>> = {
  "GET /health": own,
  "GET /openapi.json": own,
  "GET /docs": own,
  "GET /training-runs": own,
  // The run has neither trained nor completed, which only its owner can see.
  "POST /training-runs/{runId}/reproduce": { owner: 409 },
  "GET /training-runs/{runId}/reproduction": { owner: 409 },
  "POST /training-runs/{runId}/resume": { owner: 409 },
  "POST /training-runs/{runId}/register": { owner: 409, body: { model: "its" } },
  "GET /experiments": own,
  "GET /experiments/{experimentId}/export": { query: "?table=params&format=csv" },
  "POST /experiments": { ...own, body: { name: "another" } },
  "POST /runs": { body: { experimentId: "@experimentId" } },
  "GET /runs/{runId}/metrics/history": { query: "?metric=train%2Floss" },
  "GET /runs/{runId}/artifacts/content": { query: file },
  "POST /runs/search": { ...own, body: { view: "all" } },
  "GET /pages/experiments": own,
  "GET /pages/runs/{runId}/artifact": { query: file },
  "GET /pages/runs/{runId}/register": { query: "?as=its" },
  // The request has no header of a browser, which is checked after the run is found.
  "POST /pages/runs/{runId}/register": { query: "?as=its", owner: 403 },
  "GET /pages/compare": { query: "?runs=%5B%22@runId%22%5D" },
  "GET /datasets": own,
  // A contract may be set before the first version; each team has its own.
  "PUT /datasets/{name}/contract": { other: "own", last: true },
  "GET /datasets/{name}/contract/revisions": own,
  // The same data are a version where the content was uploaded, and only there.
  "POST /datasets/{name}/versions": { other: { refused: "INVALID_DATASET_MANIFEST" } },
  "POST /datasets/{name}/versions/{version}/deprecate": { last: true },
  "GET /inbox": own,
  "POST /uploads": own,
  "GET /models": own,
  "POST /models": own,
  "POST /models/register": { ...own, body: { name: "@fresh", source: "s3://elsewhere/1" } },
  "DELETE /models/{name}/tags": { query: "?key=a" },
  "DELETE /models/{name}/versions/{version}/tags": { query: "?key=a" },
  "PUT /models/{name}/policy": { last: true },
  "PUT /models/{name}/versions/{version}/stage": { body: { stage: "staging" } },
  // Its canary has ended, which only its owner can see.
  "POST /models/{name}/traffic/decision": { owner: 409 },
  "DELETE /models/{name}/versions/{version}": { last: true },
  // It is in production, which only its owner can see.
  "DELETE /models/{name}": { owner: 409 },
  // It has no weights, which only its owner can see.
  "POST /models/{name}/versions/{version}/exports": { owner: 409 },
  "GET /monitors": own,
  "GET /feature-views": own,
  "POST /feature-views": own,
  "POST /feature-views/{view}/batches": { body: "@batch" },
  "GET /notifications": own,
  "GET /notifications/key": { other: { refused: "NOTIFICATIONS_NOT_SET" } },
  "POST /notifications/test": { other: { refused: "NOTIFICATIONS_NOT_SET" } },
  "GET /notifications/deliveries": own,
  "PUT /notifications": { ...own, body: { url: "https://receiver.example/" }, last: true },
  "DELETE /notifications": { ...own, last: true },
  "GET /hpo/studies": own,
  // It has no trial with a value, which only its owner can see.
  "GET /hpo/studies/{study}/best": { owner: 409 },
  "POST /hpo/studies": { body: { ...studyOf("@dataset"), name: "@fresh" } },
  "POST /hpo/studies/{study}/extend": { body: { trials: 8 } },
  "GET /triggers": own,
  "POST /hooks/{team}/{trigger}": { owner: 400, other: { refused: "INVALID_INPUT" } },
  "GET /pipelines": own,
  "POST /pipelines": own,
  "GET /pipelines/runs": own,
  // It runs, which only its owner can see.
  "POST /pipelines/runs/{pipelineRunId}/resume": { owner: 409 },
  "POST /pipelines/runs/{pipelineRunId}/cancel": { last: true },
};

function studyOf(dataset: string) {
  return {
    name: "its-study",
    job: jobInput({ dataset }),
    objectives: [{ metric: "validation/accuracy", direction: "maximize" }],
    space: { "hyperparameters.learningRate": { type: "float", low: 0.001, high: 0.1 } },
    stop: { trials: 4 },
  };
}

/** Creates one thing of every kind that a team can have. Returns them by the names that requests give. */
export async function furnishTeam(platform: Platform): Promise<Thing> {
  const { team } = platform;
  // Ids count up within each team: the run's is past those that the other team's calls make.
  for (let i = 0; i < 5; i += 1) await platform.experiments.ensure(`its-experiment-${i}`, "test", at);
  await createWorld(platform);
  const things = await furnish(platform, 7);
  const thing: Record<string, unknown> = Object.assign({}, ...things.toReversed(), { version: 3, alias: "blue" });
  const { dataset, runId, model } = thing as Readonly<Record<string, string>>;
  const contract = { rules: [{ rule: "rowCount", minimum: 2, severity: "block" }] } as const;
  await platform.dataContracts.create({ dataset: dataset!, revision: 1, contract, by: "test", at });
  const content = await platform.objects.putContent("a file");
  await platform.artifacts.put({ kind: "run", runId: runId! }, [{ ...content, path: "its/file.txt", updatedAt: at }]);
  const wanted = { url: "https://its-receiver.example/hook", topic: false, events: eventTypes, keyGeneration: 1 };
  await setNotifications(platform, wanted, "test");
  await deliverEvent(platform, {
    ...{ id: `run-ended-${runId}`, type: "run.failed", at, team, runId: runId!, model: model!, experiment: "e" },
    ...{ metrics: {}, durationSeconds: 1, submittedBy: "test" },
  });
  const studyPorts = { ...platform, events: platform.runEvents, randomId: () => "0".repeat(16) };
  await createStudy(studyPorts, studyDefinitionSchema.parse(studyOf(dataset!)), { by: "test" });
  return {
    ...thing,
    experiment: "its-experiment",
    study: "its-study",
    view: "its-view",
    ...(await startStoredPipeline(platform, "its-pipeline")),
    batch: await createStoredView(platform, "its-view"),
  };
}

const at = "2026-01-01T00:00:00.000Z";

/** Names of the same shape that nothing has. */
export function nothingLike(things: Thing): Thing {
  const named = ["dataset", "experiment", "model", "trigger", "monitor", "study", "view", "pipeline"].map((name) => [
    name,
    `no-${name}`,
  ]);
  return {
    ...things,
    ...Object.fromEntries(named),
    ...{
      pipelineRunId: "prun-0000000000000000",
      runId: "run-0000000000000000",
      experimentId: "99",
      sha256: "0".repeat(64),
      id: "0".repeat(16),
    },
    draft: { ...(things["draft"] as object), name: "no-dataset" },
  };
}
