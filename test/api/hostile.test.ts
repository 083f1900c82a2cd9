import { useTestApp } from "../support/app";

describe("hostile bodies", () => {
  const { platform, app } = useTestApp();
  let runId: string;
  beforeAll(async () => {
    const { run } = (await mlflow("runs/create", { experiment_id: "0" })).body as { run: { info: { run_id: string } } };
    runId = run.info.run_id;
    await mlflow("registered-models/create", { name: "m" });
    await mlflow("model-versions/create", { name: "m", source: "s3://x/y" });
  });

  async function post(path: string, body: unknown, method = "POST") {
    const response = await app.request(path, {
      method,
      headers: { "content-type": "application/json" },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json");
    return { status: response.status, body: isJson ? (JSON.parse(text) as unknown) : text };
  }
  const native = (path: string, body: unknown, method?: string) => post(`/api/v1${path}`, body, method);
  const mlflow = (path: string, body: unknown) => post(`/api/2.0/mlflow/${path}`, body);

  const manyTags = Array.from({ length: 6 }, (_, i) => [`t${i}`, "x".repeat(90_000)] as const);
  const listed = manyTags.map(([key, value]) => ({ key, value }));

  it.each<[string, string, unknown, "POST" | "PUT"]>([
    ["a param that objects do not keep", "/runs", '{"params":{"__proto__":"x"}}', "POST"],
    ["a tag that objects do not keep", "/runs", '{"tags":{"__proto__":"x"}}', "POST"],
    ["half a character in a name", "/experiments", '{"name":"\\ud800"}', "POST"],
    ["half a character in a key", "/runs", '{"params":{"\\ud800":"x"}}', "POST"],
    ["a model's tag that objects do not keep", "/models/m/tags", { key: "__proto__", value: "x" }, "PUT"],
    ["an alias that objects do not keep", "/models/m/aliases/__proto__", { version: 1 }, "PUT"],
  ])("refuses %s", async (_, path, body, method) => {
    expect(await native(path, body, method)).toMatchObject({ status: 400, body: { error: { code: "INVALID_INPUT" } } });
  });

  it.each<[string, string, (runId: string) => unknown]>([
    ["a param that objects do not keep", "runs/log-parameter", (run_id) => ({ run_id, key: "__proto__", value: "x" })],
    ["a tag that objects do not keep", "runs/set-tag", (run_id) => ({ run_id, key: "__proto__", value: "x" })],
    ["half a character", "runs/set-tag", (run_id) => `{"run_id":"${run_id}","key":"a","value":"\\ud800"}`],
    ["an experiment's tag", "experiments/create", () => ({ name: "e", tags: [{ key: "__proto__", value: "x" }] })],
    ["more tags than a model's row holds", "registered-models/create", () => ({ name: "m2", tags: listed })],
    [
      "more tags than a version's row holds",
      "model-versions/create",
      () => ({ name: "m", source: "s3://x/y", tags: listed }),
    ],
    [
      "an alias that objects do not keep",
      "registered-models/alias",
      () => ({ name: "m", alias: "__proto__", version: "1" }),
    ],
    // A pattern that goes back and forth in it would take minutes.
    [
      "a number of a million digits that is none",
      "runs/log-metric",
      (run_id) => ({ run_id, key: "a", timestamp: 1, value: `${"1".repeat(1_000_000)}x` }),
    ],
  ])("refuses %s through MLflow's API", async (_, path, body) => {
    expect(await mlflow(path, body(runId))).toMatchObject({
      status: 400,
      body: { error_code: "INVALID_PARAMETER_VALUE" },
    });
  });

  it("refuses more tags than a model's row holds", async () => {
    const { status } = await native("/models", { name: "tagged", tags: Object.fromEntries(manyTags) });
    expect(status).toBe(400);
  });

  it("keeps names that every object inherits", async () => {
    const params = { constructor: "a", toString: "b" };
    const { body } = await native("/runs", { params });
    const { run } = body as { run: { runId: string } };
    expect((await platform.records.find(run.runId))?.params).toEqual(params);
    expect(await native("/runs/search", { filter: "params.constructor = 'a'" })).toMatchObject({
      body: { runs: [{ run: { runId: run.runId } }] },
    });
    expect(await native("/runs/search", { filter: "tags.constructor IS NOT NULL" })).toMatchObject({
      body: { runs: [] },
    });
  });

  it("keeps what a run read, whatever the length of its name in bytes", async () => {
    const dataset = { name: "語".repeat(500), digest: "語".repeat(100) };
    const { status, body } = await native("/runs", { datasets: [dataset] });
    expect(status).toBe(201);
    const { runId: reader } = (body as { run: { runId: string } }).run;
    expect((await platform.lineage.runsOf(dataset, { limit: 10 })).items).toEqual([reader]);
  });

  it("refuses to add to a list of models that is none", async () => {
    const key = "mlflow.log-model.history";
    await mlflow("runs/set-tag", { run_id: runId, key, value: "{}" });
    const model_json = JSON.stringify({ artifact_path: "a", flavors: {}, utc_time_created: "x", run_id: runId });
    const answer = await mlflow("runs/log-model", { run_id: runId, model_json });
    expect(answer).toMatchObject({ status: 400, body: { error_code: "INVALID_PARAMETER_VALUE" } });
  });

  it.each(["html", "markdown"])("draws the largest and the smallest numbers there are as %s", async (format) => {
    const far = await mlflow("runs/create", { experiment_id: "0", start_time: Number.MAX_SAFE_INTEGER });
    const { run_id } = (far.body as { run: { info: { run_id: string } } }).run.info;
    const most = Number.MAX_SAFE_INTEGER;
    const metrics = [1.7e308, -1.7e308, 5e-324].flatMap((value, i) => [
      { key: "all", value, timestamp: i * most * 0.5, step: i - 1 },
      { key: `only ${i}`, value, timestamp: most, step: most },
    ]);
    const body = { run_id, metrics: metrics.map((one) => ({ ...one, timestamp: Math.floor(one.timestamp) })) };
    expect((await mlflow("runs/log-batch", body)).status).toBe(200);
    for (const axis of ["step", "time", "relative-time"]) {
      const answer = await native("/runs/compare", { runs: [run_id, runId], format, axis });
      expect(answer.status).toBe(200);
      expect(answer.body).not.toContain("NaN,");
    }
  });
});
