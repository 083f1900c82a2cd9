import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { createDocumentClient } from "../../adapters/dynamodb/client";
import { createApp } from "../../api/app";
import { useTestApp } from "../support/app";
import { cliOverApp } from "../support/cli-over-app";
import { createTestPlatform } from "../support/embedded";

/** Free names: what keys, paths and URLs give a meaning of their own. */
const odd = "größe # 1 % 2?&=\u2028模型";

describe("models through the API", () => {
  const { embedded, calls, app } = useTestApp({ checkResponses: true });

  async function call(
    method: string,
    path: string,
    body?: object,
    { by = "ada", to = app, ...headers }: { by?: string; to?: typeof app; [name: string]: unknown } = {},
  ) {
    const response = await to.request(`/api/v1${path}`, {
      method,
      headers: { "x-ringmaster-actor": by, "content-type": "application/json", ...(headers as Record<string, string>) },
      body: body && JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === "" ? undefined : JSON.parse(text) };
  }
  const mlflow = async (path: string, body: object) => {
    const headers = { "content-type": "application/json" };
    const request = { method: "POST", headers, body: JSON.stringify(body) };
    const response = await app.request(`/api/2.0/mlflow/${path}`, request);
    const text = await response.text();
    return { status: response.status, text, body: JSON.parse(text) };
  };
  const at = (name: string, rest = "") => `/models/${encodeURIComponent(name)}${rest}`;
  const register = (name: string, more: object = {}, headers: object = {}) =>
    call(
      "POST",
      "/models/register",
      { name, source: "s3://elsewhere/1", metrics: { accuracy: 0.9 }, ...more },
      headers as never,
    );

  /** Judged, approved by one, promoted. */
  async function promoted(name: string, version: number): Promise<void> {
    expect((await call("POST", at(name, `/versions/${version}/judge`), {})).body.version.gate).toMatchObject({
      passed: true,
    });
    await call("POST", at(name, `/versions/${version}/approvals`), { decision: "approved" });
    const answer = await call("PUT", at(name, `/versions/${version}/stage`), { stage: "production" });
    expect([answer.status, answer.body.error]).toEqual([200, undefined]);
  }

  it.each([
    ["s3://user:pw@host/model", "s3://user:***@host/model"],
    ["S3A://AKIA%3Apw@host/model", "S3A://AKIA:***@host/model"],
    ["gs://bucket/model?password=pw&v=1", "gs://bucket/model?password=***&v=1"],
  ])("stores no password: %s is refused by both APIs", async (source, value) => {
    const { status, body } = await register("secret", { source });
    const rule = expect.stringContaining("must have no password");
    expect([status, body.error.details.problems]).toEqual([400, [{ path: "source", value, rule }]]);
    await mlflow("registered-models/create", { name: "secret" });
    for (const [path, request] of [
      ["model-versions/create", { name: "secret", source }],
      ["experiments/create", { name: `secret ${value}`, artifact_location: source }],
    ] as const) {
      const answer = await mlflow(path, request);
      expect([path, answer.status, answer.text]).toEqual([path, 400, expect.stringContaining("must have no password")]);
      expect(answer.text).not.toContain("pw");
    }
  });

  it("registers a version from elsewhere once a key, under any name", async () => {
    const signature = { inputs: [{ name: "x", type: "float", shape: [-1, 4] }], outputs: [{ type: "int64" }] };
    const first = await register(odd, { signature, semver: "1.0.0" }, { "idempotency-key": "k-1" });
    expect(first).toMatchObject({
      status: 201,
      body: { version: { model: odd, version: 1, stage: "none", signature } },
    });
    expect((await register(odd, { signature }, { "idempotency-key": "k-1" })).body).toEqual(first.body);
    expect((await register(odd, { semver: "1.0.0" })).body.error.code).toBe("SEMVER_TAKEN");
    await promoted(odd, 1);
    expect((await call("GET", at(odd))).body.suggestedSemver).toBe("1.1.0");
    expect((await call("GET", at(odd, "/aliases/champion"))).body.version.version).toBe(1);
    expect(calls.events.filter(({ model }) => model === odd).map(({ revision, action }) => [revision, action])).toEqual(
      [
        [1, "registered"],
        [2, "gated"],
        [3, "approved"],
        [4, "promoted"],
      ],
    );
  });

  it.each(["a/b", "a:b", ".", "..", " ", "a\u0007", "m".repeat(251)])("refuses the name %j", async (name) => {
    expect((await register(name)).body.error.code).toBe("INVALID_INPUT");
  });

  it("asks so many people as the policy says, of those it names, and not the submitter", async () => {
    await register("policed", {}, { by: "ada" });
    const approvals = { required: 2, approvers: ["ada", "grace", "alan"], notTheSubmitter: true };
    await call("PUT", at("policed", "/policy"), { approvals, rules: { thresholds: { accuracy: 0.8 } } });
    await call("POST", at("policed", "/versions/1/judge"), {});
    const approve = (by: string) =>
      call("POST", at("policed", "/versions/1/approvals"), { decision: "approved" }, { by });
    const promote = () => call("PUT", at("policed", "/versions/1/stage"), { stage: "production" });
    expect((await approve("ada")).body.error.code).toBe("NOT_AN_APPROVER");
    expect((await approve("mallory")).body.error.code).toBe("NOT_AN_APPROVER");
    expect((await approve("grace")).body.version.approval).toBeUndefined();
    expect((await approve("grace")).body.version.approvals).toHaveLength(1);
    expect((await promote()).body.error).toMatchObject({ code: "NOT_APPROVED" });
    expect((await approve("alan")).body.version.approval).toMatchObject({ decision: "approved", by: "alan" });
    // Other rules: the verdict says nothing about them.
    await call("PUT", at("policed", "/policy"), { approvals, rules: { thresholds: { accuracy: 0.95 } } });
    expect((await promote()).body.error.code).toBe("GATE_OUTDATED");
    expect((await call("POST", at("policed", "/versions/1/judge"), {})).body.version.gate.passed).toBe(false);
    expect((await promote()).body.error.code).toBe("GATE_NOT_PASSED");
    expect((await call("GET", at("policed", "/policy"))).body).toMatchObject({
      policy: { rulesRevision: 6 },
      history: [{ revision: 2 }, { revision: 6 }],
    });
  });

  it("tells history by pages, and its newest with the model", async () => {
    await register("long");
    for (const value of ["1", "2", "3", "4"]) await call("PUT", at("long", "/tags"), { key: "n", value });
    const revisions = ({ items }: { items: readonly { revision: number }[] }) => items.map(({ revision }) => revision);
    const first = (await call("GET", at("long", "/history?limit=3"))).body;
    expect(revisions(first)).toEqual([5, 4, 3]);
    // Entries that are added in the meantime are on no later page.
    await call("PUT", at("long", "/tags"), { key: "n", value: "5" });
    const second = (await call("GET", at("long", `/history?limit=3&nextToken=${first.nextToken}`))).body;
    expect([revisions(second), second.nextToken]).toEqual([[2, 1], undefined]);
    expect((await call("GET", at("long", "/history?nextToken=x"))).body.error.code).toBe("INVALID_INPUT");
    const { history, historyNextToken } = (await call("GET", at("long"))).body;
    expect([revisions({ items: history }), historyNextToken]).toEqual([[1, 2, 3, 4, 5, 6], undefined]);
  });

  it("shows what the run has logged of a version that has no metrics of its own, as the run's", async () => {
    const runId = (await mlflow("runs/create", { experiment_id: "0" })).body.run.info.run_id;
    const metrics = [
      { key: "accuracy", value: 0.5, timestamp: 1, step: 1 },
      { key: "accuracy", value: 0.75, timestamp: 2, step: 2 },
      { key: "loss", value: "NaN", timestamp: 1, step: 1 },
    ];
    await mlflow("runs/log-batch", { run_id: runId, metrics });
    await register("logged", { source: `runs:/${runId}/model`, runId, metrics: {} });
    await register("logged", {});
    const loggedMetrics = { accuracy: 0.75, loss: "NaN" };
    expect((await call("GET", at("logged", "/versions/1"))).body.version).toMatchObject({ metrics: {}, loggedMetrics });
    const { versions } = (await call("GET", at("logged"))).body;
    expect(versions.map((version: { loggedMetrics?: object }) => version.loggedMetrics)).toEqual([
      undefined,
      loggedMetrics,
    ]);
    await promoted("logged", 1);
    const cli = await cliOverApp(app);
    try {
      expect(JSON.parse((await cli.run("models", "resolve", "logged", "--json")).out).metrics).toEqual(loggedMetrics);
      expect((await cli.run("models", "resolve", "logged")).out).toContain(
        `metrics       ${JSON.stringify(loggedMetrics)}`,
      );
    } finally {
      await cli.stop();
    }
  });

  it("compares with the champion unless the policy waives it, and keeps that in the verdict", async () => {
    for (const _ of [1, 2]) await register("imported");
    await promoted("imported", 1);
    const judge = async () => (await call("POST", at("imported", "/versions/2/judge"), {})).body.version.gate;
    expect(await judge()).toMatchObject({ passed: false, checks: [{ gate: "no-regression", passed: false }] });
    expect((await call("PUT", at("imported", "/policy"), { rules: { noRegression: "waived" } })).status).toBe(200);
    expect(await judge()).toMatchObject({
      passed: true,
      rulesRevision: 7,
      checks: [
        {
          gate: "no-regression",
          passed: true,
          waived: true,
          evidence: expect.stringContaining("waived by the policy"),
        },
      ],
    });
    await promoted("imported", 2);
    expect((await call("PUT", at("imported", "/policy"), { rules: { noRegression: "off" } })).status).toBe(400);
  });

  it("hides what is deleted, and uses its name again without its versions and with its policy", async () => {
    await register("gone");
    await call("PUT", at("gone", "/policy"), { rules: { thresholds: { accuracy: 0.99 } } });
    expect((await call("DELETE", at("gone"))).body.model.lifecycle).toBe("deleted");
    expect((await call("GET", at("gone"))).status).toBe(404);
    expect((await call("GET", at("gone", "/versions/1"))).status).toBe(404);
    expect((await call("POST", "/models", { name: "gone" })).status).toBe(201);
    expect((await call("POST", "/models", { name: "gone" })).body.error.code).toBe("MODEL_EXISTS");
    expect((await register("gone")).body.version.version).toBe(2);
    const { model, versions } = (await call("GET", at("gone"))).body;
    expect(versions.map(({ version }: { version: number }) => version)).toEqual([2]);
    expect(model.policy.rules.thresholds).toEqual({ accuracy: 0.99 });
  });

  describe("what serving should load", () => {
    it("has a tag of revision and version, by which it is not sent again", async () => {
      await register("served");
      const none = await call("GET", at("served", "/production"));
      expect([none.status, none.body.error.code]).toEqual([404, "NO_CHAMPION"]);
      await call("PUT", at("served", "/policy"), { rules: { noRegression: { incompatible: "pass" } } });
      await promoted("served", 1);
      const first = await call("GET", at("served", "/production"));
      expect(first).toMatchObject({ status: 200, body: { version: 1, revision: 5, artifactUri: "s3://elsewhere/1" } });
      const etag = first.headers.get("etag")!;
      expect([etag, first.headers.get("ringmaster-source")]).toEqual(['"5-1"', "registry"]);
      const again = await call("GET", at("served", "/production"), undefined, { "if-none-match": `"0-0", W/${etag}` });
      expect([again.status, again.body, again.headers.get("etag")]).toEqual([304, undefined, etag]);
      expect(again.headers.get("x-request-id")).not.toBeNull();
      // Changes that do not change the champion do not change the response.
      await call("PUT", at("served", "/tags"), { key: "a", value: "b" });
      expect((await call("GET", at("served", "/production"))).headers.get("etag")).toBe(etag);
      await register("served");
      await promoted("served", 2);
      const next = await call("GET", at("served", "/production"), undefined, { "if-none-match": etag });
      expect([next.status, next.body.version]).toEqual([200, 2]);
    });

    /** DynamoDB that refuses connections, or never answers. */
    const refused = new DynamoDBClient({
      endpoint: "http://127.0.0.1:1",
      region: "us-east-1",
      credentials: { accessKeyId: "test", secretAccessKey: "test" },
      maxAttempts: 1,
    });
    afterAll(() => refused.destroy());

    it.each<[string, string, number, DynamoDBDocumentClient]>([
      ["is down", "served", 2, createDocumentClient(refused)],
      ["is down", odd, 1, createDocumentClient(refused)],
      ["is silent", odd, 1, { send: () => new Promise(() => undefined) } as unknown as DynamoDBDocumentClient],
    ])("is answered while DynamoDB %s: %j", async (_what, name, version, dynamodb) => {
      const down = createApp(createTestPlatform({ ...embedded, dynamodb }).platform, { checkResponses: true });
      const up = await call("GET", at(name, "/production"));
      const etag = up.headers.get("etag")!;
      const ask = (model: string, headers: object = {}) =>
        call("GET", at(model, "/production"), undefined, { ...headers, to: down });
      const [answer, unknown, same] = await Promise.all([
        ask(name),
        ask("nobody"),
        ask(name, { "if-none-match": etag }),
      ]);
      expect([answer.status, answer.headers.get("ringmaster-source")]).toEqual([200, "pointer"]);
      expect(answer.body).toEqual(up.body);
      expect([answer.body.version, answer.headers.get("etag"), same.status]).toEqual([version, etag, 304]);
      expect([unknown.status, unknown.body.error.code]).toEqual([503, "REGISTRY_UNAVAILABLE"]);
    });
  });
});
