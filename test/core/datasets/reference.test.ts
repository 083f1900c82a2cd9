import { getDatasetVersion, parseDatasetReference, resolveDataset } from "../../../core/datasets/repository";
import { InvalidInputError } from "../../../core/errors";
import { draftOf } from "./drafts";
import { createMemoryDatasetRepository } from "./memory-dataset-repository";

const at = "2026-01-01T00:00:00.000Z";

async function threeVersions() {
  const repository = createMemoryDatasetRepository();
  for (const content of ["a", "b", "c"]) await repository.register(draftOf("digits", content), { at });
  await repository.deprecate("digits", 3, { at, reason: "labels swapped" });
  return repository;
}

describe("dataset reference", () => {
  it.each([
    ["digits", { name: "digits" }],
    ["digits@latest", { name: "digits" }],
    ["digits@12", { name: "digits", version: 12 }],
  ])("reads %s", (text, expected) => expect(parseDatasetReference(text)).toEqual(expected));

  it.each(["", "Digits", "digits@0", "digits@v1", "digits@", "a@1@2"])("refuses %j", (text) => {
    expect(() => parseDatasetReference(text)).toThrow(InvalidInputError);
  });

  it.each([
    ["digits", 2],
    ["digits@latest", 2],
    ["digits@1", 1],
  ])("resolves %s past deprecated versions", async (reference, version) => {
    expect((await resolveDataset(await threeVersions(), reference)).manifest.version).toBe(version);
  });

  it.each([
    ["an unknown dataset", "flights", "DATASET_NOT_FOUND", /no dataset "flights"/],
    ["an unknown dataset's version", "flights@1", "DATASET_NOT_FOUND", /no dataset "flights"/],
    ["an unknown version", "digits@9", "DATASET_VERSION_NOT_FOUND", /digits has no version 9; its latest is digits@3/],
    ["a deprecated version", "digits@3", "DATASET_VERSION_DEPRECATED", /digits@3 is deprecated \(labels swapped\)/],
  ])("refuses %s", async (_case, reference, code, message) => {
    const repository = await threeVersions();
    await expect(resolveDataset(repository, reference)).rejects.toMatchObject({ code });
    await expect(resolveDataset(repository, reference)).rejects.toThrow(message);
  });

  it("says when every version is deprecated", async () => {
    const repository = await threeVersions();
    await repository.deprecate("digits", 1, { at, reason: "" });
    await repository.deprecate("digits", 2, { at, reason: "" });
    await expect(resolveDataset(repository, "digits")).rejects.toMatchObject({
      code: "DATASET_WITHOUT_ACTIVE_VERSION",
    });
  });

  it("still shows a deprecated version", async () => {
    expect((await getDatasetVersion(await threeVersions(), "digits", 3)).deprecation?.reason).toBe("labels swapped");
  });
});
