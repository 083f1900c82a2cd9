import type { Platform } from "../../../adapters/platform";
import { loggedRun } from "../../core/tracking/records/logged-run";
import { createTestPlatform, type Embedded, startEmbedded } from "../../support/embedded";

/** A process first uses the record that it wrote last. Another process may have changed it in the meantime. */
describe("a record in a process's cache", () => {
  let embedded: Embedded;
  let here: Platform;
  let there: Platform;
  beforeAll(async () => {
    embedded = await startEmbedded();
    [here, there] = [createTestPlatform(embedded).platform, createTestPlatform(embedded).platform];
  });
  afterAll(() => embedded.stop());

  const withTag = (platform: Platform, runId: string, key: string) =>
    platform.records.change(runId, (record) => ({ ...record, tags: { ...record.tags, [key]: "1" } }));

  it("loses no change of another process", async () => {
    await here.records.create(loggedRun("r-1"));
    await withTag(there, "r-1", "there");
    await withTag(here, "r-1", "here");
    await withTag(here, "r-1", "again");
    await withTag(there, "r-1", "late");
    const record = await here.records.find("r-1");
    expect(Object.keys(record!.tags)).toEqual(expect.arrayContaining(["there", "here", "again", "late"]));
    expect(record!.revision).toBe(5);
  });

  it("refuses no change because of an outdated record", async () => {
    await here.records.create(loggedRun("r-2"));
    await here.records.change("r-2", (record) => ({ ...record, lifecycle: "deleted" }));
    await there.records.change("r-2", (record) => ({ ...record, lifecycle: "active" }));
    const renamed = await here.records.change("r-2", (record) => {
      if (record.lifecycle === "deleted") throw new Error("is deleted");
      return { ...record, name: "kept" };
    });
    expect(renamed).toMatchObject({ name: "kept", lifecycle: "active" });
  });

  it("skips no change because of an outdated record", async () => {
    await here.records.create({ ...loggedRun("r-3"), name: "first" });
    await there.records.change("r-3", (record) => ({ ...record, name: "second" }));
    await here.records.change("r-3", (record) => (record.name === "first" ? undefined : { ...record, name: "first" }));
    expect((await there.records.find("r-3"))?.name).toBe("first");
  });

  it("loses none of many concurrent changes", async () => {
    await here.records.create(loggedRun("r-4"));
    await Promise.all(Array.from({ length: 20 }, (_, i) => withTag(i % 2 ? here : there, "r-4", `t${i}`)));
    const { tags } = (await here.records.find("r-4"))!;
    expect(Array.from({ length: 20 }, (_, i) => tags[`t${i}`])).toEqual(Array(20).fill("1"));
  });
});
