import { triggerDefinitionSchema } from "../../../core/triggers/trigger";
import { useTestApp } from "../../support/app";
import { jobInput } from "../../support/fixtures";

interface Version {
  readonly model_version: {
    readonly version: string;
    readonly current_stage: string;
    readonly aliases?: readonly string[];
  };
}

/** A model that a client of MLflow's has logged and registered goes the way of every other: judged, approved, promoted. */
describe("a version that was registered by MLflow's protocol", () => {
  const { platform, app } = useTestApp();
  const name = "churn model ü";

  async function call<T = unknown>(method: string, path: string, body?: object, actor = "ada") {
    const response = await app.request(path, {
      method,
      headers: { "content-type": "application/json", "x-ringmaster-actor": actor },
      body: body && JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as T };
  }
  const mlflow = <T = unknown>(method: string, path: string, body?: object) =>
    call<T>(method, `/api/2.0/mlflow/${path}`, body);
  const native = <T = unknown>(method: string, path: string, body?: object, actor?: string) =>
    call<T>(method, `/api/v1/models/${encodeURIComponent(name)}${path}`, body, actor);
  const toProduction = (version: string) =>
    mlflow<Version & { error_code?: string; message?: string }>("POST", "model-versions/transition-stage", {
      name,
      version,
      stage: "Production",
      archive_existing_versions: true,
    });

  const inProduction = async () => (await native<{ version: number }>("GET", "/production")).body.version;

  async function register(accuracy: number): Promise<string> {
    const made = await mlflow<{ run: { info: { run_id: string } } }>("POST", "runs/create", { experiment_id: "0" });
    const run = made.body.run.info.run_id;
    const source = `mlflow-artifacts:/0/${run}/artifacts/model`;
    const { body } = await mlflow<Version>("POST", "model-versions/create", { name, source, run_id: run });
    // After the version was made, as clients like to do it.
    await mlflow("POST", "runs/log-metric", { run_id: run, key: "accuracy", value: accuracy, timestamp: 1 });
    return body.model_version.version;
  }

  it("is refused with the missing condition, one after the other", async () => {
    await mlflow("POST", "registered-models/create", { name });
    const { status: declared } = await native("PUT", "/policy", {
      // Models from elsewhere were not tested on the same rows: what then is the policy's to say.
      rules: { thresholds: { accuracy: 0.8 }, noRegression: { incompatible: "pass" } },
      approvals: { required: 1 },
    });
    expect(declared).toBe(200);
    const version = await register(0.7);
    expect(version).toBe("1");
    const refused = await toProduction("1");
    expect([refused.status, refused.body.error_code]).toEqual([403, "PERMISSION_DENIED"]);
    for (const step of ["judge", "approve", "promote"]) expect(refused.body.message).toContain(`models ${step}`);

    await native("POST", "/versions/1/judge", {});
    expect((await toProduction("1")).body.message).toContain("did not pass its gates");
    expect((await native("POST", "/versions/1/approvals", { decision: "approved" })).status).toBe(409);
  });

  it.each(["Production", "PRODUCTION", " Production", "Ｐroduction", "Production\u200b"])(
    "is not promoted to %j before, however its number is written",
    async (stage) => {
      for (const version of ["1", "01", " 1", "1.0", "１"]) {
        const requested = { name, version, stage, archive_existing_versions: true };
        const { status } = await mlflow("POST", "model-versions/transition-stage", requested);
        expect([version, status >= 400 && status < 500]).toEqual([version, true]);
      }
      expect((await native("GET", "/production")).status).toBe(404);
    },
  );

  it("is promoted by MLflow's transition once it has passed and was approved, and resolved by the native API", async () => {
    expect(await register(0.9)).toBe("2");
    await mlflow("POST", "registered-models/alias", { name, alias: "champion", version: "1" });
    await native("POST", "/versions/2/judge", {});
    expect((await toProduction("2")).body.message).toContain("0 of 1 approvals");
    expect((await native("POST", "/versions/2/approvals", { decision: "approved" }, "grace")).status).toBe(200);
    const promoted = await toProduction("2");
    expect(promoted.body).toMatchObject({ model_version: { current_stage: "Production", aliases: ["champion"] } });
    expect(await toProduction("2")).toEqual(promoted);

    expect(await inProduction()).toBe(2);
    const champion = await mlflow<Version>(
      "GET",
      `registered-models/alias?${new URLSearchParams({ name, alias: "champion" })}`,
    );
    expect(champion.body.model_version.version).toBe("2");
  });

  it("makes room for the next in one write", async () => {
    expect(await register(0.95)).toBe("3");
    await native("POST", "/versions/3/judge", {});
    await native("POST", "/versions/3/approvals", { decision: "approved" }, "grace");
    expect((await toProduction("3")).status).toBe(200);
    const old = await mlflow<Version>("GET", `model-versions/get?${new URLSearchParams({ name, version: "2" })}`);
    expect(old.body.model_version).toMatchObject({ current_stage: "Archived" });
    const latest = await mlflow<{ model_versions: readonly object[] }>(
      "GET",
      `registered-models/get-latest-versions?${new URLSearchParams({ name, stages: "Production" })}`,
    );
    expect(latest.body.model_versions).toMatchObject([{ version: "3" }]);
  });

  it("has words of its own, which are no news of the model's", async () => {
    type Model = { registered_model: { last_updated_timestamp: number } };
    const timeOf = async (model: string): Promise<number> =>
      (await mlflow<Model>("GET", `registered-models/get?name=${model}`)).body.registered_model.last_updated_timestamp;
    await mlflow("POST", "registered-models/create", { name: "described" });
    await mlflow("POST", "model-versions/create", { name: "described", source: "s3://bucket/described" });
    const before = await timeOf("described");
    const version = { name: "described", version: "1" };
    await mlflow("PATCH", "model-versions/update", { ...version, description: "new words" });
    await mlflow("POST", "model-versions/set-tag", { ...version, key: "a", value: "1" });
    expect(await timeOf("described")).toBe(before);
    await mlflow("POST", "model-versions/transition-stage", { ...version, stage: "Staging" });
    expect(await timeOf("described")).toBeGreaterThan(before);
  });

  it("keeps its name where it serves, has a policy, or a rule makes versions of it", async () => {
    const rename = (from: string) =>
      mlflow<{ error_code: string; message: string }>("POST", "registered-models/rename", {
        name: from,
        new_name: "another",
      });
    const serving = await rename(name);
    expect([serving.status, serving.body.error_code]).toEqual([409, "RESOURCE_CONFLICT"]);
    expect(serving.body.message).toContain("is or was in production");
    for (const each of ["ruled", "named"]) {
      await mlflow("POST", "registered-models/create", { name: each });
      await mlflow("POST", "model-versions/create", { name: each, source: "s3://bucket/elsewhere" });
    }
    const at = "2026-01-01T00:00:00.000Z";
    const trigger = triggerDefinitionSchema.parse({
      name: "nightly",
      on: { type: "dataset", dataset: "digits" },
      start: { job: jobInput({ dataset: "digits", registerAs: "ruled" }) },
    });
    const begun = {
      team: "default",
      revision: 1,
      enabled: true,
      since: at,
      createdBy: "ada",
      createdAt: at,
      updatedAt: at,
    };
    expect(await platform.triggers.save({ ...trigger, ...begun }, undefined)).toBe(true);
    const ruled = await rename("ruled");
    expect([ruled.status, ruled.body.message]).toEqual([409, expect.stringContaining('trigger "nightly"')]);
    expect((await rename("named")).status).toBe(200);
  });

  it("names the old name under the new one, and the new name under the old one", async () => {
    const { body } = await call<{ history: readonly { action: string; subject?: string }[] }>(
      "GET",
      "/api/v1/models/another",
    );
    expect(body.history.map(({ action, subject }) => [action, subject])).toEqual([["renamed", "named"]]);
    const back = await mlflow<{ error_code: string; message: string }>("POST", "registered-models/rename", {
      name: "another",
      new_name: "named",
    });
    expect([back.status, back.body.error_code]).toEqual([409, "RESOURCE_CONFLICT"]);
    expect(back.body.message).toContain("choose a name that was never used");
    const gone = await call<{ error: { message: string } }>("GET", "/api/v1/models/named");
    expect([gone.status, JSON.stringify(gone.body)]).toEqual([404, expect.stringContaining("renamed")]);
    expect((await call("POST", "/api/v1/models/named/restore", {})).status).toBe(404);
  });
});
