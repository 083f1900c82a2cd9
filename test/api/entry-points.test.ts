import { useTestApp } from "../support/app";
import { createEvaluatedRun } from "../support/evaluated-run";

type Call = readonly [method: string, path: string, body?: object];

const model = "served";
const registered = "/api/2.0/mlflow/registered-models";
const versions = "/api/2.0/mlflow/model-versions";
const runs = "/api/2.0/mlflow/runs";

/** The ids that the world gives to what it makes. */
interface World {
  readonly run: string;
  readonly deletedRun: string;
  readonly experiment: string;
  readonly deletedExperiment: string;
}

/**
 * Each change that one API refuses, the other refuses for the same reason: the same change, by each API. In order of the calls, none of which may
 * change anything.
 */
const pairs: Readonly<Record<string, (world: World) => { readonly native: Call; readonly mlflow: readonly Call[] }>> = {
  "deleting a model in production": () => ({
    native: ["DELETE", `/models/${model}`],
    mlflow: [["DELETE", `${registered}/delete`, { name: model }]],
  }),
  "deleting a version in production": () => ({
    native: ["DELETE", `/models/${model}/versions/1`],
    mlflow: [["DELETE", `${versions}/delete`, { name: model, version: "1" }]],
  }),
  "promoting a version whose gate failed": () => ({
    native: ["PUT", `/models/${model}/versions/2/stage`, { stage: "production" }],
    mlflow: [["POST", `${versions}/transition-stage`, { name: model, version: "2", stage: "Production" }]],
  }),
  "promoting a version that was not judged": () => ({
    native: ["PUT", `/models/${model}/versions/3/stage`, { stage: "production" }],
    mlflow: [["POST", `${versions}/transition-stage`, { name: model, version: "3", stage: "Production" }]],
  }),
  "promoting a version that was not approved": () => ({
    native: ["PUT", `/models/${model}/versions/4/stage`, { stage: "production" }],
    mlflow: [["POST", `${versions}/transition-stage`, { name: model, version: "4", stage: "Production" }]],
  }),
  "pointing the champion's alias elsewhere": () => ({
    native: ["PUT", `/models/${model}/aliases/champion`, { version: 2 }],
    mlflow: [["POST", `${registered}/alias`, { name: model, alias: "champion", version: "2" }]],
  }),
  "taking the champion's alias away": () => ({
    native: ["DELETE", `/models/${model}/aliases/champion`],
    mlflow: [["DELETE", `${registered}/alias`, { name: model, alias: "champion" }]],
  }),
  "an alias that is read as a version": () => ({
    native: ["PUT", `/models/${model}/aliases/v2`, { version: 1 }],
    mlflow: [["POST", `${registered}/alias`, { name: model, alias: "v2", version: "1" }]],
  }),
  "an alias of a version that is not there": () => ({
    native: ["PUT", `/models/${model}/aliases/blue`, { version: 99 }],
    mlflow: [["POST", `${registered}/alias`, { name: model, alias: "blue", version: "99" }]],
  }),
  "creating a model that is there": () => ({
    native: ["POST", "/models", { name: model }],
    mlflow: [
      ["POST", `${registered}/create`, { name: model }],
      ["POST", `${registered}/rename`, { name: "other", new_name: model }],
    ],
  }),
  "a model's name with a slash": () => ({
    native: ["POST", "/models", { name: "a/b" }],
    mlflow: [
      ["POST", `${registered}/create`, { name: "a/b" }],
      ["POST", `${registered}/rename`, { name: "other", new_name: "a/b" }],
    ],
  }),
  "a version of a run that is not there": () => ({
    native: ["POST", "/models/register", { name: model, source: "s3://b/1", runId: "none" }],
    mlflow: [["POST", `${versions}/create`, { name: model, source: "s3://b/1", run_id: "none" }]],
  }),
  "changing a param": ({ run }) => ({
    native: ["POST", `/runs/${run}/params`, { params: { depth: "4" } }],
    mlflow: [
      ["POST", `${runs}/log-parameter`, { run_id: run, key: "depth", value: "4" }],
      ["POST", `${runs}/log-batch`, { run_id: run, params: [{ key: "depth", value: "4" }] }],
    ],
  }),
  "logging to a deleted run": ({ deletedRun: run_id }) => ({
    native: ["POST", `/runs/${run_id}/params`, { params: { width: "4" } }],
    mlflow: [
      ["POST", `${runs}/log-parameter`, { run_id, key: "width", value: "4" }],
      ["POST", `${runs}/log-batch`, { run_id, params: [{ key: "width", value: "4" }] }],
      ["POST", `${runs}/set-tag`, { run_id, key: "width", value: "4" }],
    ],
  }),
  "metrics of a deleted run": ({ deletedRun: run_id }) => ({
    native: ["POST", `/runs/${run_id}/metrics`, { series: [{ metric: "a", steps: [1], values: [1] }] }],
    mlflow: [
      ["POST", `${runs}/log-metric`, { run_id, key: "a", value: 1, timestamp: 1 }],
      ["POST", `${runs}/log-batch`, { run_id, metrics: [{ key: "a", value: 1, timestamp: 1 }] }],
    ],
  }),
  "a file of a deleted run": ({ deletedRun, experiment, run }) => ({
    native: ["POST", `/runs/${deletedRun}/artifacts`, { artifacts: [{ path: "a", sha256: "0".repeat(64) }] }],
    mlflow: [
      ["PUT", `/api/2.0/mlflow-artifacts/artifacts/${experiment}/${deletedRun}/artifacts/a`, {}],
      ["POST", `/api/2.0/mlflow/upload-artifact?run_uuid=${deletedRun}&path=a`, {}],
      ["POST", `/api/2.0/mlflow/upload-artifact?run_uuid=${run}&path=..%2Fa`, {}],
    ],
  }),
  "an experiment's name that is taken": ({ experiment }) => ({
    native: ["POST", "/experiments", { name: "theirs" }],
    mlflow: [
      ["POST", "/api/2.0/mlflow/experiments/create", { name: "theirs" }],
      ["POST", "/api/2.0/mlflow/experiments/update", { experiment_id: experiment, new_name: "taken" }],
    ],
  }),
  "renaming an experiment to a name that is taken": ({ experiment }) => ({
    native: ["PATCH", `/experiments/${experiment}`, { name: "taken" }],
    mlflow: [["POST", "/api/2.0/mlflow/experiments/update", { experiment_id: experiment, new_name: "taken" }]],
  }),
  "a run of a deleted experiment": ({ deletedExperiment }) => ({
    native: ["POST", "/runs", { experimentId: deletedExperiment }],
    mlflow: [["POST", `${runs}/create`, { experiment_id: deletedExperiment }]],
  }),
};

