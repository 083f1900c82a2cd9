import { createApp } from "../../api/app";
import { callApp, useTestApp } from "../support/app";
import { jobInput, registerTestDataset } from "../support/fixtures";

describe("the API", () => {
  const { platform, calls, app } = useTestApp();
  beforeAll(async () => {
    await registerTestDataset(platform);
  });

  const call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    callApp(app, method, path, body, headers);

  describe("training runs", () => {
    it("creates a run, resolves its dataset and starts its state machine", async () => {
      const { status, body } = await call(
        "POST",
        "/training-runs",
        { job: jobInput() },
        { "x-ringmaster-actor": "ada" },
      );
      expect(status).toBe(201);
      expect(body.run).toMatchObject({
        status: "queued",
        dataset: { name: "digits", version: 1 },
        model: "digits",
        createdBy: "ada",
      });
      expect(calls.started).toContain(body.run.runId);
      expect((await call("GET", `/training-runs/${body.run.runId}`)).body.run).toEqual(body.run);
      expect((await call("GET", "/training-runs")).body.runs).toContainEqual(body.run);
    });

    it("the same request under the same key is the same run; another one is refused", async () => {
      const key = { "idempotency-key": "key-1" };
      const first = await call("POST", "/training-runs", { job: jobInput() }, key);
      const second = await call("POST", "/training-runs", { job: jobInput() }, key);
      expect(second.body.run.runId).toBe(first.body.run.runId);
      const other = await call("POST", "/training-runs", { job: jobInput({ seed: 7 }) }, key);
      expect(other).toMatchObject({ status: 409, body: { error: { code: "IDEMPOTENCY_CONFLICT" } } });
    });

    it.each([
      ["an unknown dataset", { job: jobInput({ dataset: "nothing" }) }, 404, "DATASET_NOT_FOUND"],
      ["an unknown version", { job: jobInput({ dataset: "digits@9" }) }, 404, "DATASET_VERSION_NOT_FOUND"],
      ["a model that does not fit the data", { job: jobInput({ model: { type: "cnn" } }) }, 400, "INVALID_INPUT"],
      [
        "a module without its bundle",
        { job: jobInput({ model: { type: "module", path: "x.ts" } }) },
        400,
        "INVALID_INPUT",
      ],
      ["a slice that is no column", { job: jobInput({ evaluation: { slices: ["nope"] } }) }, 400, "INVALID_INPUT"],
      [
        "a threshold of no metric",
        { job: jobInput({ evaluation: { thresholds: { speed: 1 } } }) },
        400,
        "INVALID_INPUT",
      ],
      ["more workers than micro-batches", { job: jobInput({ resources: { workers: 9 } }) }, 400, "INVALID_INPUT"],
      ["an unknown key", { job: { ...jobInput(), colour: "red" } }, 400, "INVALID_INPUT"],
    ])("refuses %s and creates nothing", async (_name, body, status, code) => {
      const before = (await call("GET", "/training-runs?limit=200")).body.runs.length;
      const answer = await call("POST", "/training-runs", body);
      expect(answer).toMatchObject({ status, body: { error: { code, requestId: expect.any(String) } } });
      expect((await call("GET", "/training-runs?limit=200")).body.runs.length).toBe(before);
    });

    it("cancels: the row, the execution; twice is once; an ended run is refused", async () => {
      const { body } = await call("POST", "/training-runs", { job: jobInput() });
      const { runId } = body.run;
      expect((await call("POST", `/training-runs/${runId}/cancel`)).body.run.status).toBe("killed");
      expect((await call("POST", `/training-runs/${runId}/cancel`)).body.run.status).toBe("killed");
      expect(calls.stopped).toContain(runId);
      const done = await call("POST", "/training-runs", { job: jobInput() });
      await platform.runs.close(done.body.run.runId, { status: "completed", at: "2026-01-01T00:00:00.000Z" });
      expect(await call("POST", `/training-runs/${done.body.run.runId}/cancel`)).toMatchObject({
        status: 409,
        body: { error: { code: "RUN_ENDED" } },
      });
    });

    it("pages through runs, and refuses a token that it never gave", async () => {
      const all = (await call("GET", "/training-runs?limit=200")).body.runs;
      const first = (await call("GET", "/training-runs?limit=2")).body;
      const second = (await call("GET", `/training-runs?limit=2&nextToken=${first.nextToken}`)).body;
      expect([...first.runs, ...second.runs]).toEqual(all.slice(0, 4));
      expect((await call("GET", "/training-runs?nextToken=x")).status).toBe(400);
      const empty = Buffer.from("{}").toString("base64url");
      expect((await call("GET", `/training-runs?nextToken=${empty}`)).status).toBe(400);
      expect((await call("GET", "/training-runs?limit=0")).status).toBe(400);
      const { body } = await call("GET", "/training-runs?limit=abc");
      expect(body.error.details.problems).toEqual([{ path: "limit", value: "abc", rule: "must be a number" }]);
    });

    it("serves metrics as they were written, NaN included", async () => {
      const { body } = await call("POST", "/training-runs", { job: jobInput() });
      const { runId } = body.run;
      await platform.metrics.append(runId, [
        { metric: "train/loss", steps: [1, 2, 3], values: [2, Number.NaN, 1], times: [10, 20, 30] },
      ]);
      expect((await call("GET", `/training-runs/${runId}/metrics`)).body.metrics).toMatchObject([
        { metric: "train/loss", last: 1, lastStep: 3, min: 1, max: 2 },
      ]);
      expect((await call("GET", `/training-runs/${runId}/metrics?metric=train/loss`)).body.points).toEqual([
        { step: 1, value: 2, time: 10 },
        { step: 2, value: "NaN", time: 20 },
        { step: 3, value: 1, time: 30 },
      ]);
    });

    it("refuses the logs of a worker that the run cannot have", async () => {
      const logsOf = async (job: unknown, worker: number) => {
        const { body } = await call("POST", "/training-runs", { job });
        return call("GET", `/training-runs/${body.run.runId}/logs?worker=${worker}`);
      };
      const problems = (rule: string) => ({
        status: 400,
        body: { error: { code: "INVALID_INPUT", details: { problems: [{ path: "worker", rule }] } } },
      });
      const one = jobInput();
      expect(await logsOf(one, 7)).toMatchObject(problems("must be 0: the run has 1 worker"));
      expect(await logsOf(one, 0)).toMatchObject({ status: 200 });
      const three = jobInput({ resources: { workers: 3 } });
      expect(await logsOf(three, 3)).toMatchObject(problems("must be 0 to 2: the run has 3 workers"));
      expect(await logsOf(three, 2)).toMatchObject({ status: 200 });
    });

    it("reads the logs of the evaluation's worker, whose index follows those of training", async () => {
      const { body } = await call("POST", "/training-runs", { job: jobInput() });
      const logs = `/training-runs/${body.run.runId}/logs?worker=1`;
      expect(await call("GET", logs)).toMatchObject({ status: 400 });
      const worker = { workerIndex: 1, jobId: "job", attempt: 1, status: "RUNNING", attempts: [] } as const;
      await platform.runs.recordWorker(body.run.runId, worker);
      expect(await call("GET", logs)).toMatchObject({ status: 200 });
    });
  });

  it.each([
    ["/training-runs/run-none", 404, "RUN_NOT_FOUND"],
    ["/training-runs/run-none/metrics", 404, "RUN_NOT_FOUND"],
    ["/models/none", 404, "MODEL_NOT_FOUND"],
    ["/models/none/versions/zero", 400, "INVALID_INPUT"],
    [`/models/${"m".repeat(256)}`, 400, "INVALID_INPUT"],
  ])("%s answers %d %s", async (path, status, code) => {
    expect(await call("GET", path)).toMatchObject({ status, body: { error: { code } } });
  });

  it("hands out upload targets for missing content only", async () => {
    const there = await platform.objects.putContent("there");
    const { body } = await call("POST", "/uploads", { contents: [there, { sha256: "0".repeat(64), bytes: 3 }] });
    expect(body.missing).toMatchObject([
      { sha256: "0".repeat(64), headers: { "x-amz-checksum-sha256": expect.any(String) } },
    ]);
    const wrong = await fetch(body.missing[0].url, { method: "PUT", headers: body.missing[0].headers, body: "lie" });
    expect(wrong.status).toBe(400);
    expect(await platform.objects.size(`cas/sha256/${"0".repeat(64)}`)).toBeUndefined();
  });

  it("identifies the caller by the signature, whatever the request claims", async () => {
    const response = await app.request(
      "/api/v1/training-runs",
      {
        method: "POST",
        headers: { "content-type": "application/json", "x-ringmaster-actor": "mallory" },
        body: JSON.stringify({ job: jobInput() }),
      },
      { event: { requestContext: { identity: { userArn: "arn:aws:iam::123456789012:user/ada" } } } },
    );
    expect(await response.json()).toMatchObject({ run: { createdBy: "arn:aws:iam::123456789012:user/ada" } });
  });

  it.each(["/api/v1/models", "/version"])("names the request of each answer: %s", async (path) => {
    expect((await app.request(path)).headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("hides what went wrong inside, and says by which id to find it", async () => {
    const broken = createApp({
      ...platform,
      forTeam: (team) => ({
        ...platform.forTeam(team),
        runs: { ...platform.runs, list: () => Promise.reject(new Error("secret detail")) },
      }),
    });
    const response = await broken.request("/api/v1/training-runs");
    const body = JSON.parse(await response.text());
    expect(response.status).toBe(500);
    expect(body.error).toMatchObject({ code: "INTERNAL", requestId: response.headers.get("x-request-id") });
    expect(JSON.stringify(body)).not.toContain("secret");
  });
});
