import { emptyModel } from "../../../core/registry/lifecycle";
import type { Model, ModelVersion } from "../../../core/registry/model";
import { renameModel } from "../../../core/registry/rename";
import { versionRow } from "../../support/registry";

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
      ...{ ...bare, name: "new", revision: 1, latestVersion: 2, updatedAt: by.at },
      ...{ aliases: { best: 2 }, tags: { a: "b" }, description: "what" },
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
    expect(taken.model).toMatchObject({ revision: 5, latestVersion: 3, firstVersion: 4, policy });
  });

  const gate = { passed: false, checks: [{ pending: true }], at: by.at } as never;
  const description = "x".repeat(180_000);
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
    ["has more bytes", {}, moreThanMove.slice(0, 20).map((each) => ({ ...each, description })), /bytes/],
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
    expect(() => rename({}, undefined, { lifecycle: "deleted", latestVersion: 1 })).toThrow(/had versions \(up to 1\)/);
    expect(() => rename({}, undefined, { lifecycle: "deleted", latestVersion: 2, renamedTo: "old" })).toThrow(
      /"new" already had versions \(up to 2\): choose a name that was never used/,
    );
    expect(() => rename({}, undefined, { lifecycle: "deleted", latestVersion: 0 })).not.toThrow();
  });
});
