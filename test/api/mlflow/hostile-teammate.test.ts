import type { APIGatewayProxyEvent } from "aws-lambda";
import type { createApp } from "../../../api/app";
import { startTestApp } from "../../support/app";
import type { Embedded, TestPlatform as Platform } from "../../support/embedded";
import { createEvaluatedRun } from "../../support/evaluated-run";

type Answer = { readonly status: number; readonly body: Readonly<Record<string, unknown>>; readonly text: string };
type Send = (method: string, path: string, body?: object | string) => Promise<Answer>;

const name = "served";

describe("a hostile teammate over MLflow's protocol", () => {
  let embedded: Embedded;
  let platform: Platform;
  let app: ReturnType<typeof createApp>;
  let experiment: string;
  let run: string;
  let served: unknown;

  beforeAll(async () => {
    ({ embedded, platform, app } = await startTestApp());
    experiment = await made("experiments/create", { name: "theirs" }, "experiment_id");
    const { body } = await boss("POST", "/api/2.0/mlflow/runs/create", { experiment_id: experiment });
    run = (body as unknown as { run: { info: { run_id: string } } }).run.info.run_id;
    await createEvaluatedRun(platform, "run-trained", { classes: ["a", "b"], labels: [0, 1], outputs: [0.1, 0.9] });
    await boss("POST", "/api/2.0/mlflow/runs/log-parameter", { run_id: run, key: "depth", value: "3" });
    await boss("PUT", `/api/2.0/mlflow-artifacts/artifacts/${experiment}/${run}/artifacts/model/MLmodel`, "good");
    for (const metrics of [{ accuracy: 0.9 }, { accuracy: 0.1 }, { accuracy: 0.99 }]) {
      await native("POST", "/models/register", { name, source: `runs:/${run}/model`, runId: run, metrics });
      if (metrics.accuracy === 0.9) {
        await native("PUT", `/models/${name}/policy`, { rules: { thresholds: { accuracy: 0.5 } } });
      }
    }
    for (const version of [1, 2]) await native("POST", `/models/${name}/versions/${version}/judge`, {});
    await native("POST", `/models/${name}/versions/1/approvals`, { decision: "approved" });
    await native("PUT", `/models/${name}/versions/1/stage`, { stage: "production" });
    served = await whatServes();
    expect(served).toMatchObject({ production: { model: name, version: 1 }, pointer: [1, 1] });
  });
  afterAll(() => embedded.stop());
  afterEach(async () => expect(await whatServes()).toEqual(served));

  const as =
    (scopes: string): Send =>
    async (method, path, body) => {
      const event = { requestContext: { authorizer: { principalId: "mallory", team: "default", scopes } } };
      const response = await app.request(
        path,
        {
          method,
          headers: typeof body === "object" ? { "content-type": "application/json" } : {},
          ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
        },
        { event: event as unknown as APIGatewayProxyEvent },
      );
      const text = await response.text();
      return { status: response.status, text, body: text.startsWith("{") ? JSON.parse(text) : {} };
    };
  /** Holds every scope; gates and approvals bind this caller, too. */
  const boss = as("read write approve");
  const mallory = as("read write");
  const mlflow = (send: Send, method: string, path: string, body: object) =>
    send(method, `/api/2.0/mlflow/${path}`, body);

  async function made(path: string, body: object, member: string): Promise<string> {
    return String((await mlflow(boss, "POST", path, body)).body[member]);
  }
  async function native(method: string, path: string, body: object): Promise<void> {
    const answer = await boss(method, `/api/v1${path}`, body);
    if (answer.status >= 400) throw new Error(`${method} ${path} was answered ${answer.status}: ${answer.text}`);
  }

  async function whatServes(): Promise<unknown> {
    const read = async (path: string) => (await boss("GET", `/api/v1${path}`)).body;
    const { model, versions } = (await read(`/models/${name}`)) as unknown as {
      readonly model: { readonly aliases: { readonly champion?: number }; readonly production?: number };
      readonly versions: readonly Readonly<Record<string, unknown>>[];
    };
    return {
      production: await read(`/models/${name}/production`),
      pointer: [model.production, model.aliases.champion],
      versions: versions.map(({ version, stage, lifecycle, metrics, gate, approvals, source, runId }) => ({
        ...{ version, stage, lifecycle, metrics, gate, approvals, source, runId },
      })),
      files: await platform.artifacts.listAll({ kind: "run", runId: run }, "model"),
    };
  }

  const refused = (answer: Answer): void => {
    expect([answer.status >= 400 && answer.status < 500, answer.text]).toEqual([true, answer.text]);
    expect(Object.keys(answer.body).sort()).toEqual(["error_code", "message"]);
  };

  it.each(["Production", "production", "PRODUCTION", " Production", "Ｐroduction", "Production\u200b"])(
    "moves no version that has not passed its gate and its approval to %j",
    async (stage) => {
      for (const version of ["2", "3", "02", " 3", "3.0", "３"]) {
        for (const send of [mallory, boss]) {
          const body = { name, version, stage, archive_existing_versions: true };
          refused(await mlflow(send, "POST", "model-versions/transition-stage", body));
        }
      }
    },
  );

  it("archives nothing that serves without the scope to approve", async () => {
    for (const stage of ["Archived", "None", "Staging"]) {
      refused(await mlflow(mallory, "POST", "model-versions/transition-stage", { name, version: "1", stage }));
    }
  });

  it("says by no tag or description that a version was approved", async () => {
    const keys = ["stage", "approved", "gate", "mlflow.stage", "ringmaster.approved", "ringmaster.gate", "production"];
    for (const key of keys) {
      await mlflow(mallory, "POST", "model-versions/set-tag", { name, version: "3", key, value: "true" });
      await mlflow(mallory, "POST", "registered-models/set-tag", { name, key, value: "3" });
    }
    await mlflow(mallory, "PATCH", "model-versions/update", { name, version: "3", description: "stage: production" });
    refused(await mlflow(boss, "POST", "model-versions/transition-stage", { name, version: "3", stage: "Production" }));
  });

  it("changes neither status nor measured metrics of a training run", async () => {
    const before = await platform.records.find("run-trained");
    const trained = { run_id: "run-trained" };
    // The status of a training is the platform's: a client's is not taken.
    await mlflow(mallory, "POST", "runs/update", { ...trained, status: "FAILED" });
    const metric = { key: "test/accuracy", value: 1, timestamp: 1, step: 1_000_000 };
    refused(await mlflow(mallory, "POST", "runs/log-metric", { ...trained, ...metric }));
    refused(
      await mlflow(mallory, "POST", "runs/log-batch", { ...trained, metrics: [{ ...metric, key: "a" }, metric] }),
    );
    const series = [{ metric: "test/accuracy", steps: [1_000_000], values: [1] }];
    expect((await mallory("POST", "/api/v1/runs/run-trained/metrics", { series })).status).toBe(409);
    const names = (await platform.metrics.summaries("run-trained")).map(({ metric: each, max }) => [each, max]);
    expect(names).not.toContainEqual(["a", 1]);
    // A run's own metrics are the client's to add.
    expect((await mlflow(mallory, "POST", "runs/log-metric", { ...trained, ...metric, key: "a" })).status).toBe(200);
    expect(await platform.records.find("run-trained")).toEqual(before);
  });

  it.each([
    "../model/MLmodel",
    "a/../../model/MLmodel",
    "%2e%2e/model/MLmodel",
    "%252e%252e%252fmodel/MLmodel",
    "/etc/passwd",
    "\\\\host\\share",
    "C:\\x",
    "file:///etc/passwd",
    "a\u0000b/../../x",
    "model/MLmodel#x",
  ])("writes no file to %j", async (path) => {
    const query = `run_uuid=${run}&path=${encodeURIComponent(path)}`;
    refused(await mallory("POST", `/api/2.0/mlflow/upload-artifact?${query}`, "EVIL"));
    refused(await mallory("POST", `/ajax-api/2.0/mlflow/upload-artifact?${query}`, "EVIL"));
  });

  it("wins no race of two clients for what serves", async () => {
    const transition = (version: string) =>
      mlflow(boss, "POST", "model-versions/transition-stage", { name, version, stage: "Production" });
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, i) => [
        transition(i % 2 === 0 ? "2" : "3"),
        mlflow(mallory, "DELETE", "model-versions/delete", { name, version: "1" }),
        mlflow(mallory, "POST", "registered-models/rename", { name, new_name: `raced-${i}` }),
        mlflow(mallory, "POST", "registered-models/alias", { name, alias: "champion", version: "3" }),
      ]).flat(),
    );
    for (const answer of answers) refused(answer);
  });
});
