import type { APIGatewayProxyEvent } from "aws-lambda";
import type { createApp } from "../../../api/app";
import { startTestApp } from "../../support/app";
import type { Embedded, TestPlatform as Platform } from "../../support/embedded";
import { createEvaluatedRun } from "../../support/evaluated-run";

type Answer = { readonly status: number; readonly body: Readonly<Record<string, unknown>>; readonly text: string };
type Send = (method: string, path: string, body?: object | string) => Promise<Answer>;

const name = "served";
/** Names that look like `served`. */
const lookAlikes = ["ѕerved", "ｓerved", "served\u200b", "served ", " served", "SERVED", "se\u00adrved"];

/** A member of the team tries with MLflow's client to change production without a gate and without an approval. */
describe("a hostile teammate over MLflow's protocol", () => {
  let embedded: Embedded;
  let platform: Platform;
  let app: ReturnType<typeof createApp>;
  let experiment: string;
  let run: string;
  /** Reads the serving version, the approvals and the versions. */
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

  it("deletes and renames no model that serves, nor its version", async () => {
    for (const send of [mallory, boss]) {
      refused(await mlflow(send, "DELETE", "registered-models/delete", { name }));
      refused(await mlflow(send, "DELETE", "model-versions/delete", { name, version: "1" }));
      refused(await mlflow(send, "POST", "registered-models/rename", { name, new_name: "elsewhere" }));
    }
    refused(
      await mlflow(mallory, "POST", "registered-models/create", { name: "other" }).then((answer) =>
        answer.status === 200
          ? mlflow(mallory, "POST", "registered-models/rename", { name: "other", new_name: name })
          : answer,
      ),
    );
  });

  it("points the champion's alias nowhere", async () => {
    for (const version of ["2", "3"]) {
      refused(await mlflow(mallory, "POST", "registered-models/alias", { name, alias: "champion", version }));
    }
    refused(await mlflow(mallory, "DELETE", "registered-models/alias", { name, alias: "champion" }));
    for (const alias of ["сhampion", "champion\u200b", "champion ", "ｃhampion"]) {
      refused(await mlflow(mallory, "POST", "registered-models/alias", { name, alias, version: "2" }));
    }
    await mlflow(mallory, "POST", "registered-models/alias", { name, alias: "Champion", version: "2" });
    const { body } = await mallory("GET", `/api/2.0/mlflow/registered-models/alias?name=${name}&alias=champion`);
    expect(body).toMatchObject({ model_version: { version: "1" } });
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

  it("changes nothing that serves through the run, its experiment, or their files", async () => {
    const file = `/api/2.0/mlflow-artifacts/artifacts/${experiment}/${run}/artifacts/model`;
    const runBody = { run_id: run };
    const attempts = [
      () => mlflow(mallory, "POST", "runs/delete", runBody),
      () => mallory("PUT", `${file}/MLmodel`, "EVIL"),
      () => mallory("DELETE", file),
      () => mlflow(mallory, "POST", "runs/restore", runBody),
      () => mallory("PUT", `${file}/MLmodel`, "EVIL"),
      () => mlflow(mallory, "POST", "runs/log-parameter", { ...runBody, key: "depth", value: "4" }),
      () => mlflow(mallory, "POST", "runs/log-metric", { ...runBody, key: "accuracy", value: 1, timestamp: 1 }),
      () => mlflow(mallory, "POST", "runs/update", { ...runBody, status: "FAILED", run_name: "evil" }),
      () => mlflow(mallory, "POST", "experiments/delete", { experiment_id: experiment }),
      () => mallory("PUT", `${file}/MLmodel`, "EVIL"),
      () => mlflow(mallory, "POST", "experiments/restore", { experiment_id: experiment }),
      () => mlflow(mallory, "POST", "runs/restore", runBody),
      () => mallory("DELETE", `${file}/MLmodel`),
    ];
    for (const attempt of attempts) {
      const { status } = await attempt();
      expect(status).toBeLessThan(500);
      expect(await whatServes()).toEqual(served);
    }
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

  it("registers nothing under a name that looks like another without its being another model", async () => {
    for (const other of lookAlikes) {
      const answer = await mlflow(mallory, "POST", "registered-models/create", { name: other });
      if (answer.status >= 400) continue;
      await mlflow(mallory, "POST", "model-versions/create", { name: other, source: "s3://evil/1" });
      const { body } = await mallory("GET", `/api/2.0/mlflow/registered-models/get?name=${encodeURIComponent(other)}`);
      expect(body).toMatchObject({ registered_model: { name: other } });
    }
  });

  it("re-points no version: to another source, run or name", async () => {
    const body = { name, version: "1", source: "s3://evil/1", run_id: "run-trained", new_name: "x", status: "READY" };
    await mlflow(mallory, "PATCH", "model-versions/update", body);
    refused(
      await mlflow(mallory, "POST", "model-versions/create", { name, source: "runs:/none/model", run_id: "none" }),
    );
  });

  it.each([
    ["1,001 params", { params: Array.from({ length: 1_001 }, (_, i) => ({ key: `p${i}`, value: "1" })) }],
    ["1,001 metrics", { metrics: Array.from({ length: 1_001 }, (_, i) => ({ key: `m${i}`, value: 1, timestamp: 1 })) }],
    ["a tag of 2 MB", { tags: [{ key: "a", value: "x".repeat(2_000_000) }] }],
    ["a key with a path", { params: [{ key: "../../a", value: "1" }] }],
    ["a key of 251 characters", { tags: [{ key: "k".repeat(251), value: "1" }] }],
  ])("does not log %s", async (_, batch) => {
    refused(await mlflow(mallory, "POST", "runs/log-batch", { run_id: run, ...batch }));
  });

  it("keeps of a giant param and tag what MLflow's server keeps", async () => {
    const giant = [{ key: "giant", value: "x".repeat(1_000_000) }];
    await mlflow(mallory, "POST", "runs/log-batch", { run_id: run, params: giant, tags: giant });
    const { params, tags } = (await platform.records.find(run))!;
    expect([params["giant"]?.length, tags["giant"]?.length]).toEqual([6_000, 8_000]);
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
