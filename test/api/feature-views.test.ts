import { productionUsesOf } from "../../api/lineage/of-view";
import { schemaHashOf, versionDigestOf } from "../../core/datasets/identity";
import { registerView } from "../../core/feature-store/registry";
import { viewDefinition } from "../../core/feature-store/shapes";
import { callApp, useTestApp } from "../support/app";
import { registerTestDataset } from "../support/fixtures";
import { createStoredView, fileOf, spendView } from "../support/stored-view";

describe("feature views through the API", () => {
  const { platform, app } = useTestApp();
  beforeAll(async () => {
    await createStoredView(platform, "stored");
  });

  const call = (method: string, path: string, body?: unknown) => callApp(app, method, path, body);
  const register = (change: object, allowIncompatible = false) =>
    call("POST", "/feature-views", { definition: { ...spendView, ...change }, allowIncompatible });

  it("have immutable versions: equal definitions are one, and changes must be compatible", async () => {
    const columns = { ...spendView.columns, plan: "string" };
    const answers = [
      await register({ name: "changing" }),
      await register({ name: "changing", steps: [{ kind: "log", column: "spend" }], columns }),
      await register({ name: "changing" }),
      await register({ name: "changing", ttl: "7d" }),
      await register({ name: "changing", ttl: "7d" }, true),
    ];
    expect(answers.map(({ status, body }) => [status, body.version?.version, body.version?.generation])).toEqual([
      [201, 1, 1],
      [201, 2, 1],
      [200, 1, 1],
      [409, undefined, undefined],
      [201, 3, 2],
    ]);
    const { code, details } = answers[3]!.body.error;
    expect([code, details.changes]).toEqual([
      "FEATURE_VIEW_INCOMPATIBLE",
      ["column plan is gone", "feature spend_log is gone"],
    ]);
    const at = (path: string) => call("GET", `/feature-views/changing${path}`);
    expect((await at("")).body).toMatchObject({ version: { version: 3 }, state: { batches: 0, rows: 0 } });
    expect((await at("/versions/2")).body.version.features).toEqual([
      { name: "spend", type: "float" },
      { name: "plan", type: "string" },
      { name: "spend_log", type: "float" },
    ]);
    expect((await at("/versions/4")).body.error.code).toBe("FEATURE_VIEW_VERSION_NOT_FOUND");
  });

  const { columns } = spendView;
  it.each([
    ["a retyped column", { columns: { ...columns, spend: "int" } }, "column spend was float, and is int"],
    ["other entities", { entities: ["other"], columns: { ...columns, other: "int" } }, "entities was customer"],
    ["another event time", { eventTime: "day", columns: { ...columns, day: "timestamp" } }, "eventTime was at"],
    [
      "a creation time",
      { creationTime: "known", columns: { ...columns, known: "timestamp" } },
      "creationTime was none",
    ],
  ])("refuse %s", async (_case, change, text) => {
    const answer = await register({ name: "stored", ...change });
    expect([answer.status, answer.body.error.code]).toEqual([409, "FEATURE_VIEW_INCOMPATIBLE"]);
    expect(answer.body.error.message).toContain(text);
  });

  it.each([
    ["no entity", { entities: [] }, "entities must name at least one column"],
    ["an unknown entity", { entities: ["shop"] }, 'entities[0] is "shop", but must be one of the columns'],
    ["a float as an entity", { entities: ["spend"] }, "must not be a float"],
    ["no event time", { eventTime: undefined }, "eventTime must name a column"],
    ["an event time that is none", { eventTime: "spend" }, "of type timestamp"],
    ["nothing but an entity and a time", { columns: { customer: "int", at: "timestamp" } }, "or a step"],
    ["names that differ in case alone", { columns: { ...columns, Spend: "int" } }, "must differ from spend"],
    ["a fitted step", { steps: [{ kind: "standardize", column: "spend" }] }, "is fitted on training rows"],
    ["a step on a column that is not there", { steps: [{ kind: "log", column: "gone" }] }, "must be a column"],
  ])("refuse a definition with %s", async (_case, change, text) => {
    const answer = await register({ name: "wrong", ...change });
    expect([answer.status, answer.body.error.code]).toEqual([400, "INVALID_INPUT"]);
    expect(answer.body.error.message).toContain(text);
  });

  it.each([
    ["content that is missing", { files: [fileOf("0".repeat(64), 5)] }, "must be uploaded"],
    ["another sum of rows", { rows: 9 }, "must be 1, the sum of the files"],
    ["rows of the future", { latestTime: "2030-01-01T00:00:00.000Z" }, "must not lie in the future"],
  ])("refuse a batch with %s", async (_case, change, text) => {
    const draft = { ...(await createStoredView(platform, "batched")), ...change };
    const answer = await call("POST", "/feature-views/batched/batches", draft);
    expect([answer.status, answer.body.error.code]).toEqual([400, "INVALID_INPUT"]);
    expect(answer.body.error.message).toContain(text);
    expect((await call("GET", "/feature-views/batched")).body.state).toMatchObject({ batches: 1, rows: 1 });
  });

  it("refuse other data of windows, which the online store does not have", async () => {
    const window = { kind: "window", column: "spend", aggregate: "sum", over: "1d", name: "day" };
    await register({ name: "windowed", steps: [window] });
    const same = await register({ name: "windowed", steps: [window, { ...window, aggregate: "mean", name: "mean" }] });
    expect(same.body.version).toMatchObject({ version: 2, generation: 1 });
    const answer = await register({
      name: "windowed",
      steps: [
        { ...window, over: "2d" },
        { ...window, name: "mean" },
      ],
    });
    expect([answer.status, answer.body.error.details.changes]).toEqual([
      409,
      ["the data of windows was spend of 24 h, and is spend of 48 h"],
    ]);
  });

  it("refuse rows of an earlier generation", async () => {
    const draft = await createStoredView(platform, "moved");
    await register({ name: "moved", columns: { ...columns, spend: "int" } }, true);
    const answer = await call("POST", "/feature-views/moved/batches", draft);
    expect([answer.status, answer.body.error.code]).toEqual([409, "FEATURE_VIEW_CHANGED"]);
  });

  it.each([
    ["an unknown column", { customer: 1, at: "2026-01-01T00:00:00Z", extra: 1 }, "rows[0].extra"],
    ["no entity", { at: "2026-01-01T00:00:00Z" }, "rows[0].customer value is missing"],
    ["a time of the future", { customer: 1, at: "2999-01-01T00:00:00Z" }, "but must not lie in the future"],
    ["an impossible day", { customer: 1, at: "2026-02-30T00:00:00Z" }, "but must be of type timestamp"],
    ["a text for a number", { customer: 1, at: "2026-01-01T00:00:00Z", spend: "x" }, "must be of type float"],
    ["a time that is none", { customer: 1, at: "noon" }, "must be of type timestamp"],
  ])("refuse a sent row with %s", async (_case, row, text) => {
    const answer = await call("POST", "/feature-views/stored/rows", { rows: [row] });
    expect([answer.status, answer.body.error.code]).toEqual([400, "INVALID_INPUT"]);
    expect(answer.body.error.message).toContain(text);
  });

  it("read null for an entity without a row, and refuse features of one name", async () => {
    const body = { views: ["stored"], entities: [{ customer: 5 }] };
    expect((await call("POST", "/online-features", body)).body).toEqual({
      rows: [{ entity: { customer: 5 }, features: { spend: null }, eventTimes: { stored: null } }],
    });
    await createStoredView(platform, "other");
    const both = { ...body, views: ["stored", "other"] };
    expect((await call("POST", "/online-features", both)).body.error.message).toContain("use full names");
    const named = (await call("POST", "/online-features", { ...both, fullNames: true })).body;
    expect(named.rows[0].features).toEqual({ stored__spend: null, other__spend: null });
    const wrong = await call("POST", "/online-features", { ...body, entities: [{ customer: "5" }] });
    expect(wrong.body.error.message).toContain(
      'entities[0].customer is "5", but must be given for view stored, as int',
    );
  });

  describe("with columns of datasets", () => {
    /** Registers a dataset whose column `x` has this origin, with a trained model of it. */
    async function use(name: string, view: string, feature = "spend", type: "float" | "int" = "float") {
      const base = await registerTestDataset(platform, name);
      const schema = base.schema.map((column) =>
        column.name === "x" ? { ...column, type, from: { view, feature } } : column,
      );
      const draft = { ...base, schema, schemaHash: schemaHashOf(schema), digest: versionDigestOf({ ...base, schema }) };
      return call("POST", `/datasets/${name}/versions`, { draft, allowSchemaChange: true });
    }
    async function train(model: string, dataset: string) {
      const { manifest } = (await call("GET", `/datasets/${dataset}`)).body.version;
      const { digest, version } = manifest;
      const at = "2026-01-01T00:00:00.000Z";
      const source = `s3://elsewhere/${model}`;
      await platform.registry.register(
        platform.team,
        { model, metrics: {}, source, dataset: { name: dataset, version, digest } },
        { by: "ada", at },
      );
    }

    it("lists the dataset and model versions that use them, by pages", async () => {
      await createStoredView(platform, "used");
      expect((await call("GET", "/feature-views/used/uses")).body).toEqual({ items: [] });
      for (const name of ["first", "second"]) expect((await use(name, "used@1")).status).toBe(201);
      // Idempotent.
      expect((await use("first", "used@1")).status).toBe(200);
      await train("scores", "first");
      const page = (await call("GET", "/feature-views/used/uses?limit=1")).body;
      expect(page.items).toEqual([
        { view: "used@1", dataset: "first@2", models: [{ model: "scores", version: 1, stage: "none" }] },
      ]);
      const next = await call("GET", `/feature-views/used/uses?nextToken=${encodeURIComponent(page.nextToken)}`);
      expect(next.body).toEqual({ items: [{ view: "used@1", dataset: "second@2", models: [] }] });
      expect((await call("GET", "/feature-views/none/uses")).body.error.code).toBe("FEATURE_VIEW_NOT_FOUND");
      const { lineage } = (await call("GET", "/models/scores/versions/1/lineage")).body;
      expect(lineage.edges).toContainEqual({ from: "view:used@1", to: "dataset:first@2" });
    });

    it.each([
      ["a view that does not exist", "gone@1", "spend", "float", /must be a version of a feature view: there is no/],
      ["a version that does not exist", "stored@7", "spend", "float", /feature view stored has no version 7/],
      ["a feature that does not exist", "stored@1", "plan", "float", /x\.from is "plan", but must be a feature of/],
      ["another type", "stored@1", "spend", "int", /x\.type is "int", but must be float, the type of spend in/],
      ["no version", "stored", "spend", "float", /must be NAME@VERSION/],
    ] as const)("refuses a column of %s", async (_case, view, feature, type, text) => {
      const answer = await use("refused", view, feature, type);
      expect([answer.status, answer.body.error.message]).toEqual([400, expect.stringMatching(text)]);
    });

    it("says which models in production an incompatible definition would leave without rows", async () => {
      await createStoredView(platform, "served");
      await use("labels", "served@1");
      await train("churn", "labels");
      // A version in production, whatever its approvals.
      const uses = await productionUsesOf(
        {
          lineage: platform.lineage,
          registry: {
            details: async (name) => {
              const { versions } = await platform.registry.details(name);
              return { versions: versions.map((version) => ({ ...version, stage: "production" as const })) };
            },
          },
        },
        "served",
      );
      expect(uses).toEqual(["churn/1 (served@1)"]);
      const definition = viewDefinition.parse({ ...spendView, name: "served", columns: { ...columns, spend: "int" } });
      const options = { by: "ada", productionUses: async () => uses };
      await expect(registerView(platform, definition, { ...options, allowIncompatible: false })).rejects.toThrow(
        "in production, churn/1 (served@1) would get no new rows",
      );
      const allowed = await registerView(platform, definition, { ...options, allowIncompatible: true });
      expect(allowed.warnings).toMatchObject([
        { code: "VIEW_IN_PRODUCTION", message: expect.stringContaining("train them with served@2") },
      ]);
      expect(await registerView(platform, definition, { ...options, allowIncompatible: true })).not.toHaveProperty(
        "warnings",
      );
    });
  });
});
