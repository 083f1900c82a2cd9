import { promote, setStage } from "../../core/registry/transitions";
import { callApp, useTestApp } from "../support/app";
import { cliOverApp } from "../support/cli-over-app";
import { judgeNow, promoteJudged, versionOfRun, waitForApproval } from "../support/registry";

const by = { by: "test", at: "2026-01-01T00:00:00.000Z" };
const plan = { metric: "conversion", kind: "binary", effect: 0.2, minUnits: 20 };

/** Each case has a model of its own: version 1 in production, 2 a canary under test, whose run waits for an approval. */
describe("a canary under test", () => {
  const { platform, calls, app } = useTestApp({ checkResponses: true });
  let name: string;
  let made = 0;
  beforeEach(async () => {
    name = `digits-${++made}`;
    const { registry, team } = platform;
    for (const run of ["a", "b"]) await registry.register(team, versionOfRun(name, `${name}-${run}`), by);
    await promoteJudged(registry, name, 1);
    await judgeNow(registry, name, 2);
    await registry.apply(name, [2], setStage(2, "canary", by));
    await waitForApproval(platform, `${name}-b`, name, 2);
    expect((await traffic({ test: plan })).status).toBe(200);
  });

  const call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    callApp(app, method, path.startsWith("/api/") ? path : `/models/${name}${path}`, body, headers);
  const traffic = (more: object = {}, weight = 0.5) =>
    call("PUT", "/traffic", { canaries: [{ version: 2, weight }], ...more });
  const approve = (actor = "ada") =>
    call("POST", "/versions/2/approvals", { decision: "approved" }, { "x-ringmaster-actor": actor });
  const toProduction = () => call("PUT", "/versions/2/stage", { stage: "production" });
  const answersToRun = () => calls.succeeded.filter(({ token }) => token === `token-${name}`).length;
  const champion = async () => (await platform.registry.head(name)).production;

  /** Every other unit of an arm, or none, or all. */
  async function report(rates: Readonly<Record<number, number>>) {
    const units = Array.from({ length: 400 }, (_, i) => `user-${i}`);
    const { body: routed } = await call("POST", "/route", { units });
    const seen: Record<number, number> = {};
    const outcomes = routed.assignments.map(({ unit, version }: { unit: string; version: number }) => {
      const n = (seen[version] ?? 0) + 1;
      seen[version] = n;
      return { unit, value: Math.floor(n * rates[version]!) - Math.floor((n - 1) * rates[version]!) };
    });
    return call("POST", "/outcomes", { epoch: routed.epoch, outcomes });
  }

  it("is promoted by an approval through no API", async () => {
    expect((await approve()).body.version.approval).toMatchObject({ decision: "approved" });
    expect(answersToRun()).toBe(0);
    const native = await toProduction();
    expect(native).toMatchObject({ status: 409, body: { error: { code: "CANARY_UNDER_TEST" } } });
    const requested = { name, version: "2", stage: "Production", archive_existing_versions: true };
    expect(await call("POST", "/api/2.0/mlflow/model-versions/transition-stage", requested)).toMatchObject({
      status: 403,
      body: { error_code: "PERMISSION_DENIED", message: expect.stringContaining("under test") },
    });
    // The run's own step, where the approval came before the test.
    await expect(platform.registry.apply(name, [2], promote(2, by), "promote#run")).rejects.toMatchObject({
      code: "CANARY_UNDER_TEST",
    });
    expect(await champion()).toBe(1);
  });

  it("is promoted by its test, and its run is answered", async () => {
    await approve();
    await report({ 1: 0.1, 2: 0.5 });
    expect((await call("POST", "/traffic/decision")).body.decisions).toMatchObject([{ version: 2, done: "promoted" }]);
    expect([await champion(), answersToRun()]).toEqual([2, 1]);
  });

  it("ends `traffic decide` with exit code 3 and the reason where its promotion is refused", async () => {
    await report({ 1: 0.1, 2: 0.5 });
    const cli = await cliOverApp(app);
    try {
      const refused = await cli.run("models", "traffic", "decide", name);
      expect(refused).toMatchObject({
        code: 3,
        out: expect.stringMatching(/^version 2: promotion refused: .*0 of 1 appro/),
      });
      const { code, out } = await cli.run("models", "traffic", "decide", name, "--json");
      expect([code, JSON.parse(out).decisions]).toMatchObject([
        3,
        [{ done: "refused", refusal: { code: "NOT_APPROVED" } }],
      ]);
      expect(await champion()).toBe(1);
      await approve();
      const promoted = await cli.run("models", "traffic", "decide", name);
      expect(promoted).toMatchObject({
        code: 0,
        out: expect.stringMatching(/^version 2: promoted: gain in conversion 0\./),
      });
      expect(await champion()).toBe(2);
    } finally {
      await cli.stop();
    }
  });

  it("lets its run go on once the test is ended by hand", async () => {
    await approve();
    expect((await traffic()).status).toBe(200);
    expect(answersToRun()).toBe(1);
    expect((await toProduction()).status).toBe(200);
    expect(await champion()).toBe(2);
  });

  it("needs new approvals where its test sent it back, and history keeps the old ones", async () => {
    await approve();
    await traffic({ test: { ...plan, act: "automatic" } });
    expect((await report({ 1: 0.5, 2: 0.1 })).body.decisions).toMatchObject([{ version: 2, done: "rolled-back" }]);
    expect(answersToRun()).toBe(0);
    const refused = await toProduction();
    expect(refused.body.error).toMatchObject({ code: "NOT_APPROVED" });
    expect(refused.body.error.message).toMatch(
      /approval of ada withdrawn: the canary was ended \(revision \d+, by test of .*gain in/,
    );
    const { versions, history } = (await call("GET", "")).body;
    expect(versions[0]).toMatchObject({
      stage: "archived",
      approvals: [],
      approvalsWithdrawn: { after: "canary-ended" },
    });
    expect(history.map(({ action }: { action: string }) => action)).toContain("approved");
    // A person who knows that approves it all the same: its run continues.
    const again = await approve("grace");
    expect(again.body.version.approval).toMatchObject({ by: "grace" });
    expect(answersToRun()).toBe(1);
    expect((await toProduction()).status).toBe(200);
  });

  it("needs new approvals where a person took it out of the test", async () => {
    await approve();
    await call("PUT", "/versions/2/stage", { stage: "archived", reason: "strange answers" });
    expect((await toProduction()).body.error.code).toBe("NOT_APPROVED");
    expect(answersToRun()).toBe(0);
  });
});
