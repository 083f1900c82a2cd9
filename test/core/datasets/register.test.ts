import { schemaChanges, schemaHashOf, versionDigestOf } from "../../../core/datasets/identity";
import { registerDataset } from "../../../core/datasets/register";
import {
  type DatasetRepository,
  getDatasetVersion,
  parseDatasetReference,
  resolveDataset,
} from "../../../core/datasets/repository";
import type { ColumnSchema, DatasetDraft } from "../../../core/datasets/shapes";
import { sha256 } from "../../../core/digest";
import { InvalidInputError } from "../../../core/errors";
import { objectKeys } from "../../../core/object-keys";
import { createMemoryObjectStore } from "../../adapters/s3/memory-object-store";
import { columns, draftOf } from "./drafts";
import { createMemoryDatasetRepository } from "./memory-dataset-repository";
import { describeDatasetRepository } from "./repository-contract";

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

const x: ColumnSchema = { name: "x", type: "tensor", shape: [2, 2], role: "feature" };
const y: ColumnSchema = { name: "y", type: "int", role: "label" };

describe("schemaHashOf", () => {
  it("is SHA-256 over names and types", () => {
    expect(schemaHashOf([x, y])).toBe(sha256('[["x","tensor[2,2]"],["y","int"]]'));
  });

  it.each([
    ["a role", [x, { ...y, role: "ignore" as const }], true],
    ["a range", [x, { ...y, minimum: 0 }], true],
    ["a type", [x, { ...y, type: "string" as const }], false],
    ["a shape", [{ ...x, shape: [4] }, y], false],
    ["a name", [x, { ...y, name: "z" }], false],
    ["the order", [y, x], false],
  ])("after a change of %s", (_case, columns, same) => {
    expect(schemaHashOf(columns) === schemaHashOf([x, y])).toBe(same);
  });
});

describe("schemaChanges", () => {
  it.each([
    ["nothing", [x, y], []],
    ["a column less", [y], ["column x (tensor[2,2]) is missing"]],
    ["a column more", [x, y, { name: "z", type: "bool", role: "feature" } as const], ["column z (bool) is new"]],
    ["another type", [x, { ...y, type: "float" } as const], ["column y was int and is float"]],
    ["another order", [y, x], ["the columns' order was x, y and is y, x"]],
  ])("says %s", (_case, after, changes) => {
    expect(schemaChanges([x, y], after)).toEqual(changes);
  });
});

describe("versionDigestOf", () => {
  const empty = { sha256: "00", bytes: 0, rows: 0 };
  const draft = {
    schema: [x, y],
    shards: [{ sha256: "aa", bytes: 1, rows: 1 }],
    split: {
      seed: 1,
      fractions: { train: 1, validation: 0, test: 0 },
      indexes: { train: empty, validation: empty, test: empty },
    },
  };

  it("changes with rows, schema and split, and with nothing else", () => {
    const digest = versionDigestOf(draft);
    expect(versionDigestOf({ ...draft, name: "other", createdAt: "later" } as typeof draft)).toBe(digest);
    expect(versionDigestOf({ ...draft, shards: [{ ...draft.shards[0]!, sha256: "ab" }] })).not.toBe(digest);
    expect(versionDigestOf({ ...draft, schema: [x, { ...y, maximum: 9 }] })).not.toBe(digest);
    expect(versionDigestOf({ ...draft, split: { ...draft.split, seed: 2 } })).not.toBe(digest);
  });
});

describe("dataset repository in memory", () => {
  describeDatasetRepository(async () => {
    const teams = new Map<string, DatasetRepository>();
    return (team) => {
      const repository = teams.get(team) ?? createMemoryDatasetRepository(team);
      teams.set(team, repository);
      return repository;
    };
  });
});

function setup() {
  const objects = createMemoryObjectStore();
  const repository = createMemoryDatasetRepository();
  const upload = async (content: string) => {
    await objects.putContent(content);
    // An index of one row is four bytes; their content does not matter here.
    for (const { sha256 } of Object.values(draftOf("digits", content).split.indexes)) {
      await objects.put(objectKeys.content(sha256), new Uint8Array(4));
    }
  };
  const register = (draft: DatasetDraft, allowSchemaChange = false) =>
    registerDataset({ objects, repository, clock: { now: () => 0 } }, draft, {
      allowSchemaChange: async () => allowSchemaChange,
    });
  return { objects, upload, register };
}

