import { callApp, useTestApp } from "../support/app";
import { registerTestDataset } from "../support/fixtures";

/** Records of team red, by the kind of id. */
interface Ids {
  readonly run: string;
  readonly loggedModel: string;
  readonly dataset: string;
}

interface Case {
  readonly method: "POST";
  readonly path: string;
  readonly body: (ids: Ids, own: Ids) => object;
}

const native = (path: string, body: Case["body"]): Case => ({ method: "POST", path: `/api/v1${path}`, body });
const mlflow = (path: string, body: Case["body"]): Case => ({ method: "POST", path: `/api/2.0/mlflow${path}`, body });
const source = "s3://bucket/model";

/** Every field of a request that names a run, a logged model or a dataset version of the team. */
const cases: Readonly<Record<string, Case>> = {
  "runId of a version": native("/models/register", ({ run }) => ({ name: "m", source, runId: run })),
  "runId of a version from that run's files": native("/models/register", ({ run }) => ({
    ...{ name: "m", source: `runs:/${run}/model`, runId: run },
  })),
  "loggedModelId of a version": native("/models/register", ({ loggedModel }) => ({
    ...{ name: "m", source: `models:/${loggedModel}`, loggedModelId: loggedModel },
  })),
  "dataset of a version": native("/models/register", ({ dataset }) => ({
    ...{ name: "m", source, dataset: { name: dataset, version: 1, digest: "d" } },
  })),
  "parentRunId of a run": native("/runs", ({ run }) => ({ parentRunId: run })),
  "dataset of a run": native("/runs", ({ dataset }) => ({
    datasets: [{ name: dataset, version: 1, digest: "d", sourceType: "local", source: "x" }],
  })),
  "run_id of a version": mlflow("/model-versions/create", ({ run }) => ({ name: "own", source, run_id: run })),
  "run_id of a version from that run's files": mlflow("/model-versions/create", ({ run }) => ({
    ...{ name: "own", source: `runs:/${run}/model`, run_id: run },
  })),
  "model_id of a version": mlflow("/model-versions/create", ({ loggedModel }) => ({
    ...{ name: "own", source: `models:/${loggedModel}`, model_id: loggedModel },
  })),
  "parent tag of a new run": mlflow("/runs/create", ({ run }) => ({
    ...{ experiment_id: "0", tags: [{ key: "mlflow.parentRunId", value: run }] },
  })),
  "parent tag": mlflow("/runs/set-tag", ({ run }, own) => ({
    ...{ run_id: own.run, key: "mlflow.parentRunId", value: run },
  })),
  "parent tag in a batch": mlflow("/runs/log-batch", ({ run }, own) => ({
    ...{ run_id: own.run, tags: [{ key: "mlflow.parentRunId", value: run }] },
  })),
  "source run of a logged model": mlflow("/logged-models", ({ run }) => ({
    ...{ experiment_id: "0", name: "l", source_run_id: run },
  })),
  "input model of a run": mlflow("/runs/log-inputs", ({ loggedModel }, own) => ({
    ...{ run_id: own.run, models: [{ model_id: loggedModel }] },
  })),
  "output model of a run": mlflow("/runs/outputs", ({ loggedModel }, own) => ({
    ...{ run_id: own.run, models: [{ model_id: loggedModel, step: 0 }] },
  })),
  "model of a metric": mlflow("/runs/log-metric", ({ loggedModel }, own) => ({
    ...{ run_id: own.run, key: "a", value: 1, timestamp: 1, model_id: loggedModel },
  })),
};

describe("a request names only what the team has", () => {
  const { platform, app } = useTestApp({ checkResponses: true });
  const ids: Record<string, Ids> = {};
  beforeAll(async () => {
    for (const team of ["red", "blue"]) {
      const { name: dataset } = await registerTestDataset(platform.forTeam(team), `${team}-data`);
      const { run } = (await call(team, "POST", "/api/v1/runs", {})).body;
      const made = await call(team, "POST", "/api/2.0/mlflow/logged-models", { experiment_id: "0", name: "l" });
      await call(team, "POST", "/api/2.0/mlflow/registered-models/create", { name: "own" });
      ids[team] = { run: run.runId, loggedModel: made.body.model.info.model_id, dataset };
    }
  });

  const call = (team: string, method: string, path: string, body: object) =>
    callApp(app, method, path, body, { "x-ringmaster-team": team });
  const nowhere: Ids = { run: "run-nowhere", loggedModel: `m-${"0".repeat(32)}`, dataset: "nowhere" };
  const long: Ids = { run: "r".repeat(3_000), loggedModel: "m".repeat(3_000), dataset: "d".repeat(400) };

  it.each(Object.entries(cases))("%s", async (_name, { method, path, body }) => {
    const [own, others] = [ids["blue"]!, ids["red"]!];
    const ask = (named: Ids) => call("blue", method, path, body(named, own));
    expect((await ask(own)).status).toBeLessThan(300);
    const answer = async (named: Ids) => {
      const answer = await ask(named);
      const names = Object.values(named).sort((a, b) => b.length - a.length);
      const { error = answer.body } = answer.body;
      return [
        answer.status,
        names.reduce((text, name) => text.replaceAll(name, "…"), JSON.stringify({ ...error, requestId: 0 })),
      ];
    };
    const refused = await answer(others);
    expect(refused[0]).toBeGreaterThanOrEqual(400);
    expect(refused[0]).toBeLessThan(500);
    expect(refused).toEqual(await answer(nowhere));
    const tooLong = await ask(long);
    expect([tooLong.status >= 400, tooLong.status < 500]).toEqual([true, true]);
  });
});
