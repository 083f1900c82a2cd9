import { callApp, useTestApp } from "../support/app";
import { registerTestDataset, resultOf, runOf } from "../support/fixtures";

const { platform, app } = useTestApp();
beforeAll(async () => {
  // The logged runs name its second version.
  for (const rows of [100, 200]) await registerTestDataset(platform, "digits", rows);
});

const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  callApp(app, method, path, body, { "x-ringmaster-actor": "ada", ...headers });
const codeOf = async (method: string, path: string, body?: unknown) => {
  const answer = await call(method, path, body);
  return [answer.status, answer.body.error?.code];
};

describe("experiments", () => {
  it("are made, found by name, renamed, tagged, deleted, restored", async () => {
    const { status, body } = await call("POST", "/experiments", { name: "first try", tags: { goal: "speed" } });
    expect(status).toBe(201);
    const { experimentId } = body.experiment;
    expect(body.experiment).toMatchObject({
      name: "first try",
      lifecycle: "active",
      createdBy: "ada",
      artifactLocation: `mlflow-artifacts:/${experimentId}`,
    });
    expect(await codeOf("POST", "/experiments", { name: "first try" })).toEqual([409, "EXPERIMENT_EXISTS"]);
    expect((await call("GET", "/experiments?name=first+try")).body.experiments).toEqual([body.experiment]);
    const path = `/experiments/${experimentId}`;
    const renamed = await call("PATCH", path, { name: "second", tags: { goal: null, size: "3" } });
    expect(renamed.body.experiment).toMatchObject({ name: "second", tags: { size: "3" }, revision: 2 });
    expect((await call("GET", "/experiments?name=first+try")).body.experiments).toEqual([]);
    // The old name is free again, and Default's is not.
    expect(await codeOf("PATCH", path, { name: "Default" })).toEqual([409, "EXPERIMENT_EXISTS"]);
    expect((await call("PATCH", path, { lifecycle: "deleted" })).body.experiment.lifecycle).toBe("deleted");
    expect(await codeOf("POST", "/runs", { experimentId })).toEqual([409, "EXPERIMENT_DELETED"]);
    expect(await codeOf("POST", "/runs", { experiment: "second" })).toEqual([409, "EXPERIMENT_DELETED"]);
    expect((await call("GET", "/experiments?name=second")).body.experiments).toEqual([]);
    await call("PATCH", path, { lifecycle: "active" });
    expect((await call("PATCH", path, { lifecycle: "active" })).body.experiment.revision).toBe(4);
    expect(await codeOf("GET", "/experiments/777")).toEqual([404, "EXPERIMENT_NOT_FOUND"]);
  });

  it("are deleted with their runs, as through MLflow's API", async () => {
    const { body } = await call("POST", "/experiments", { name: "with runs" });
    const { experimentId } = body.experiment;
    const made = await call("POST", "/runs", { experimentId });
    const lifecycle = async () => (await call("GET", `/runs/${made.body.run.runId}`)).body.run.lifecycle;
    await call("PATCH", `/experiments/${experimentId}`, { lifecycle: "deleted" });
    expect(await lifecycle()).toBe("deleted");
    const restored = await call("PATCH", `/experiments/${experimentId}`, { lifecycle: "active", name: "again" });
    expect(restored.body.experiment).toMatchObject({ lifecycle: "active", name: "again" });
    expect(await lifecycle()).toBe("active");
  });

  it("the default one stays, whatever else is requested with its deletion", async () => {
    const refused = await call("PATCH", "/experiments/0", { lifecycle: "deleted", name: "gone" });
    expect([refused.status, refused.body.error.message]).toEqual([
      400,
      expect.stringContaining("default experiment of every team"),
    ]);
    expect((await call("GET", "/experiments/0")).body.experiment).toMatchObject({
      name: "Default",
      lifecycle: "active",
    });
  });

  it("are made once by one key", async () => {
    const key = { "idempotency-key": "make-it" };
    const first = await call("POST", "/experiments", { name: "by key" }, key);
    expect(await call("POST", "/experiments", { name: "by key" }, key)).toEqual(first);
    const other = await call("POST", "/experiments", { name: "by key" }, { "idempotency-key": "another" });
    expect(other.body.error.code).toBe("EXPERIMENT_EXISTS");
  });
});

