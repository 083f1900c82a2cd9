import { createModelRepository } from "../../../adapters/dynamodb/model-repository";
import { deleteModel, emptyModel } from "../../../core/registry/lifecycle";
import type { Model, ModelVersion } from "../../../core/registry/model";
import { createRegistry } from "../../../core/registry/registry";
import { renameModel } from "../../../core/registry/rename";
import { versionRow } from "../../support/registry";
import { MemoryTable } from "./check/table";

const by = { by: "ada", at: "2026-02-02T00:00:00.000Z" };
const bare = {
  ...emptyModel("old", "t", { by: "bob", at: "2026-01-01T00:00:00.000Z" }),
  revision: 7,
  latestVersion: 2,
};
const { artifactKey: _, dataset: __, ...elsewhere } = versionRow("old", 1);
const row = (version: number, more: Partial<ModelVersion> = {}): ModelVersion => ({ ...elsewhere, version, ...more });
const rename = (model: Partial<Model> = {}, versions = [row(1), row(2)], target?: Partial<Model>) =>
  renameModel(
    { ...bare, ...model },
    versions,
    { name: "new", target: target && { ...bare, name: "new", ...target } },
    by,
  );

describe("a model under another name", () => {
  it("has its versions under their numbers, its labels, aliases and beginning", () => {
    const { left, taken } = rename({ aliases: { best: 2 }, tags: { a: "b" }, description: "what" }, [
      row(1, { lifecycle: "deleted" }),
      row(2, { stage: "staging" }),
    ]);
    expect(left.model).toMatchObject({ name: "old", revision: 8, lifecycle: "deleted", renamedTo: "new" });
    expect(left.history).toMatchObject({ action: "renamed", subject: "new", revision: 8, by: "ada" });
    expect(taken.model).toEqual({
      ...bare,
      name: "new",
      revision: 1,
      latestVersion: 2,
      aliases: { best: 2 },
      tags: { a: "b" },
      description: "what",
      formerNames: [{ name: "old", from: 1, until: 7 }],
      nameSince: 1,
      updatedAt: by.at,
    });
    expect(taken.history).toMatchObject({ action: "renamed", subject: "old", revision: 1 });
    expect(taken.versions.map(({ model, version, stage, lifecycle }) => [model, version, stage, lifecycle])).toEqual([
      ["new", 1, elsewhere.stage, "deleted"],
      ["new", 2, "staging", "active"],
    ]);
  });

  it("goes on in the new name's own count, and by its policy", () => {
    const policy = { rules: {}, approvals: {}, revision: 2, rulesRevision: 2, by: "eve", at: by.at } as never;
    const { taken } = rename({ latestVersion: 0 }, [], { lifecycle: "deleted", revision: 4, latestVersion: 3, policy });
    expect(taken.model).toMatchObject({ revision: 5, latestVersion: 3, firstVersion: 4, nameSince: 5, policy });
  });

  const gate = { passed: false, checks: [{ pending: true }], at: by.at } as never;
  const moreThanMove = Array.from({ length: 95 }, (_, at) => row(at + 1));
  it.each<[string, Partial<Model>, readonly ModelVersion[], RegExp]>([
    ["serves", { production: 1, productionRevision: 3 }, [row(1)], /is or was in production/],
    ["has served", { productionRevision: 3 }, [row(1)], /is or was in production/],
    ["has a policy", { policy: {} as never }, [row(1)], /policy/],
    ["answers by rules", { traffic: {} as never }, [row(1)], /traffic settings/],
    ["was trained here", {}, [row(1), row(2, { artifactKey: "runs/r/manifest.json" })], /version 2 was trained here/],
    ["is a canary's", {}, [row(1, { stage: "canary" })], /version 1 is a canary/],
    ["is waited for", {}, [row(1, { awaitedBy: "run" })], /a run that waits for it/],
    ["waits for a check", {}, [row(1, { gate })], /answer of a check/],
    ["has more rows than a transaction", { latestVersion: 95 }, moreThanMove, /95 rows, and a rename moves at most 94/],
    [
      "has more bytes",
      {},
      Array.from({ length: 20 }, (_, i) => row(i + 1, { description: "x".repeat(180_000) })),
      /bytes/,
    ],
  ])("is refused where the model %s", (_what, model, versions, message) => {
    expect(() => rename(model, [...versions])).toThrow(
      expect.objectContaining({ code: "MODEL_NAME_FIXED", httpStatus: 409, message: expect.stringMatching(message) }),
    );
  });

  it("moves as many rows as a transaction has place for", () => {
    expect(rename({ latestVersion: 94 }, moreThanMove.slice(1)).taken.versions).toHaveLength(94);
  });

  it("is refused where the name is in use, or its numbers mean versions that were deleted", () => {
    expect(() => rename({}, undefined, {})).toThrow(expect.objectContaining({ code: "MODEL_EXISTS" }));
    expect(() => rename({}, undefined, { lifecycle: "deleted", latestVersion: 1 })).toThrow(/versions up to 1/);
    expect(() => rename({ firstVersion: 2 }, [row(2)], { lifecycle: "deleted", latestVersion: 1 })).not.toThrow();
  });

  it("is refused where a semver means a deleted version of that name, and gives none away", async () => {
    const client = new MemoryTable().client(
      () => Promise.resolve(),
      () => false,
    );
    const repository = createModelRepository(client, "catalog", "t");
    const registry = createRegistry(repository);
    const register = (model: string, semver?: string) =>
      registry.register("t", { model, metrics: {}, ...(semver && { semver }) }, by);
    await register("new", "1.0.0");
    await register("old");
    for (const name of ["new", "old"]) await registry.apply(name, [], deleteModel(by));
    expect(await register("old", "1.0.0")).toBe(2);
    await expect(registry.rename("old", "new", by)).rejects.toMatchObject({
      code: "MODEL_NAME_FIXED",
      message: expect.stringContaining("version 2 is 1.0.0"),
    });
    expect(await repository.findSemver("new", "1.0.0")).toBe(1);
    await registry.rename("old", "other", by);
    expect((await registry.rename("other", "old", by)).latestVersion).toBe(2);
  });

  it("goes back to a name of its own that nobody has used since", () => {
    const formerNames = [{ name: "new", from: 1, until: 9 }];
    const target = { lifecycle: "deleted", latestVersion: 2, renamedTo: "old", revision: 10 } as const;
    const { taken } = rename({ formerNames, nameSince: 3 }, undefined, target);
    expect(taken.model).toMatchObject({ revision: 11, latestVersion: 2, firstVersion: 1, nameSince: 11 });
    expect(taken.model.formerNames).toEqual([...formerNames, { name: "old", from: 3, until: 7 }]);
    expect(taken.model).not.toHaveProperty("renamedTo");
    expect(() => rename({ formerNames }, undefined, { ...target, revision: 12, renamedTo: undefined })).toThrow(
      /versions up to 2/,
    );
  });
});