const renamed: readonly ColumnSchema[] = [columns[0]!, { ...columns[1]!, name: "z" }];

describe("registerDataset", () => {
  it("registers once and stores the manifest's copy", async () => {
    const { objects, upload, register } = setup();
    await upload("a");
    const first = await register(draftOf("digits", "a"));
    expect([first.created, first.version.manifest.createdAt]).toEqual([true, "1970-01-01T00:00:00.000Z"]);
    expect((await register(draftOf("digits", "a"))).created).toBe(false);
    const stored = await objects.get(objectKeys.datasetManifest("digits", 1));
    expect(JSON.parse(Buffer.from(stored).toString())).toEqual(first.version.manifest);
  });

  it("mends the manifest's object when a push that died is repeated", async () => {
    const { objects, upload, register } = setup();
    await upload("a");
    await register(draftOf("digits", "a"));
    objects.objects.delete(objectKeys.datasetManifest("digits", 1));
    await register(draftOf("digits", "a"));
    expect(await objects.size(objectKeys.datasetManifest("digits", 1))).toBeGreaterThan(0);
  });

  it("refuses a copy of the manifest that says something else, and leaves both as they are", async () => {
    const { objects, upload, register } = setup();
    await upload("a");
    await objects.put(objectKeys.datasetManifest("digits", 1), JSON.stringify({ name: "digits", shards: [] }));
    for (let push = 0; push < 2; push += 1) {
      await expect(register(draftOf("digits", "a"))).rejects.toMatchObject({
        code: "OBJECT_DIFFERS",
        message: expect.stringContaining("datasets/digits/versions/1/manifest.json"),
      });
    }
  });

  it("refuses changed columns and says which, unless the change is meant", async () => {
    const { upload, register } = setup();
    for (const content of ["a", "b"]) await upload(content);
    await register(draftOf("digits", "a"));
    const changed = { ...draftOf("digits", "b", renamed), split: { ...draftOf("digits", "b").split, stratifyBy: "z" } };
    const draft = { ...changed, digest: versionDigestOf(changed) };
    await expect(register(draft)).rejects.toMatchObject({ code: "SCHEMA_MISMATCH" });
    await expect(register(draft)).rejects.toThrow(
      /differs from that of digits@1: column y \(int\) is missing; column z \(int\) is new/,
    );
    expect((await register(draft, true)).version.manifest.version).toBe(2);
  });

  it.each([
    ["rows that do not add up", { rowCount: 4 }, "INVALID_DATASET_MANIFEST", /is 4, but the sum of its parts is 3/],
    ["no rows", { rowCount: 0 }, "EMPTY_DATASET", /has no rows/],
    ["another schema's hash", { schemaHash: "00" }, "INVALID_DATASET_MANIFEST", /schemaHash is 00/],
    ["another digest", { digest: "00" }, "INVALID_DATASET_MANIFEST", /digest is 00/],
    ["a schema that is none", { schema: columns.slice(0, 1) }, "INVALID_INPUT", /exactly one column of role label/],
  ])("refuses a draft with %s", async (_case, change, code, message) => {
    const { upload, register } = setup();
    await upload("a");
    const draft = { ...draftOf("digits", "a"), ...change };
    await expect(register(draft)).rejects.toMatchObject({ code });
    await expect(register(draft)).rejects.toThrow(message);
  });

  it("refuses a manifest that no row can hold", async () => {
    const { upload, register } = setup();
    await upload("a");
    const values = Array.from({ length: 40_000 }, (_, i) => `value-${i}`);
    const wide: readonly ColumnSchema[] = [...columns, { name: "w", type: "string", role: "feature", values }];
    await expect(register(draftOf("digits", "a", wide))).rejects.toThrow(/has \d+ bytes, but must have at most 400000/);
  });

  it("refuses a draft whose content is not there, or cut short", async () => {
    const { objects, upload, register } = setup();
    const draft = draftOf("digits", "a");
    await expect(register(draft)).rejects.toThrow(/content .* was not uploaded/);
    await upload("a");
    await objects.put(objectKeys.content(draft.shards[0]!.sha256), "longer than it was");
    await expect(register(draft)).rejects.toThrow(/has 18 bytes, not 1/);
  });
});
