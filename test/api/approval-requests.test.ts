import fs from "node:fs";
import path from "node:path";
import * as approvals from "../../core/registry/approval-requests";
import { pendingCheck } from "../../core/registry/gates/external-check";
import { promote, recordGate } from "../../core/registry/transitions";
import { useTestApp } from "../support/app";
import { cliOverApp } from "../support/cli-over-app";
import { runOf } from "../support/fixtures";
import { ManualClock } from "../support/manual-clock";
import { judgeNow, promoteJudged, verdictOn, versionOfRun } from "../support/registry";
import { temporaryFolder } from "../support/temporary-folder";

const by = { by: "test", at: "2026-01-01T00:00:00.000Z" };
const folder = temporaryFolder("approval-requests");
const day = 86_400_000;

/** Each case has a model of its own. Its version 1 waits for an approval after the end of its run. */
describe("a request for an approval", () => {
  const clock = new ManualClock(Date.parse(by.at));
  const { platform, calls, app } = useTestApp({ checkResponses: true }, clock);
  let cli: Awaited<ReturnType<typeof cliOverApp>>;
  let name: string;
  let made = 0;
  beforeAll(async () => {
    cli = await cliOverApp(app);
  });
  afterAll(() => cli.stop());
  beforeEach(async () => {
    name = `digits-${++made}`;
    await platform.registry.register(platform.team, versionOfRun(name, `${name}-a`), by);
    await platform.registry.register(platform.team, versionOfRun(name, `${name}-b`), by);
    await judgeNow(platform.registry, name, 1);
    await platform.runs.create(runOf(`${name}-a`, { model: name }));
    await request();
    await platform.runs.close(`${name}-a`, { status: "completed", at: by.at });
  });

  /** Does what the run's last step does. */
  async function request(): Promise<void> {
    const { run } = (await platform.runs.findDetails(`${name}-a`))!;
    const steps = [{ step: "Register", output: { model: name, version: 1 } }];
    const runs = { findDetails: async () => ({ run, steps }) };
    await approvals.requestOfRun({ ...platform, runs } as never, `${name}-a`);
  }
  /** Does what the request's execution does, at its start and then each hour. */
  const wait = (token: string, requestId = `${name}-a`) =>
    approvals.wait(platform, { runId: `${name}-a`, model: name, version: 1, request: requestId }, token);
  const approve = (...more: readonly string[]) => cli.run("models", "approve", name, "1", ...more);
  const version = () => platform.registry.version(name, 1);
  const started = () => calls.approvals.filter(({ model }) => model === name);
  const answersOf = (token: string) => [
    ...calls.succeeded.filter((call) => call.token === token).map(() => "succeeded"),
    ...calls.failed.filter((call) => call.token === token).map(({ error }) => error),
  ];

  it("starts one execution, however often it is made, and expires after thirty days", async () => {
    await request();
    const expected = { runId: `${name}-a`, model: name, version: 1, request: `${name}-a` };
    expect(new Set(started().map((each) => JSON.stringify(each))).size).toBe(1);
    expect(started()[0]).toMatchObject(expected);
    const expiry = Date.parse((await version()).approvalRequest!.expiresAt) - clock.now();
    expect(expiry).toBe(30 * day);
    expect(
      (await platform.registry.snapshot(name)).history.filter(({ action }) => action === "approval-requested"),
    ).toHaveLength(1);
  });

  it("is answered by an approval, which says what happens next", async () => {
    await wait("token-approved");
    const { code, out } = await approve();
    expect([code, answersOf("token-approved")]).toEqual([0, ["succeeded"]]);
    expect(out).toBe(`${name} version 1 approved\nnext: it is being promoted: ringmaster models show ${name}\n`);
  });

  it("is answered by a rejection", async () => {
    await wait("token-rejected");
    expect((await cli.run("models", "reject", name, "1", "--reason", "biased", "--wait")).code).toBe(3);
    expect(answersOf("token-rejected")).toEqual(["ApprovalRejected"]);
  });

  it("expires: an approval is refused until it is requested again", async () => {
    await wait("token-first");
    clock.advance(31 * day);
    const refused = await approve();
    expect([refused.code, refused.err]).toEqual([
      2,
      expect.stringMatching(/expired at .*request it again: ringmaster models request-approval digits-\d+ 1/),
    ]);
    await wait("token-hourly");
    expect(answersOf("token-hourly")).toEqual(["ApprovalExpired"]);
    expect((await cli.run("models", "show", name)).out).toContain(`ringmaster models request-approval ${name} 1`);

    expect((await cli.run("models", "request-approval", name, "1")).out).toContain(
      `ringmaster models approve ${name} 1`,
    );
    const { request: again } = started().at(-1)!;
    expect(again).not.toBe(`${name}-a`);
    await wait("token-again", again);
    await wait("token-old");
    expect((await approve()).code).toBe(0);
    expect([answersOf("token-again"), answersOf("token-old")]).toEqual([["succeeded"], ["ApprovalExpired"]]);
  });

  it("expires after the days of the policy, which approval rules limit", async () => {
    const file = { rules: {}, approvals: { required: 1, expiresAfterDays: 2 } };
    const set = (approvals: object) =>
      app.request(`/api/v1/models/${name}/policy`, {
        method: "PUT",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ ...file, approvals }),
      });
    expect((await set({ required: 1, expiresAfterDays: 181 })).status).toBe(400);
    expect((await set(file.approvals)).status).toBe(200);
    await judgeNow(platform.registry, name, 1);
    await cli.run("models", "request-approval", name, "1");
    expect(Date.parse((await version()).approvalRequest!.expiresAt) - clock.now()).toBe(2 * day);
  });

  it("is answered when another version is promoted, so that its execution evaluates the version again", async () => {
    await wait("token-outdated");
    await promoteJudged(platform.registry, name, 2);
    const { code, err } = await approve();
    expect([code, answersOf("token-outdated")]).toEqual([2, ["succeeded"]]);
    expect(err).toMatch(/version 2 is in production now.*it is evaluated again and then waits for approval/);
  });

  it("is refused for a version that no gate has judged, or that no run of the platform made", async () => {
    const { code, err } = await cli.run("models", "request-approval", name, "2");
    expect([code, err]).toEqual([2, expect.stringContaining(`evaluate it first: ringmaster models judge ${name} 2`)]);
  });

  describe("under a policy that requires nobody", () => {
    const set = async (text: string) => {
      const file = path.join(folder, `${name}.yaml`);
      fs.writeFileSync(file, text);
      return cli.run("models", "policy", "set", name, file, "--reason", "retrained every night");
    };
    const promoted = async (number: number) => {
      await platform.registry.apply(name, [number], promote(number, { by: `run ${name}`, at: by.at }));
      return (await platform.registry.head(name)).production;
    };

    it("is answered at once, and the promotion names the policy and who set it", async () => {
      const { code, err } = await set("rules: { thresholds: { accuracy: 0.5 } }\napprovals: { required: 0 }\n");
      expect([code, err]).toEqual([
        0,
        expect.stringMatching(/^warning: the policy requires no approval: .* without a person/),
      ]);
      await judgeNow(platform.registry, name, 1);
      const { out } = await cli.run("models", "show", name);
      expect(out).toMatch(/next: it is being promoted, approved by the policy \(revision \d+, set by \S+\)/);
      await wait("token-policy");
      expect(answersOf("token-policy")).toEqual(["succeeded"]);
      expect(await promoted(1)).toBe(1);
      const shown = (await cli.run("models", "show", name)).out;
      expect(shown).toMatch(/approved by the policy \(revision \d+/);
      expect(shown).toMatch(/promoted: staging → production .* run \S+ +approved by the policy \(revision \d+, set by/);
      const policies = JSON.parse((await cli.run("--json", "models", "policy", "get", name)).out);
      expect(policies.history.at(-1)).toMatchObject({ approvals: { required: 0 }, by: expect.any(String) });
    });

    it("waits for a check, and is refused if a gate is", async () => {
      await set("rules: { checks: [{ name: review, kind: command, command: [x] }] }\napprovals: { required: 0 }\n");
      const { production, policy } = await platform.registry.head(name);
      const pending = { ...pendingCheck(policy!.rules.checks[0]!, "nobody ran it") };
      const verdict = { ...verdictOn({ production, policy }, false), checks: [pending] };
      await platform.registry.apply(name, [1], recordGate(1, verdict, by));
      await wait("token-check");
      expect(answersOf("token-check")).toEqual([]);
      const answered = await app.request(`/api/v1/models/${name}/versions/1/checks/review`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: '{"passed":true}',
      });
      expect(answered.status).toBe(200);
      expect(answersOf("token-check")).toEqual(["succeeded"]);
      await platform.registry.apply(name, [1], recordGate(1, verdictOn({ production, policy }, false), by));
      await wait("token-refused");
      expect(answersOf("token-refused")).toEqual(["GateRefused"]);
    });

    it("needs a person for a version that was rolled back", async () => {
      await set("approvals: { required: 0 }\n");
      for (const version of [1, 2]) {
        await judgeNow(platform.registry, name, version);
        expect(await promoted(version)).toBe(version);
      }
      expect((await cli.run("models", "rollback", name, "--reason", "slow")).code).toBe(0);
      await judgeNow(platform.registry, name, 2);
      const refused = await cli.run("models", "promote", name, "2");
      expect([refused.code, refused.err]).toEqual([
        2,
        expect.stringMatching(/0 of 1 approvals \(approval of the policy .* withdrawn: the version was rolled back/),
      ]);
      expect((await cli.run("models", "approve", name, "2")).code).toBe(0);
      expect((await cli.run("models", "promote", name, "2")).code).toBe(0);
    });

    it.each([
      ["approvals: { required: -1 }", "approvals.required"],
      ["approvals: { required: 0, notTheSubmitter: true }", "must be at least 1 with approvers or notTheSubmitter"],
    ])("refuses %s", async (text, message) => {
      expect(await set(text)).toMatchObject({ code: 2, err: expect.stringContaining(message) });
    });
  });

  it("leads to an approval that is withdrawn visibly where the gates evaluate the version again and find something else", async () => {
    await approve();
    const verdict = verdictOn(await platform.registry.head(name), true);
    const checks = verdict.checks.map((check) => ({ ...check, value: 0.92 }));
    await platform.registry.apply(name, [1], recordGate(1, { ...verdict, checks }, by));
    const { approvals, approvalsWithdrawn } = await version();
    expect([approvals, approvalsWithdrawn]).toMatchObject([
      [],
      { after: "evaluated-again", reason: "the results of threshold accuracy changed" },
    ]);
    const withdrawn = /approval of .* withdrawn: the gates evaluated the version again/;
    const shown = (await cli.run("models", "show", name)).out;
    expect(shown).toMatch(new RegExp(`next: an approval \\(${withdrawn.source}.*models approve ${name} 1`));
    expect((await cli.run("models", "history", name)).out).toMatch(withdrawn);
    const page = await app.request(`/api/v1/pages/runs/${name}-a`);
    expect(await page.text()).toMatch(withdrawn);
  });

  it("lets the other runs evaluate again as soon as a version is promoted", async () => {
    await wait("token-others");
    await judgeNow(platform.registry, name, 2);
    await cli.run("models", "approve", name, "2");
    expect((await cli.run("models", "promote", name, "2")).code).toBe(0);
    expect(answersOf("token-others")).toEqual(["succeeded"]);
    expect((await cli.run("models", "show", name)).out).toContain(
      "it was compared with no champion, and version 2 is in production: it is evaluated again",
    );
  });

  it("is listed with its expiry until it is decided", async () => {
    const listed = (await cli.run("models", "list", "--waiting")).out;
    expect(listed).toMatch(new RegExp(`${name} +1 +${name}-a .*ringmaster models approve ${name} 1`));
    await approve();
    expect((await cli.run("models", "list", "--waiting")).out).not.toContain(`${name}-a`);
  });
});
