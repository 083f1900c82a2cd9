import { createTestPlatform, useEmbedded } from "../../support/embedded";

const embedded = useEmbedded();

const at = "2026-01-01T00:00:00.000Z";
const experiments = (team = "default") => createTestPlatform(embedded).platform.forTeam(team).experiments;
const experimentNamed = (name: string) => ({ name, tags: {}, by: "ada", at });

describe("experiments", () => {
  it("begin with Default, which always exists", async () => {
    expect(await experiments("fresh").findByName("Default")).toMatchObject({ experimentId: "0", team: "fresh" });
    expect((await experiments("fresh").list()).map(({ experimentId }) => experimentId)).toEqual(["0"]);
    await expect(experiments("fresh").create(experimentNamed("Default"))).rejects.toMatchObject({
      code: "EXPERIMENT_EXISTS",
    });
  });

  it("are created once per name by concurrent requests", async () => {
    const made = await Promise.all(Array.from({ length: 12 }, () => experiments().ensure("together", "ada", at)));
    expect(new Set(made.map(({ experimentId }) => experimentId)).size).toBe(1);
    const all = (await experiments().list()).filter(({ name }) => name === "together");
    expect(all).toHaveLength(1);
  });

  it("get distinct, ordered ids from concurrent requests", async () => {
    const made = await Promise.all(
      Array.from({ length: 12 }, (_, i) => experiments().create(experimentNamed(`one of ${i}`))),
    );
    expect(new Set(made.map(({ experimentId }) => experimentId)).size).toBe(12);
    const ids = (await experiments().list()).map(({ experimentId }) => Number(experimentId));
    expect(ids).toEqual([...ids].sort((a, b) => a - b));
  });

  it("keep the changes of two processes, and give a name to one of them", async () => {
    const [a, b] = await Promise.all([
      experiments().create(experimentNamed("a")),
      experiments().create(experimentNamed("b")),
    ]);
    const tag = (key: string) =>
      experiments().change(a.experimentId, (before) => ({ ...before, tags: { ...before.tags, [key]: "" } }));
    await Promise.all(Array.from({ length: 8 }, (_, i) => tag(`tag-${i}`)));
    expect(Object.keys((await experiments().find(a.experimentId))?.tags ?? {})).toHaveLength(8);
    const rename = ({ experimentId }: { experimentId: string }) =>
      experiments().change(experimentId, (before) => ({ ...before, name: "wanted" }));
    const ends = await Promise.allSettled([rename(a), rename(b)]);
    expect(ends.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const named = (await experiments().list()).filter(({ name }) => name === "wanted");
    expect(named).toEqual([await experiments().findByName("wanted")]);
  });

  it("are found by only one spelling of their ids", async () => {
    const ids = ["00", "01", "-1", "1.0", "x", "", "9".repeat(2_000)];
    expect(await Promise.all(ids.map((id) => experiments().find(id)))).toEqual(ids.map(() => undefined));
  });

  it("uses the cache for at most a second, and sees its own changes at once", async () => {
    const one = experiments();
    const { experimentId } = await one.ensure("met", "ada", at);
    await one.findRecent(experimentId);
    await one.change(experimentId, (before) => ({ ...before, lifecycle: "deleted" }));
    expect((await one.findRecent(experimentId))?.lifecycle).toBe("deleted");
    expect((await one.ensure("met", "ada", at)).lifecycle).toBe("deleted");
  });

  it("refuse more tags than fit in a row, and do not change", async () => {
    const { experimentId } = await experiments().create(experimentNamed("large"));
    const tags = Object.fromEntries(Array.from({ length: 80 }, (_, i) => [`k${i}`, "v".repeat(5_000)]));
    const change = experiments().change(experimentId, (before) => ({ ...before, tags }));
    await expect(change).rejects.toMatchObject({ code: "EXPERIMENT_TOO_LARGE" });
    expect((await experiments().find(experimentId))?.tags).toEqual({});
  });
});
