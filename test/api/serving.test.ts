import { createApp } from "../../api/app";
import { assign } from "../../core/registry/serving/traffic";
import { decideApproval, promote, recordGate, setStage } from "../../core/registry/transitions";
import { callApp, useTestApp } from "../support/app";

const by = { by: "test", at: "2026-01-01T00:00:00.000Z" };
const test = { metric: "conversion", kind: "binary", effect: 0.2, minUnits: 20 };

const refused = () => Promise.reject(new Error("connect ECONNREFUSED"));

/** Each case has a model of its own: version 3 in production, 4 a canary. */
describe("canaries through the API", () => {
  const { platform, app } = useTestApp();
  let name: string;
  let made = 0;
  beforeEach(async () => {
    name = `digits ${++made}`;
    for (const version of [1, 2, 3, 4]) await register(version);
    await pass(3, 0);
    await platform.registry.apply(name, [3], decideApproval(3, "approved", by));
    await platform.registry.apply(name, [3], promote(3, by));
    await pass(4);
    await platform.registry.apply(name, [4], setStage(4, "canary", by));
  });

  async function register(version: number): Promise<void> {
    const made = { model: name, source: `s3://models/${version}`, metrics: {}, submittedBy: "ada" };
    await platform.registry.register(platform.team, made, by, { request: `make-${version}` });
  }

  async function pass(version: number, champion = 3): Promise<void> {
    const verdict = { passed: true, checks: [], at: by.at, ...(champion === 0 ? {} : { champion }) };
    await platform.registry.apply(name, [version], recordGate(version, verdict, by));
  }

  const call = (method: string, path: string, body?: unknown) =>
    callApp(app, method, `/models/${encodeURIComponent(name)}${path}`, body);

  const traffic = (more: object = {}) => call("PUT", "/traffic", { canaries: [{ version: 4, weight: 0.5 }], ...more });

  /** Outcomes of so many users: each arm's rate as given. */
  async function report(rates: Readonly<Record<number, number>>, users = 400) {
    const units = Array.from({ length: users }, (_, i) => `user-${i}`);
    const { body: routed } = await call("POST", "/route", { units });
    const seen: Record<number, number> = {};
    const outcomes = routed.assignments.map(({ unit, version }: { unit: string; version: number }) => {
      const n = (seen[version] ?? 0) + 1;
      seen[version] = n;
      const rate = rates[version]!;
      return { unit, value: Math.floor(n * rate) - Math.floor((n - 1) * rate) };
    });
    return call("POST", "/outcomes", { epoch: routed.epoch, outcomes });
  }

  it("answers a unit what the arithmetic says, each time", async () => {
    const set = await traffic();
    expect(set.status).toBe(200);
    const units = Array.from({ length: 200 }, (_, i) => `user-${i}`);
    const first = await call("POST", "/route", { units });
    const expected = units.map((unit) => assign(name, unit, 3, set.body.traffic));
    expect(first.body.assignments.map(({ version }: { version: number }) => version)).toEqual(expected);
    expect(new Set(expected)).toEqual(new Set([3, 4]));
    expect((await call("POST", "/route", { units })).body).toEqual(first.body);
  });

  it.each([
    ["a version that passed no gate", { canaries: [{ version: 2, weight: 0.1 }] }, 409, "NOT_A_CANARY"],
    [
      "more than the whole",
      {
        canaries: [
          { version: 4, weight: 0.7 },
          { version: 5, weight: 0.4 },
        ],
      },
      400,
      "INVALID_INPUT",
    ],
    ["the champion", { canaries: [{ version: 3, weight: 0.7 }] }, 400, "INVALID_INPUT"],
    ["a version twice", { canaries: [{ version: 4, weight: 0.1 }], shadows: [4] }, 400, "INVALID_INPUT"],
    ["no part at all", { canaries: [{ version: 4, weight: 0 }] }, 400, "INVALID_INPUT"],
  ])("refuses %s", async (_, body, status, code) => {
    expect(await call("PUT", "/traffic", body)).toMatchObject({ status, body: { error: { code } } });
    expect((await call("GET", "/traffic")).body.traffic.canaries).toEqual([]);
  });

  it("takes a canary's units away where it loses its stage", async () => {
    await traffic();
    await platform.registry.apply(name, [4], setStage(4, "archived", by));
    const { body } = await call("GET", "/traffic");
    expect(body).toMatchObject({ champion: 3, traffic: { canaries: [] } });
    const failed = { passed: false, checks: [], champion: 3, at: by.at };
    await pass(4);
    await platform.registry.apply(name, [4], setStage(4, "canary", by));
    await traffic();
    await platform.registry.apply(name, [4], recordGate(4, failed, by));
    expect((await call("GET", "/traffic")).body.traffic.canaries).toEqual([]);
  });

  it("gives a canary no larger part once its verdict is outdated", async () => {
    expect((await traffic({ canaries: [{ version: 4, weight: 0.2 }] })).status).toBe(200);
    const rules = { thresholds: { accuracy: 0.9 } };
    expect((await call("PUT", "/policy", { rules })).status).toBe(200);
    expect(await traffic({ canaries: [{ version: 4, weight: 1 }] })).toMatchObject({
      status: 409,
      body: { error: { code: "GATE_OUTDATED" } },
    });
    expect((await traffic({ canaries: [{ version: 4, weight: 0.1 }] })).status).toBe(200);
    expect(await traffic({ canaries: [{ version: 4, weight: 0.2 }] })).toMatchObject({ status: 409 });
  });

  it("counts a unit once, and nothing of an epoch that is over", async () => {
    await traffic({ test });
    const first = await report({ 3: 0.5, 4: 0.5 });
    expect(first.body).toEqual({ counted: 400, repeated: 0, stale: 0, decisions: [] });
    expect((await report({ 3: 0.9, 4: 0.9 })).body).toMatchObject({ counted: 0, repeated: 400 });
    const { body } = await call("GET", "/traffic");
    const old = body.traffic.epoch;
    expect(body.arms.map((arm: { units: number }) => arm.units).reduce((a: number, b: number) => a + b)).toBe(400);
    expect(body.arms[1].verdict).toMatchObject({ decision: "keep-on" });
    await traffic({ canaries: [{ version: 4, weight: 0.4 }], test });
    const stale = await call("POST", "/outcomes", { epoch: old, outcomes: [{ unit: "late", value: 1 }] });
    expect(stale.body).toEqual({ counted: 0, repeated: 0, stale: 1, decisions: [] });
    expect((await call("GET", "/traffic")).body.arms.map((arm: { units: number }) => arm.units)).toEqual([0, 0]);
  });

  it("gives most of the units to nobody without approvals", async () => {
    const most = { canaries: [{ version: 4, weight: 0.51 }] };
    const message = expect.stringContaining("without them, canaries get at most 0.5 of the units in total");
    expect(await traffic(most)).toMatchObject({ status: 409, body: { error: { code: "NOT_APPROVED", message } } });
    await platform.registry.apply(name, [4], decideApproval(4, "approved", by));
    expect((await traffic(most)).status).toBe(200);
  });

  it("refuses outcomes that a test of rates cannot take", async () => {
    const { body } = await traffic({ test });
    const answer = await call("POST", "/outcomes", {
      epoch: body.traffic.epoch,
      outcomes: [{ unit: "a", value: 0.5 }],
    });
    expect(answer).toMatchObject({ status: 400, body: { error: { code: "INVALID_INPUT" } } });
  });

  it("rolls a bad canary back by itself, once", async () => {
    await traffic({ test: { ...test, act: "automatic" } });
    const { body } = await report({ 3: 0.5, 4: 0.1 });
    expect(body.decisions).toMatchObject([{ version: 4, done: "rolled-back", verdict: { decision: "roll-back" } }]);
    const after = await call("GET", "");
    expect(after.body.model).toMatchObject({ production: 3, traffic: { canaries: [] } });
    expect(after.body.versions[0]).toMatchObject({ version: 4, stage: "archived" });
    expect(after.body.history.at(-1)).toMatchObject({ action: "staged", from: "canary", to: "archived" });
    expect(after.body.history.at(-1).reason).toMatch(/^gain in conversion -0\.4/);
    expect(await call("POST", "/traffic/decision")).toMatchObject({ body: { error: { code: "NO_CANARY_TEST" } } });
  });

  it("promotes a good canary under the conditions of every promotion", async () => {
    await traffic({ test });
    await report({ 3: 0.1, 4: 0.5 });
    const refused = await call("POST", "/traffic/decision");
    expect(refused.body.decisions).toMatchObject([
      { version: 4, done: "refused", verdict: { decision: "promote" }, refusal: { code: "NOT_APPROVED" } },
    ]);
    expect((await call("GET", "/traffic")).body.champion).toBe(3);
    await platform.registry.apply(name, [4], decideApproval(4, "approved", by));
    const done = await call("POST", "/traffic/decision");
    expect(done.body.decisions).toMatchObject([{ version: 4, done: "promoted" }]);
    const { body } = await call("GET", "/traffic");
    expect(body).toMatchObject({ champion: 4, traffic: { canaries: [] } });
    expect(body.arms).toEqual([{ version: 4, role: "champion", units: 0, sum: 0, sumOfSquares: 0 }]);
  });

  it("answers who serves whom while the table is down, by what it was when it was last up", async () => {
    await traffic();
    const units = ["a", "b", "c", "d", "e", "f"];
    const up = await call("POST", "/route", { units });
    const broken = {
      ...platform,
      forTeam: () => ({ ...platform, routing: { ...platform.routing, resolve: refused } }),
    };
    const response = await createApp(broken).request(`/api/v1/models/${encodeURIComponent(name)}/route`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ units }),
    });
    expect(response.headers.get("ringmaster-source")).toBe("pointer");
    expect(await response.json()).toEqual(up.body);
    // A version that leaves its stage is also removed from the copy.
    await platform.registry.apply(name, [4], setStage(4, "archived", by));
    expect((await platform.routing.find(name))?.traffic?.canaries).toEqual([]);
  });

  it("keeps what shadows say", async () => {
    await traffic({ canaries: [], shadows: [4] });
    expect((await call("POST", "/route", { units: ["a"] })).body.shadows).toEqual([4]);
    const observations = [{ unit: "a", served: [0.9, 0.1], shadow: [0.2, 0.8] }];
    expect((await call("POST", "/versions/4/shadow", { observations })).body).toEqual({ stored: true });
    expect((await call("GET", "/versions/4/shadow")).body).toMatchObject({ observations: 1, agreement: 0 });
  });
});
