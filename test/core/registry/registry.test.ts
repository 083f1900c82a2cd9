import {
  AlreadyDecidedError,
  GateNotPassedError,
  GateOutdatedError,
  ModelNotFoundError,
  NoChampionError,
  NotApprovedError,
  NothingToRollBackError,
  RollbackRaceError,
  VersionNotFoundError,
} from "../../../core/registry/errors";
import { createRegistry, type Registry } from "../../../core/registry/registry";
import { decideApproval, promote, recordGate } from "../../../core/registry/transitions";
import { createTestPlatform, type Embedded, startEmbedded } from "../../support/embedded";
import { judgeNow, promoteJudged, verdictOn, versionOfRun } from "../../support/registry";

const at = "2026-01-01T00:00:00.000Z";
const by = { by: "tester", at };
const verdict = (passed: boolean) => verdictOn({}, passed);

describe("the registry", () => {
  let embedded: Embedded;
  let registry: Registry;
  let made = 0;
  beforeAll(async () => {
    embedded = await startEmbedded();
    registry = createTestPlatform(embedded).platform.registry;
  });
  afterAll(() => embedded.stop());

  const register = (model: string, runId: string) =>
    registry.register("default", versionOfRun(model, runId), by, { runId });

  /** A model with versions that passed their gates and were approved. */
  async function modelWith(versions: number): Promise<string> {
    const name = `model-${++made}`;
    for (let n = 1; n <= versions; n += 1) {
      const version = await register(name, `run-${name}-${n}`);
      await registry.apply(name, [version], recordGate(version, verdict(true), by));
      await registry.apply(name, [version], decideApproval(version, "approved", by));
    }
    return name;
  }

  it("makes a version once a run", async () => {
    const one = await register("once", "run-a");
    const again = await register("once", "run-a");
    const two = await register("once", "run-b");
    expect([one, again, two]).toEqual([1, 1, 2]);
  });

  it("numbers versions without gap or double when many register at once", async () => {
    const runs = Array.from({ length: 12 }, (_, i) => `run-many-${i}`);
    const numbers = await Promise.all([...runs, ...runs].map((runId) => register("many", runId)));
    expect([...new Set(numbers)].sort((a, b) => a - b)).toEqual(runs.map((_, i) => i + 1));
    expect(numbers.slice(0, 12)).toEqual(numbers.slice(12));
  });

  it("puts an approved version into production and archives the champion before it, in one write", async () => {
    const name = await modelWith(2);
    for (const version of [1, 2]) await promoteJudged(registry, name, version);
    expect((await registry.production(name)).version).toBe(2);
    expect((await registry.version(name, 1)).stage).toBe("archived");
    expect((await registry.repository.list()).find((model) => model.name === name)).toMatchObject({
      production: 2,
      formerProduction: [1],
    });
  });

  it("rolls back to the version before, and no further than there is", async () => {
    const name = await modelWith(2);
    for (const version of [1, 2]) await promoteJudged(registry, name, version);
    await registry.rollBack(name, by);
    expect((await registry.production(name)).version).toBe(1);
    expect((await registry.version(name, 2)).stage).toBe("archived");
    await expect(registry.rollBack(name, by)).rejects.toThrow(NothingToRollBackError);
    await expect(registry.rollBack(name, by)).rejects.toThrow("had no version in production before version 1");
    expect((await registry.production(name)).version).toBe(1);
  });

  it("goes to each former champion once, never to the one that was rolled back", async () => {
    const name = await modelWith(3);
    for (const version of [1, 2, 3, 1]) await promoteJudged(registry, name, version);
    const seen = [];
    for (let n = 0; n < 2; n += 1) seen.push((await registry.rollBack(name, by)).production);
    expect(seen).toEqual([3, 2]);
    await expect(registry.rollBack(name, by)).rejects.toThrow(NothingToRollBackError);
  });

  it("rolls back once where the request is repeated", async () => {
    const name = await modelWith(3);
    for (const version of [1, 2, 3]) await promoteJudged(registry, name, version);
    for (let n = 0; n < 3; n += 1) await registry.rollBack(name, by, { request: "r-1" });
    expect((await registry.production(name)).version).toBe(2);
    expect((await registry.repository.history(name)).filter(({ action }) => action === "rolled-back")).toHaveLength(1);
  });

  it("refuses a rollback that was meant for another champion, as of two people at once the second's", async () => {
    const name = await modelWith(3);
    for (const version of [1, 2, 3]) await promoteJudged(registry, name, version);
    await registry.rollBack(name, by, { from: 3 });
    await expect(registry.rollBack(name, by, { from: 3 })).rejects.toThrow(RollbackRaceError);
    await expect(registry.rollBack(name, by, { from: 3 })).rejects.toThrow("version 2 is");
    expect((await registry.production(name)).version).toBe(2);
  });

  it("does not promote what was rolled back upon the approvals that it had, and does upon new ones", async () => {
    const name = await modelWith(2);
    for (const version of [1, 2]) await promoteJudged(registry, name, version);
    await registry.rollBack(name, { ...by, reason: "latency" }, { request: "r-1" });
    const again = () => registry.apply(name, [2], promote(2, by));
    await expect(again()).rejects.toThrow(NotApprovedError);
    await expect(again()).rejects.toThrow(
      "approval of tester withdrawn: the version was rolled back (revision 12, by tester): latency",
    );
    expect(await registry.version(name, 2)).toMatchObject({
      approvals: [],
      gate: { passed: true },
      approvalsWithdrawn: { after: "rolled-back", of: ["tester"], revision: 12 },
      // The decision for which it serves is unchanged.
      served: { approval: { decision: "approved" } },
    });
    // Neither the rollback nor the old promotion, sent again, changes anything.
    await registry.rollBack(name, by, { request: "r-1" });
    expect((await registry.production(name)).version).toBe(1);
    await registry.apply(name, [2], decideApproval(2, "approved", { ...by, by: "grace" }));
    await again();
    const champion = await registry.production(name);
    expect(champion).toMatchObject({ version: 2, approval: { by: "grace" } });
    expect(champion.approvalsWithdrawn).toBeUndefined();
    const actions = (await registry.repository.history(name)).map(({ action }) => action);
    expect(actions.slice(-4)).toEqual(["promoted", "rolled-back", "approved", "promoted"]);
  });

  it("goes back to a champion that has been judged again since, under what it served under", async () => {
    const name = await modelWith(2);
    for (const version of [1, 2]) await promoteJudged(registry, name, version);
    await registry.apply(name, [1], recordGate(1, verdict(false), by));
    expect(await registry.version(name, 1)).toMatchObject({ stage: "none", gate: { passed: false } });
    await registry.rollBack(name, by);
    const back = await registry.production(name);
    expect(back).toMatchObject({ version: 1, gate: { passed: true }, approval: { decision: "approved" } });
    await expect(registry.apply(name, [1], decideApproval(1, "rejected", by))).rejects.toThrow(AlreadyDecidedError);
  });

  it("never goes back to what a person has rejected since", async () => {
    const name = await modelWith(3);
    for (const version of [1, 2, 3]) await promoteJudged(registry, name, version);
    await registry.apply(name, [2], recordGate(2, verdict(true), by));
    await registry.apply(name, [2], decideApproval(2, "rejected", by));
    await registry.rollBack(name, by);
    expect((await registry.production(name)).version).toBe(1);
  });

  it("records a verdict once where its step is repeated, so that an approval stands", async () => {
    const name = await modelWith(0);
    const version = await register(name, "run-gate");
    const gate = () => registry.apply(name, [version], recordGate(version, verdict(true), by), "gate#run-gate#none");
    await gate();
    await registry.apply(name, [version], decideApproval(version, "approved", by));
    await gate();
    expect(await registry.version(name, version)).toMatchObject({ approval: { decision: "approved" } });
  });

  it("refuses every other way to production", async () => {
    const name = `model-${++made}`;
    const version = await register(name, "run-x");
    const attempt = () => registry.apply(name, [version], promote(version, by));
    await expect(attempt()).rejects.toThrow(GateNotPassedError);
    await expect(registry.apply(name, [version], decideApproval(version, "approved", by))).rejects.toThrow(
      GateNotPassedError,
    );
    await registry.apply(name, [version], recordGate(version, verdict(false), by));
    await expect(attempt()).rejects.toThrow("accuracy is 0.9");
    await registry.apply(name, [version], recordGate(version, verdict(true), by));
    await expect(attempt()).rejects.toThrow(NotApprovedError);
    await registry.apply(name, [version], decideApproval(version, "rejected", by));
    await expect(attempt()).rejects.toThrow("was rejected");
    await expect(registry.apply(name, [version], decideApproval(version, "approved", by))).rejects.toThrow(
      AlreadyDecidedError,
    );
    await expect(registry.production(name)).rejects.toThrow(NoChampionError);
  });

  it("an approval is for one passage of the gates: judged again, a former champion needs a new one", async () => {
    const name = await modelWith(2);
    for (const version of [1, 2]) await promoteJudged(registry, name, version);
    await expect(registry.apply(name, [1], promote(1, by))).rejects.toThrow(GateOutdatedError);
    await judgeNow(registry, name, 1);
    await expect(registry.apply(name, [1], promote(1, by))).rejects.toThrow(NotApprovedError);
    await registry.apply(name, [2], recordGate(2, verdict(true), by));
    expect(await registry.version(name, 2)).toMatchObject({ stage: "production", approval: { decision: "approved" } });
  });

  it("names what is not there", async () => {
    await expect(registry.production("nobody")).rejects.toThrow(ModelNotFoundError);
    await expect(registry.production("digits@2")).rejects.toThrow("without version or alias");
    const name = await modelWith(1);
    await expect(registry.version(name, 9)).rejects.toThrow(VersionNotFoundError);
    await expect(registry.apply(name, [9], promote(9, by))).rejects.toThrow(VersionNotFoundError);
  });

  it("shows a consistent champion, although it was rolled back during the read", async () => {
    const name = await modelWith(2);
    for (const version of [1, 2]) await promoteJudged(registry, name, version);
    const before = (await registry.repository.find(name))!;
    await registry.rollBack(name, by);
    expect(await registry.version(name, 2)).toMatchObject({ approvals: [], approvalsWithdrawn: { by: "tester" } });
    const torn = createRegistry({ ...registry.repository, find: async () => before });
    const [second, first] = (await torn.details(name)).versions;
    expect(second).toMatchObject({ version: 2, stage: "production", approvals: [{ decision: "approved" }] });
    expect(second!.approvalsWithdrawn).toBeUndefined();
    expect(first).toMatchObject({ version: 1, stage: "archived" });
  });

  it("never has two champions, and history has every change once, under concurrent promotions and rollbacks", async () => {
    const name = await modelWith(6);
    await promoteJudged(registry, name, 1);
    const before = (await registry.repository.history(name)).length;
    // Each is judged against the champion that it finds: another one's promotion outdates that.
    const changes = [2, 3, 4, 5, 6].map((version) => promoteJudged(registry, name, version).catch(() => undefined));
    const backs = [1, 2].map(() => registry.rollBack(name, by).catch(() => undefined));
    await Promise.all([...changes, ...backs]);
    const [model, versions, history] = await Promise.all([
      registry.repository.find(name),
      registry.repository.listVersions(name),
      registry.repository.history(name),
    ]);
    expect(versions.filter(({ stage }) => stage === "production").map(({ version }) => version)).toEqual([
      model?.production,
    ]);
    expect(history.map(({ revision }) => revision)).toEqual(history.map((_, i) => i + 1));
    expect(history.length).toBe(model?.revision);
    expect(history.length).toBeGreaterThan(before + 5);
  });
});
