import { callApp, useTestApp } from "../support/app";

describe("the source of a version that is registered", () => {
  const { app } = useTestApp({ checkResponses: true });
  let run: string;
  let other: string;
  let logged: string;
  beforeAll(async () => {
    for (const name of ["native", "mlflow", "origin"]) await call("/api/v1/models", { name });
    const made = [1, 2].map(() => call("/api/2.0/mlflow/runs/create", { experiment_id: "0" }));
    [run, other] = (await Promise.all(made)).map(({ body }) => body.run.info.run_id) as [string, string];
    logged = (await call("/api/2.0/mlflow/logged-models", { experiment_id: "0", name: "m", source_run_id: run })).body
      .model.info.model_id;
    await call("/api/v1/models/register", { name: "origin", source: `runs:/${run}/model`, runId: run });
    const response = await app.request("/api/v1/models/origin/aliases/best", {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: '{"version": 1}',
    });
    expect(response.status).toBe(200);
  });

  const call = (path: string, body: object) => callApp(app, "POST", path, body);
  /** `RUN`, `OTHER` and `LOGGED` stand for ids. */
  const filled = (text: string) => text.replace("RUN", run).replace("OTHER", other).replace("LOGGED", logged);

  it.each([
    ["/etc/passwd", {}, "a path on a machine"],
    ["etc/passwd", {}, "a path on a machine"],
    ["file:///etc/passwd", {}, "a path on a machine"],
    ["FILE:/etc/passwd", { runId: "RUN" }, "a path on a machine"],
    ["C:\\models\\1", {}, "a path on a machine"],
    ["http://169.254.169.254/latest", {}, "must not name a host"],
    ["hdfs://namenode/models/1", {}, "must not name a host"],
    ["abfss://c@host/models/1", {}, "must not name a host"],
    ["mlflow-artifacts://elsewhere/0/x", {}, "must not name a host"],
    ["s3://bucket/a/../../secret", {}, "no segment . or .."],
    ["s3://bucket/a/%252e%252e/secret", {}, "no segment . or .."],
    ["runs:/RUN/model", {}, "that runId names"],
    ["runs:/RUN/model", { runId: "OTHER" }, "that runId names"],
    ["mlflow-artifacts:/0/RUN/artifacts/model", { runId: "OTHER" }, "that runId names"],
    ["models:/LOGGED", {}, "that loggedModelId names"],
    ["models:/a/b/c", {}, "models:/NAME/VERSION"],
  ])("is refused: %s of %j", async (source, of, rule) => {
    const owner = Object.fromEntries(Object.entries(of).map(([key, value]) => [key, filled(value as string)]));
    const native = await call("/api/v1/models/register", { name: "native", source: filled(source), ...owner });
    expect(native).toMatchObject({ status: 400, body: { error: { code: "INVALID_INPUT" } } });
    expect(native.body.error.details.problems[0]).toMatchObject({
      path: "source",
      rule: expect.stringContaining(rule),
    });
    const { runId } = owner;
    const requested = { name: "mlflow", source: filled(source), ...(runId && { run_id: runId }) };
    expect(await call("/api/2.0/mlflow/model-versions/create", requested)).toMatchObject({
      status: 400,
      body: { error_code: "INVALID_PARAMETER_VALUE" },
    });
  });

  it.each([
    ["s3://bucket/models/1", {}],
    ["gs://bucket/models/1", {}],
    ["runs:/RUN/model", { runId: "RUN" }],
    ["mlflow-artifacts:/0/RUN/artifacts/model", { runId: "RUN" }],
    ["models:/LOGGED", { loggedModelId: "LOGGED" }],
  ])("is taken: %s of %j", async (source, of) => {
    const owner = Object.fromEntries(Object.entries(of).map(([key, value]) => [key, filled(value as string)]));
    const made = await call("/api/v1/models/register", { name: "native", source: filled(source), ...owner });
    expect([made.status, made.body.version?.source, made.body.error]).toEqual([201, filled(source), undefined]);
  });

  it.each(["models:/origin/1", "models:/origin@best"])("is that version's, run and all: %s", async (source) => {
    const made = await call("/api/v1/models/register", { name: "native", source });
    expect(made).toMatchObject({ status: 201, body: { version: { source: "models:/origin/1", runId: run } } });
  });

  it.each([
    ["models:/origin/9", 404, "MODEL_VERSION_NOT_FOUND"],
    ["models:/nobody/1", 404, "MODEL_NOT_FOUND"],
    ["models:/origin@nobody", 404, "ALIAS_NOT_FOUND"],
    ["models:/origin/latest", 400, "INVALID_INPUT"],
    ["models:/m-0123456789abcdef0123456789abcdef", 400, "INVALID_INPUT"],
  ])("is not there: %s", async (source, status, code) => {
    const loggedModelId = source.startsWith("models:/m-") ? { loggedModelId: source.slice("models:/".length) } : {};
    const made = await call("/api/v1/models/register", { name: "native", source, ...loggedModelId });
    expect(made).toMatchObject({ status, body: { error: { code } } });
  });

  it("is not another run's than that of the version that it copies", async () => {
    const made = await call("/api/v1/models/register", { name: "native", source: "models:/origin/1", runId: other });
    expect(made.body.error.details.problems).toMatchObject([{ path: "runId", rule: expect.stringContaining(run) }]);
  });
});
