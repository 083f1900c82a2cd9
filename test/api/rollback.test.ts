import { decideApproval, promote } from "../../core/registry/transitions";
import { callApp, useTestApp } from "../support/app";
import { judgeNow, promoteJudged, versionOfRun } from "../support/registry";

const at = "2026-01-01T00:00:00.000Z";

describe("rolling back through the API", () => {
  const { platform, app } = useTestApp();
  beforeAll(async () => {
    // Versions 1, 2 and 3 were promoted, one after another.
    for (const runId of ["a", "b", "c", "d"])
      await platform.registry.register("default", versionOfRun("digits", runId), { by: "test", at });
    for (const version of [1, 2, 3]) await promoteJudged(platform.registry, "digits", version);
  });

  const rollBack = (body: object, key?: string) =>
    callApp(app, "POST", "/models/digits/rollback", body, key === undefined ? {} : { "idempotency-key": key });

  it("is done once under one key, and refused where another champion was meant", async () => {
    const first = await rollBack({ reason: "latency", from: 3 }, "key-1");
    expect(first).toMatchObject({ status: 200, body: { version: { version: 2, stage: "production" } } });
    expect((await rollBack({ reason: "latency", from: 3 }, "key-1")).body).toEqual(first.body);
    const second = await rollBack({ reason: "latency", from: 3 }, "key-2");
    expect(second).toMatchObject({ status: 409, body: { error: { code: "ROLLBACK_OVERTAKEN" } } });
    expect(second.body.error.message).toContain("version 2 is");
    expect(await rollBack({ reason: "again" })).toMatchObject({ status: 200, body: { version: { version: 1 } } });
    expect(await rollBack({ reason: "once more" })).toMatchObject({
      status: 409,
      body: { error: { code: "NOTHING_TO_ROLL_BACK" } },
    });
  });

  it("does not undo a rollback by a promotion that is repeated under its key", async () => {
    const promoteUnder = async (key: string) => {
      const response = await app.request("/api/v1/models/digits/versions/3/stage", {
        method: "PUT",
        headers: { "content-type": "application/json", "idempotency-key": key },
        body: JSON.stringify({ stage: "production" }),
      });
      return response.status;
    };
    const production = async () => {
      const { model } = (await (await app.request("/api/v1/models/digits")).json()) as {
        model: { production: number };
      };
      return model.production;
    };
    expect(await promoteUnder("p-1")).toBe(409);
    await judgeNow(platform.registry, "digits", 3);
    await platform.registry.apply("digits", [3], decideApproval(3, "approved", { by: "ada", at }));
    expect(await promoteUnder("p-1")).toBe(200);
    expect(await production()).toBe(3);
    expect(await rollBack({ from: 3 }, "key-3")).toMatchObject({ status: 200, body: { version: { version: 1 } } });
    expect(await promoteUnder("p-1")).toBe(200);
    expect(await production()).toBe(1);
  });

  it("shows a model with its history, each change once", async () => {
    const response = await app.request("/api/v1/models/digits");
    const { model, versions, history } = (await response.json()) as {
      model: { production: number; revision: number };
      versions: { version: number; stage: string }[];
      history: { action: string; reason?: string }[];
    };
    expect(model.production).toBe(1);
    expect(versions.map(({ stage }) => stage)).toEqual(["none", "archived", "archived", "production"]);
    expect(history).toHaveLength(model.revision);
    expect(history.slice(-6).map(({ action, reason }) => [action, reason])).toEqual([
      ["rolled-back", "latency"],
      ["rolled-back", "again"],
      ["gated", undefined],
      ["approved", undefined],
      ["promoted", undefined],
      ["rolled-back", undefined],
    ]);
  });

  it("takes an approval that comes a second time, and late, for no new one", async () => {
    const approve = async (key: string) => {
      const response = await app.request("/api/v1/models/digits/versions/4/approvals", {
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": key },
        body: JSON.stringify({ decision: "approved" }),
      });
      const { version } = (await response.json()) as { version: { approvals: readonly unknown[] } };
      return [response.status, version.approvals.length];
    };
    await judgeNow(platform.registry, "digits", 4);
    expect([await approve("a-1"), await approve("a-1")]).toEqual([
      [200, 1],
      [200, 1],
    ]);
    await platform.registry.apply("digits", [4], promote(4, { by: "ada", at }));
    expect((await rollBack({ from: 4 })).status).toBe(200);
    expect(await approve("a-1")).toEqual([200, 0]);
    expect(await approve("a-2")).toEqual([200, 1]);
  });
});