describe("logged runs", () => {
  const request = {
    experiment: "logged",
    name: "three deep",
    params: { depth: "3" },
    tags: { by: "hand" },
    metrics: { accuracy: 0.5, loss: "NaN" },
    startedAt: 1_700_000_000_000,
    seed: 7,
    datasets: [{ name: "digits", digest: "d1", version: 2 }],
    code: { commit: "abc", dirty: true },
  };

  it("are made in one call, and once by one key", async () => {
    const key = { "idempotency-key": "run-it" };
    const { status, body } = await call("POST", "/runs", request, key);
    expect(status).toBe(201);
    const { runId } = body.run;
    expect(await call("POST", "/runs", request, key)).toEqual({ status, body });
    const other = await call("POST", "/runs", { ...request, seed: 8 }, key);
    expect([other.status, other.body.error.code]).toEqual([409, "IDEMPOTENCY_CONFLICT"]);
    const view = (await call("GET", `/runs/${runId}`)).body;
    expect(view).toEqual({
      run: body.run,
      children: [],
      metrics: [
        { metric: "accuracy", last: 0.5, lastStep: 0, lastTime: 1700000000000, min: 0.5, max: 0.5 },
        { metric: "loss", last: "NaN", lastStep: 0, lastTime: 1700000000000, min: "NaN", max: "NaN" },
      ],
    });
    expect(view.run).toMatchObject({ source: "logged", status: "running", createdBy: "ada", seed: 7 });
    const { experimentId } = view.run;
    expect((await call("GET", `/experiments/${experimentId}/runs`)).body.runs).toEqual([body.run]);
    expect((await call("GET", `/experiments/${experimentId}/runs/${runId}`)).body).toEqual(view);
    expect(await codeOf("GET", `/experiments/0/runs/${runId}`)).toEqual([404, "RUN_NOT_FOUND"]);
  });

  it("are not said to be missing where only a run that was trained here will do", async () => {
    const { runId } = (await call("POST", "/runs", {})).body.run;
    for (const [method, verb] of [
      ["GET", ""],
      ["POST", "/cancel"],
      ["POST", "/reproduce"],
      ["GET", "/logs"],
    ] as const) {
      const { status, body } = await call(method, `/training-runs/${runId}${verb}`);
      expect([status, body.error.code, body.error.message]).toEqual([
        404,
        "RUN_NOT_FOUND",
        expect.stringMatching(/^there is no training run "[-\w]+"/),
      ]);
    }
  });

  it("end once, and may go on", async () => {
    const { runId } = (await call("POST", "/runs", {})).body.run;
    const change = async (body: unknown) => (await call("PATCH", `/runs/${runId}`, body)).body.run;
    const ended = await change({ status: "completed" });
    expect(ended.endedAt).toBeGreaterThan(0);
    expect((await change({ status: "completed" })).revision).toBe(ended.revision);
    expect(await change({ status: "running" })).not.toHaveProperty("endedAt");
    expect(await change({ status: "failed", endedAt: 5 })).toMatchObject({ status: "failed", endedAt: 5 });
    expect(await change({ tags: { a: "1" }, notes: "*n*", name: "x" })).toMatchObject({
      tags: { a: "1" },
      notes: "*n*",
    });
    expect((await change({ tags: { a: null, b: "2" } })).tags).toEqual({ b: "2" });
  });

  it("keep the first value of a param", async () => {
    const { runId } = (await call("POST", "/runs", { params: { depth: "3" } })).body.run;
    const path = `/runs/${runId}/params`;
    expect((await call("POST", path, { params: { depth: "3", width: "8" } })).body.run.params).toEqual({
      depth: "3",
      width: "8",
    });
    const refused = await call("POST", path, { params: { depth: "4", more: "1" } });
    expect(refused.status).toBe(409);
    expect(refused.body.error.details.conflicts).toEqual([{ key: "depth", known: "3", given: "4" }]);
    expect((await call("GET", `/runs/${runId}`)).body.run.params).not.toHaveProperty("more");
  });

  it("do not change while they are deleted", async () => {
    const { runId, experimentId } = (await call("POST", "/runs", { experiment: "deletions" })).body.run;
    const deleted = await call("DELETE", `/runs/${runId}`);
    expect(deleted.body.run).toMatchObject({ lifecycle: "deleted", deletedAt: expect.any(String) });
    expect(await call("DELETE", `/runs/${runId}`)).toEqual(deleted);
    expect(await codeOf("PATCH", `/runs/${runId}`, { name: "x" })).toEqual([409, "RUN_DELETED"]);
    expect(await codeOf("POST", `/runs/${runId}/params`, { params: { a: "1" } })).toEqual([409, "RUN_DELETED"]);
    const listed = async (view: string) =>
      (await call("GET", `/experiments/${experimentId}/runs?view=${view}`)).body.runs.length;
    expect([await listed("active"), await listed("deleted"), await listed("all")]).toEqual([0, 1, 1]);
    expect((await call("POST", `/runs/${runId}/restore`)).body.run).not.toHaveProperty("deletedAt");
    expect(await listed("active")).toBe(1);
  });

  it.each([
    ["a key that is too long", { params: { ["k".repeat(251)]: "1" } }],
    ["a param that is too long", { params: { k: "v".repeat(6_001) } }],
    ["a tag that is too long", { tags: { k: "v".repeat(8_001) } }],
    ["two experiments", { experimentId: "0", experiment: "x" }],
    ["an end before its start", { startedAt: 2, endedAt: 1 }],
    ["a blank experiment", { experiment: " " }],
    ["too many params", { params: Object.fromEntries(Array.from({ length: 1_001 }, (_, i) => [`p${i}`, ""])) }],
  ])("are refused with %s", async (_, body) => {
    expect(await codeOf("POST", "/runs", body)).toEqual([400, "INVALID_INPUT"]);
  });

  it("hold long params, compressed, until the row is full; then what there is stays", async () => {
    const { runId } = (await call("POST", "/runs", {})).body.run;
    const params = (from: number, count: number, value: (i: number) => string) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${from + i}`, value(from + i)]));
    const long = await call("POST", `/runs/${runId}/params`, { params: params(0, 500, (i) => `${i} `.repeat(1_000)) });
    expect(long.status).toBe(200);
    expect((await call("GET", `/runs/${runId}`)).body.run.params).toEqual(long.body.run.params);
    let seed = 1;
    const noise = () =>
      Array.from({ length: 6_000 }, () => {
        seed = (seed * 48_271) % 2_147_483_647;
        return String.fromCharCode(0x21 + (seed % 90));
      }).join("");
    const full = await call("POST", `/runs/${runId}/params`, { params: params(1_000, 100, noise) });
    expect([full.status, full.body.error.code]).toEqual([413, "RUN_RECORD_TOO_LARGE"]);
    expect((await call("GET", `/runs/${runId}`)).body.run).toEqual(long.body.run);
  });
});

describe("training runs", () => {
  const runId = "run-trained";
  beforeAll(async () => {
    const { runs } = platform;
    await runs.create(
      runOf(runId, { code: { commit: "abc", dirty: true }, environment: { lockfileSha256: "1".repeat(64) } }),
    );
    await runs.enterPhase(runId, "LaunchTraining", "2026-01-01T00:00:01.000Z");
    await runs.recordMachine(runId, { memberId: "m", instanceType: "c7i.large" });
    await runs.recordStep(runId, {
      step: "LaunchTraining",
      inputHash: "h",
      output: resultOf(runId),
      startedAt: "2026-01-01T00:00:01.000Z",
      finishedAt: "2026-01-01T00:00:02.000Z",
    });
  });

  it("have a record of their job, state and machines", async () => {
    const { run, attempts } = (await call("GET", `/runs/${runId}`)).body;
    expect(attempts).toEqual([]);
    expect(run).toMatchObject({
      source: "training",
      status: "running",
      createdBy: "tester",
      seed: 0,
      params: { "hyperparameters.optimizer": "adam", "model.hidden": "[8]", "resources.microBatches": "8", seed: "0" },
      datasets: [{ name: "digits", version: 1, sourceType: "ringmaster" }],
      code: { commit: "abc", dirty: true },
      environment: {
        lockfileSha256: "1".repeat(64),
        numerics: { backend: "wasm" },
        hardware: { instanceTypes: ["c7i.large"], cpu: "test" },
      },
      weightsSha256: resultOf(runId).weightsSha256,
    });
  });

  it("take notes, tags and further params, and nothing that is their own", async () => {
    expect((await call("PATCH", `/runs/${runId}`, { tags: { good: "yes" }, notes: "n" })).body.run).toMatchObject({
      tags: { good: "yes" },
      notes: "n",
    });
    const more = await call("POST", `/runs/${runId}/params`, { params: { more: "1", seed: "0" } });
    expect(more.body.run.params).toMatchObject({ more: "1", seed: "0", "hyperparameters.optimizer": "adam" });
    expect(await codeOf("POST", `/runs/${runId}/params`, { params: { seed: "1" } })).toEqual([409, "PARAM_CONFLICT"]);
    expect(await codeOf("PATCH", `/runs/${runId}`, { status: "failed" })).toEqual([409, "RUN_FIELD_FIXED"]);
    await platform.runs.close(runId, { status: "completed", at: "2026-01-01T00:00:03.000Z" });
    expect((await call("GET", `/runs/${runId}`)).body.run).toMatchObject({
      status: "completed",
      endedAt: Date.parse("2026-01-01T00:00:03.000Z"),
      tags: { good: "yes" },
      params: { more: "1" },
    });
  });

  it("name what they made, which nobody else does", async () => {
    const list = async (path: string) => (await call("GET", `/runs/${runId}/artifacts?path=${path}`)).body.artifacts;
    expect(await list("training/model")).toEqual([
      { path: "training/model/topology.json", isDirectory: false, bytes: 2, sha256: "b".repeat(64) },
      { path: "training/model/weights.safetensors", isDirectory: false, bytes: 4, sha256: "a".repeat(64) },
    ]);
    const { sha256 } = await platform.objects.putContent("x");
    const put = (path: string) => codeOf("POST", `/runs/${runId}/artifacts`, { artifacts: [{ path, sha256 }] });
    expect(await put("training/model/weights.safetensors")).toEqual([409, "ARTIFACT_RESERVED"]);
    expect(await put("plots/loss.png")).toEqual([200, undefined]);
    expect((await call("GET", `/runs/${runId}/artifacts`)).body.artifacts).toEqual([
      { path: "plots", isDirectory: true },
      { path: "training", isDirectory: true },
    ]);
  });
});

describe("artifacts", () => {
  it("are named once uploaded, listed, fetched", async () => {
    const { runId } = (await call("POST", "/runs", {})).body.run;
    const content = await platform.objects.putContent("a plot");
    const path = `/runs/${runId}/artifacts`;
    const missing = await call("POST", path, { artifacts: [{ path: "a", sha256: "0".repeat(64) }] });
    expect([missing.status, missing.body.error.details.problems[0].path]).toEqual([400, "artifacts.0.sha256"]);
    const artifacts = [{ path: "plots/a b.png", sha256: content.sha256, contentType: "image/png" }];
    expect((await call("POST", path, { artifacts })).body.artifacts).toEqual([
      { path: "plots/a b.png", isDirectory: false, ...content },
    ]);
    const { url, ...found } = (await call("GET", `${path}/content?path=plots%2Fa+b.png`)).body;
    expect(found).toEqual({ path: "plots/a b.png", ...content, contentType: "image/png" });
    expect(await (await fetch(url)).text()).toBe("a plot");
    expect(await codeOf("GET", `${path}/content?path=plots`)).toEqual([404, "ARTIFACT_NOT_FOUND"]);
  });

  it.each(["../up", "/root", "a//b", "a/./b", "a/..", "a\\b", "a\u0000", ".", "", "é".repeat(501)])(
    "are refused under %p",
    async (path) => {
      const { sha256 } = await platform.objects.putContent("x");
      expect(await codeOf("POST", "/runs/run-trained/artifacts", { artifacts: [{ path, sha256 }] })).toEqual([
        400,
        "INVALID_INPUT",
      ]);
    },
  );
});
