import type { DatasetRepository } from "../../../core/datasets/repository";
import { draftOf } from "./drafts";

/**
 * The contract of every `DatasetRepository`.
 *
 * @param create returns the repositories of teams over one store, which has nothing under the names of this suite
 */
export function describeDatasetRepository(create: () => Promise<(team: string) => DatasetRepository>): void {
  const context = { at: "2026-01-01T00:00:00.000Z" };
  let ofTeam: (team: string) => DatasetRepository;
  let repository: DatasetRepository;
  beforeEach(async () => {
    ofTeam = await create();
    repository = ofTeam("red");
  });
  const register = (name: string, content: string) => repository.register(draftOf(name, content), context);

  it("numbers different contents consecutively, and equal content once", async () => {
    expect((await register("digits", "a")).version.manifest.version).toBe(1);
    expect((await register("digits", "b")).version.manifest.version).toBe(2);
    const again = await repository.register(draftOf("digits", "a"), { at: "2027-01-01T00:00:00.000Z" });
    expect([again.created, again.version.manifest.version, again.version.manifest.createdAt]).toEqual([
      false,
      1,
      context.at,
    ]);
    expect((await register("other", "a")).version.manifest.version).toBe(1);
  });

  it("keeps the manifest whole", async () => {
    const { version } = await register("digits", "a");
    expect(version).toEqual({
      manifest: { ...draftOf("digits", "a"), version: 1, createdAt: context.at },
      team: "red",
    });
    expect(await repository.find("digits", 1)).toEqual(version);
    expect(await repository.findByDigest("digits", version.manifest.digest)).toEqual(version);
  });

  it("makes one version of concurrent registrations of the same content", async () => {
    const results = await Promise.all(Array.from({ length: 8 }, () => register("digits", "same")));
    expect(results.filter(({ created }) => created)).toHaveLength(1);
    expect(new Set(results.map(({ version }) => version.manifest.version))).toEqual(new Set([1]));
  });

  it("gives concurrent registrations of different content consecutive numbers", async () => {
    const results = await Promise.all(Array.from({ length: 6 }, (_, i) => register("digits", `content ${i}`)));
    expect(results.map(({ version }) => version.manifest.version).sort()).toEqual([1, 2, 3, 4, 5, 6]);
    expect((await repository.findNewest("digits"))?.manifest.version).toBe(6);
  });

  it("makes one version after a parent, of concurrent appends to it", async () => {
    const { version } = await register("digits", "a");
    const { digest, rowCount: rows } = version.manifest;
    const append = (content: string) =>
      repository.register({ ...draftOf("digits", content), parent: { version: 1, digest, rows } }, context);
    const results = await Promise.allSettled(["b", "c", "d"].map(append));
    const failed = results.flatMap((result) =>
      result.status === "rejected" ? [result.reason as { code: string }] : [],
    );
    expect(failed.map(({ code }) => code)).toEqual(["DATASET_CHANGED", "DATASET_CHANGED"]);
    expect((await repository.findNewest("digits"))?.manifest).toMatchObject({
      version: 2,
      parent: { version: 1, digest },
    });
  });

  it("finds nothing where there is nothing", async () => {
    expect(await repository.find("nothing", 1)).toBeUndefined();
    expect(await repository.findNewest("nothing")).toBeUndefined();
    expect(await repository.findActive("nothing")).toBeUndefined();
    expect(await repository.findByDigest("nothing", "00")).toBeUndefined();
    expect(await repository.deprecate("nothing", 1, { at: context.at, reason: "" })).toBe(false);
    expect(await repository.listVersions({ name: "nothing", limit: 10 })).toMatchObject({ items: [] });
  });

  it("passes over deprecated versions, however many, and never deletes one", async () => {
    for (let i = 1; i <= 12; i += 1) await register("digits", `v${i}`);
    for (let i = 2; i <= 12; i += 1) {
      expect(await repository.deprecate("digits", i, { at: context.at, reason: `wrong ${i}` })).toBe(true);
    }
    expect((await repository.findActive("digits"))?.manifest.version).toBe(1);
    expect((await repository.findNewest("digits"))?.manifest.version).toBe(12);
    expect(await repository.find("digits", 12)).toMatchObject({ deprecation: { at: context.at, reason: "wrong 12" } });
    await repository.deprecate("digits", 1, { at: context.at, reason: "" });
    expect(await repository.findActive("digits")).toBeUndefined();
  });

  it("keeps who registered and who deprecated a version, and reads rows without them", async () => {
    await register("digits", "a");
    expect((await repository.find("digits", 1))?.createdBy).toBeUndefined();
    const { version } = await repository.register(draftOf("digits", "b"), { ...context, by: "ada" });
    expect(version).toMatchObject({ createdBy: "ada" });
    await repository.register(draftOf("digits", "b"), { ...context, by: "grace" });
    await repository.deprecate("digits", 2, { at: context.at, reason: "swapped", by: "alan" });
    expect(await repository.find("digits", 2)).toMatchObject({
      createdBy: "ada",
      deprecation: { at: context.at, reason: "swapped", by: "alan" },
    });
    expect((await repository.list({ limit: 9 })).items).toMatchObject([{ latestVersion: 2, updatedBy: "ada" }]);
  });

  it("keeps the first deprecation", async () => {
    await register("digits", "a");
    await repository.deprecate("digits", 1, { at: "2026-02-01T00:00:00.000Z", reason: "first" });
    await repository.deprecate("digits", 1, { at: "2026-03-01T00:00:00.000Z", reason: "second" });
    expect((await repository.find("digits", 1))?.deprecation?.reason).toBe("first");
  });

  it("keeps the newest warnings of a version", async () => {
    await repository.recordWarnings("digits", 1, [{ code: "A", message: "no such version" }]);
    await register("digits", "a");
    expect((await repository.find("digits", 1))?.warnings).toBeUndefined();
    await repository.recordWarnings("digits", 1, [{ code: "A", message: "first" }]);
    await repository.recordWarnings("digits", 1, [{ code: "B", message: "second" }]);
    expect((await repository.find("digits", 1))?.warnings).toEqual([{ code: "B", message: "second" }]);
  });

  it("lists versions by pages, newest first", async () => {
    for (let i = 1; i <= 5; i += 1) await register("digits", `v${i}`);
    const seen: number[] = [];
    let nextToken: string | undefined;
    do {
      const page = await repository.listVersions({ name: "digits", limit: 2, nextToken });
      seen.push(...page.items.map(({ manifest }) => manifest.version));
      nextToken = page.nextToken;
    } while (nextToken);
    expect(seen).toEqual([5, 4, 3, 2, 1]);
  });

  it("lists a team's datasets by name, with their latest version", async () => {
    for (const name of ["iris", "digits", "flights"]) await register(name, name);
    await register("digits", "more rows");
    const first = await repository.list({ limit: 2 });
    const second = await repository.list({ limit: 2, nextToken: first.nextToken });
    expect([...first.items, ...second.items].map(({ name, latestVersion }) => [name, latestVersion])).toEqual([
      ["digits", 2],
      ["flights", 1],
      ["iris", 1],
    ]);
    expect(first.items[0]).toEqual({
      name: "digits",
      latestVersion: 2,
      rowCount: 3,
      bytes: "more rows".length,
      updatedAt: context.at,
    });
  });

  it("keeps teams apart: the same name and content are each team's own", async () => {
    const blue = ofTeam("blue");
    await register("digits", "a");
    await register("digits", "b");
    const { digest } = draftOf("digits", "a");
    expect(await blue.find("digits", 1)).toBeUndefined();
    expect(await blue.findByDigest("digits", digest)).toBeUndefined();
    expect(await blue.findNewest("digits")).toBeUndefined();
    expect(await blue.findActive("digits")).toBeUndefined();
    expect(await blue.listVersions({ name: "digits", limit: 10 })).toMatchObject({ items: [] });
    expect(await blue.list({ limit: 10 })).toMatchObject({ items: [] });
    expect(await blue.deprecate("digits", 1, { at: context.at, reason: "" })).toBe(false);
    expect(await blue.register(draftOf("digits", "b"), context)).toMatchObject({
      created: true,
      version: { team: "blue", manifest: { version: 1 } },
    });
    expect((await repository.findNewest("digits"))?.manifest.version).toBe(2);
  });
}
