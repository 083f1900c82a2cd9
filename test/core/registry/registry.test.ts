import { createRegistry, type Registry } from "../../../core/registry/registry";
import { decideApproval, promote, recordGate } from "../../../core/registry/transitions";
import { createTestPlatform, useEmbedded } from "../../support/embedded";
import { promoteJudged, verdictOn, versionOfRun } from "../../support/registry";

const at = "2026-01-01T00:00:00.000Z";
const by = { by: "tester", at };
const verdict = (passed: boolean) => verdictOn({}, passed);

describe("the registry", () => {
  const embedded = useEmbedded();
  let registry: Registry;
  let made = 0;
  beforeAll(() => {
    registry = createTestPlatform(embedded).platform.registry;
  });

  const register = (model: string, runId: string) =>
    registry.register("default", versionOfRun(model, runId), by, { runId });

  async function modelWith(versions: number): Promise<string> {
    const name = `model-${++made}`;
    for (let n = 1; n <= versions; n += 1) {
      const version = await register(name, `run-${name}-${n}`);
      await registry.apply(name, [version], recordGate(version, verdict(true), by));
      await registry.apply(name, [version], decideApproval(version, "approved", by));
    }
    return name;
  }

  it("does not promote what was rolled back upon the approvals that it had, and does upon new ones", async () => {
    const name = await modelWith(2);
    for (const version of [1, 2]) await promoteJudged(registry, name, version);
    await registry.rollBack(name, { ...by, reason: "latency" }, { request: "r-1" });
    const again = () => registry.apply(name, [2], promote(2, by));
    await expect(again()).rejects.toMatchObject({ code: "NOT_APPROVED" });
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

  it("names what is not there", async () => {
    await expect(registry.production("nobody")).rejects.toMatchObject({ code: "MODEL_NOT_FOUND" });
    await expect(registry.production("digits@2")).rejects.toThrow("without version or alias");
    const name = await modelWith(1);
    await expect(registry.version(name, 9)).rejects.toMatchObject({ code: "MODEL_VERSION_NOT_FOUND" });
    await expect(registry.apply(name, [9], promote(9, by))).rejects.toMatchObject({ code: "MODEL_VERSION_NOT_FOUND" });
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
});
