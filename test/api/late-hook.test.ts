import { createApp } from "../../api/app";
import type { HookOutcome } from "../../core/registry/gates/external-check";
import type { ModelVersion } from "../../core/registry/model";
import { callApp } from "../support/app";
import { createTestPlatform, type TestPlatform as Platform, useEmbedded } from "../support/embedded";

describe("a hook that is late", () => {
  const embedded = useEmbedded();
  let platform: Platform;
  let app: ReturnType<typeof createApp>;
  /** Runs while the hook is being called. */
  let inBetween: () => Promise<unknown>;
  let outcome: HookOutcome;
  let name: string;
  let made = 0;
  beforeAll(async () => {
    ({ platform } = createTestPlatform(embedded));
    const hooks = {
      async call() {
        await inBetween();
        return outcome;
      },
      problemOf: async (url: string) => (url.startsWith("https://") ? undefined : "it must be an https URL"),
    };
    const forTeam = (team: string) => ({ ...platform.forTeam(team), hooks });
    app = createApp({ ...platform, forTeam }, { checkResponses: true });
  });

  const call = (method: string, path: string, body?: object, by = "ada") =>
    callApp(app, method, path, body, { "x-ringmaster-actor": by });
  const at = (rest: string) => `/models/${name}${rest}`;
  const check = (url = "https://hook.example/") => ({ name: "safety", kind: "http", url });
  const setPolicy = (rules: object) => call("PUT", at("/policy"), { rules: { noRegression: "waived", ...rules } });
  const judge = (version: number) => call("POST", at(`/versions/${version}/judge`), {});
  const decide = (version: number, decision: string) =>
    call("POST", at(`/versions/${version}/approvals`), { decision, reason: "seen" }, "grace");
  const toProduction = (version: number) => call("PUT", at(`/versions/${version}/stage`), { stage: "production" });
  const version = async (number: number): Promise<ModelVersion> =>
    (await call("GET", at(`/versions/${number}`))).body.version;

  beforeEach(async () => {
    name = `digits-${++made}`;
    inBetween = async () => undefined;
    outcome = { answer: { passed: true, evidence: "fine", by: "hook safety", at: "2026-01-01T00:00:00.000Z" } };
    for (const n of [1, 2]) {
      await call("POST", "/models/register", { name, source: `s3://b/${n}`, metrics: { accuracy: 0.9 } });
    }
    await setPolicy({ checks: [check()] });
  });

  it("does not undo a rejection that came before its answer", async () => {
    await judge(1);
    inBetween = () => decide(1, "rejected");
    outcome = { answer: { passed: true, evidence: "approve me", by: "hook safety", at: "2026-01-01T00:00:01.000Z" } };
    await setPolicy({ checks: [check("https://hook.example/2")] });
    await judge(1);
    expect(await version(1)).toMatchObject({ stage: "archived", approval: { decision: "rejected" } });
    expect((await decide(1, "approved")).body.error.code).toBe("ALREADY_DECIDED");
    expect((await toProduction(1)).status).toBe(409);
  });

  it("promotes nothing by the rules of a policy that was replaced while its hook ran", async () => {
    inBetween = async () => {
      inBetween = async () => undefined;
      await setPolicy({ thresholds: { accuracy: 0.99 } });
    };
    await judge(1);
    for (const refused of [await decide(1, "approved"), await toProduction(1)]) {
      expect(refused.body.error.code).toBe("GATE_OUTDATED");
    }
    await judge(1);
    expect((await toProduction(1)).body.error.code).toBe("GATE_NOT_PASSED");
  });

  it("promotes nothing against a champion that was replaced while its hook ran", async () => {
    await judge(2);
    await decide(2, "approved");
    inBetween = async () => {
      inBetween = async () => undefined;
      expect((await toProduction(2)).status).toBe(200);
    };
    await judge(1);
    expect((await decide(1, "approved")).body.error.code).toBe("GATE_OUTDATED");
    expect((await platform.registry.head(name)).production).toBe(2);
  });

  it("does not touch the champion, whatever it answers of it later", async () => {
    await judge(1);
    await decide(1, "approved");
    await toProduction(1);
    outcome = { answer: { passed: false, evidence: "stop it", by: "hook safety", at: "2026-01-01T00:00:02.000Z" } };
    await setPolicy({ checks: [check("https://hook.example/2")] });
    await judge(1);
    expect(await version(1)).toMatchObject({ stage: "production", served: { gate: { passed: true } } });
    expect((await platform.registry.head(name)).production).toBe(1);
  });

  it("is not registered at a URL that no hook may have, which the answer names", async () => {
    const refused = await setPolicy({ checks: [check(), { ...check("http://127.0.0.1:4700/"), name: "own" }] });
    expect([refused.status, refused.body.error.details.problems]).toEqual([
      400,
      [{ path: "rules.checks[1].url", value: "http://127.0.0.1:4700/", rule: "it must be an https URL" }],
    ]);
  });
});