describe("the same change by each API", () => {
  const { platform, app } = useTestApp();
  let world: World;
  beforeAll(async () => {
    world = await furnish();
    await createEvaluatedRun(platform, "run-trained", { classes: ["a", "b"], labels: [0, 1], outputs: [0.1, 0.9] });
  });

  async function send([method, path, body]: Call) {
    const response = await app.request(path.startsWith("/api/") ? path : `/api/v1${path}`, {
      method,
      headers: { "content-type": "application/json", "x-ringmaster-actor": "boss" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, text, body: text === "" ? {} : JSON.parse(text) };
  }
  async function made(...call: Call) {
    const answer = await send(call);
    if (answer.status >= 400) throw new Error(`${call[0]} ${call[1]} was answered ${answer.status}: ${answer.text}`);
    return answer.body;
  }

  async function furnish(): Promise<World> {
    const experimentOf = async (name: string) => (await made("POST", "/experiments", { name })).experiment.experimentId;
    const [experiment, , deletedExperiment] = [
      await experimentOf("theirs"),
      await experimentOf("taken"),
      await experimentOf("deleted"),
    ];
    const runOf = async () =>
      (await made("POST", "/runs", { experimentId: experiment, params: { depth: "3" } })).run.runId;
    const [run, deletedRun] = [await runOf(), await runOf()];
    await made("DELETE", `/runs/${deletedRun}`);
    await made("PATCH", `/experiments/${deletedExperiment}`, { lifecycle: "deleted" });
    await made("POST", "/models", { name: "other" });
    for (const accuracy of [0.9, 0.1, 0.9, 0.9]) {
      await made("POST", "/models/register", { name: model, source: "s3://b/1", metrics: { accuracy } });
    }
    await made("PUT", `/models/${model}/policy`, { rules: { thresholds: { accuracy: 0.5 } } });
    for (const version of [1, 2]) await made("POST", `/models/${model}/versions/${version}/judge`, {});
    await made("POST", `/models/${model}/versions/1/approvals`, { decision: "approved" });
    await made("PUT", `/models/${model}/versions/1/stage`, { stage: "production" });
    await made("POST", `/models/${model}/versions/4/judge`, {});
    return { run, deletedRun, experiment, deletedExperiment };
  }

  const state = async () => [
    await made("GET", `/models/${model}`),
    await made("GET", `/models/${model}/production`),
    await made("GET", `/runs/${world.run}`),
    await made("GET", `/runs/${world.deletedRun}`),
    await made("GET", `/experiments/${world.experiment}`),
  ];

  it.each(Object.keys(pairs))("is refused by both: %s", async (name) => {
    const before = await state();
    const { native, mlflow } = pairs[name]!(world);
    const refused = await send(native);
    expect([refused.status >= 400 && refused.status < 500, refused.text]).toEqual([true, refused.text]);
    for (const call of mlflow) {
      const { status, text, body } = await send(call);
      expect([call[1], status >= 400 && status < 500, text]).toEqual([call[1], true, text]);
      expect(Object.keys(body).sort()).toEqual(["error_code", "message"]);
    }
    expect(await state()).toEqual(before);
  });
});
