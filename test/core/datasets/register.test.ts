import { versionDigestOf } from "../../../core/datasets/identity";
import { registerDataset } from "../../../core/datasets/register";
import type { ColumnSchema, DatasetDraft } from "../../../core/datasets/shapes";
import { objectKeys } from "../../../core/object-keys";
import { createMemoryObjectStore } from "../../adapters/s3/memory-object-store";
import { columns, draftOf } from "./drafts";
import { createMemoryDatasetRepository } from "./memory-dataset-repository";

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
    [
      "rows that do not add up",
      { rowCount: 4 },
      "INVALID_DATASET_MANIFEST",
      /rowCount is 4, but the sum of its parts is 3/,
    ],
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
