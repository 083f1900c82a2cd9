import { createApp } from "../../api/app";
import { recordGate } from "../../core/registry/transitions";
import { cliOverApp } from "../support/cli-over-app";
import {
  type Calls,
  createTestPlatform,
  type Embedded,
  type TestPlatform as Platform,
  startEmbedded,
} from "../support/embedded";
import { judgeNow, verdictOn, versionOfRun, waitForApproval } from "../support/registry";

const by = { by: "test", at: "2026-01-01T00:00:00.000Z" };

/** Each case has a model of its own, whose version 1 waits for an approval with its run. */
describe("what an approval leads to", () => {
  let embedded: Embedded;
  let platform: Platform;
  let calls: Calls;
  let cli: Awaited<ReturnType<typeof cliOverApp>>;
  let name: string;
  let made = 0;
  beforeAll(async () => {
    embedded = await startEmbedded();
    ({ platform, calls } = createTestPlatform(embedded));
    cli = await cliOverApp(createApp(platform, { checkResponses: true }));
  });
  afterAll(async () => {
    await cli.stop();
    await embedded.stop();
  });
  beforeEach(async () => {
    name = `digits-${++made}`;
    await platform.registry.register(platform.team, versionOfRun(name, `${name}-a`), by);
    await platform.registry.register(platform.team, versionOfRun(name, `${name}-b`), by);
    await judgeNow(platform.registry, name, 1);
    await waitForApproval(platform, `${name}-a`, name, 1);
  });

  const approve = (...more: readonly string[]) => cli.run("models", "approve", name, "1", ...more);
  const sentOn = () => calls.succeeded.filter(({ token }) => token === `token-${name}`).length;
  const version = async () => platform.registry.version(name, 1);

  it("a second approval is missing: `approve` says how many and of whom", async () => {
    const policy = { required: 2, approvers: ["ada", "grace", "local"], notTheSubmitter: false };
    const rules = { thresholds: {}, slices: [], fairness: [], checks: [] };
    const app = createApp(platform);
    const headers = { "content-type": "application/json", "x-ringmaster-actor": "ada" };
    const set = { method: "PUT", headers, body: JSON.stringify({ rules, approvals: policy }) };
    expect((await app.request(`/api/v1/models/${name}/policy`, set)).status).toBe(200);
    await judgeNow(platform.registry, name, 1);
    const request = { method: "POST", headers, body: JSON.stringify({ decision: "approved" }) };
    const answer = await app.request(`/api/v1/models/${name}/versions/1/approvals`, request);
    const { version: decided } = (await answer.json()) as { version: { next: readonly object[] } };
    expect(decided.next).toEqual([
      {
        kind: "approval",
        what: "1 more approval (1 of 2 given; from grace, local)",
        command: `ringmaster models approve ${name} 1`,
      },
    ]);
  });

  it("stands where the gates evaluate the version again and find the same", async () => {
    await approve();
    await judgeNow(platform.registry, name, 1);
    expect(await version()).toMatchObject({ approvals: [{ decision: "approved" }], stage: "staging" });
    expect((await version()).approvalsWithdrawn).toBeUndefined();
  });

  it("is withdrawn visibly where the gates evaluate the version again and find something else", async () => {
    await approve();
    const found = verdictOn(await platform.registry.head(name), true);
    const checks = found.checks.map((check) => ({ ...check, value: 0.92 }));
    await platform.registry.apply(name, [1], recordGate(1, { ...found, checks }, by));
    const { approvals, approvalsWithdrawn } = await version();
    expect([approvals, approvalsWithdrawn]).toMatchObject([
      [],
      { after: "evaluated-again", reason: "the results of threshold accuracy changed" },
    ]);
    const withdrawn = /approval of .* withdrawn: the gates evaluated the version again/;
    const shown = (await cli.run("models", "show", name)).out;
    expect(shown).toMatch(new RegExp(`next: an approval \\(${withdrawn.source}.*models approve ${name} 1`));
    expect((await cli.run("models", "history", name)).out).toMatch(withdrawn);
    const page = await createApp(platform).request(`/api/v1/pages/runs/${name}-a`);
    expect(await page.text()).toMatch(withdrawn);
  });

  it("lets the other runs evaluate again as soon as a version is promoted", async () => {
    await judgeNow(platform.registry, name, 2);
    await cli.run("models", "approve", name, "2");
    expect((await cli.run("models", "promote", name, "2")).code).toBe(0);
    expect(sentOn()).toBe(1);
    expect((await cli.run("models", "show", name)).out).toContain(
      "it was compared with no champion, and version 2 is in production: it is evaluated again",
    );
  });
});
