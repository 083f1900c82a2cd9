import * as fs from "node:fs";
import * as path from "node:path";
import { openDuckDb } from "../../../adapters/duckdb/session";
import { createSnapshot } from "../../../adapters/duckdb/snapshot";
import type { DatasetProfile } from "../../../core/datasets/profile";
import { parseDatasetSchema } from "../../../core/datasets/schema";
import type { DatasetManifest } from "../../../core/datasets/shapes";
import { objectKeys } from "../../../core/object-keys";
import { validateDataset } from "../../../lambdas/validate-dataset/validate";
import { createMemoryObjectStore, type MemoryObjectStore } from "../../adapters/s3/memory-object-store";
import { temporaryFolder } from "../../support/temporary-folder";

const schema = parseDatasetSchema(`
columns:
  - {name: x, type: float, nullable: true}
  - {name: image, type: tensor, shape: [2]}
  - {name: day, type: timestamp}
  - {name: c, type: string}
  - {name: y, type: bool, role: label}
`);
/** x = 0 … 39, of which every tenth is missing. */
const rows = Array.from({ length: 40 }, (_, i) =>
  [
    i % 10 === 0 ? "" : i,
    `"[${i}, 1]"`,
    `2024-01-${String((i % 28) + 1).padStart(2, "0")}`,
    "abc"[i % 3],
    i % 2 === 0,
  ].join(","),
);

const directory = temporaryFolder("validate");
let objects: MemoryObjectStore;
let manifest: DatasetManifest;
async function push(lines: readonly string[]): Promise<void> {
  objects = createMemoryObjectStore();
  const file = path.join(directory, "rows.csv");
  fs.writeFileSync(file, `x,image,day,c,y\n${lines.join("\n")}\n`);
  const session = await openDuckDb(fs.mkdtempSync(path.join(directory, "duckdb-")));
  try {
    const { draft, shards, indexes } = await createSnapshot(session, { name: "toy", file, schema });
    for (const shard of shards) await objects.putContent(fs.readFileSync(shard.path));
    for (const index of indexes.values()) await objects.putContent(index);
    manifest = { ...draft, version: 1, createdAt: "2026-01-01T00:00:00.000Z" };
  } finally {
    session.close();
  }
}
beforeEach(() => push(rows));

describe("validateDataset", () => {
  it("profiles every column", async () => {
    const { rowCount, profile: stored, warnings } = await validateDataset({ inputHash: "f00", manifest, objects });
    expect([rowCount, warnings]).toEqual([40, []]);
    const profile = JSON.parse(Buffer.from(await objects.getContent(stored.sha256)).toString()) as DatasetProfile;
    const [x, image, day, c, y] = profile.columns;
    // 1 … 39 without 10, 20, 30: 36 numbers of sum 780 - 60.
    expect(x).toMatchObject({ count: 36, nulls: 4, min: 1, max: 39, mean: 20, distinct: 36 });
    expect(x!.quantiles).toHaveLength(7);
    expect(x!.quantiles![3]).toBe(20);
    expect(image).toMatchObject({ count: 40, nulls: 0, min: 0, max: 39, mean: (19.5 + 1) / 2 });
    expect(day).toMatchObject({ min: "2024-01-01T00:00:00.000Z", max: "2024-01-28T00:00:00.000Z", distinct: 28 });
    expect(c!.top).toEqual([
      { value: "a", count: 14 },
      { value: "b", count: 13 },
      { value: "c", count: 13 },
    ]);
    expect(y).toMatchObject({ mean: 0.5, distinct: 2 });
    expect(profile.classes).toEqual([
      { value: false, rows: { train: 16, validation: 2, test: 2 } },
      { value: true, rows: { train: 16, validation: 2, test: 2 } },
    ]);
    expect([profile.duplicateShare, profile.exact]).toEqual([0, true]);
  });

  it("mends the copy of the manifest that a push died before", async () => {
    await validateDataset({ inputHash: "f00", manifest, objects });
    const copy = await objects.get(objectKeys.datasetManifest("toy", 1));
    expect(JSON.parse(Buffer.from(copy).toString())).toEqual(manifest);
  });

  it("warns of rows that repeat others", async () => {
    await push([...rows, ...rows.slice(1, 11)]);
    const { warnings } = await validateDataset({ inputHash: "f00", manifest, objects });
    expect(warnings[0]).toMatchObject({
      code: "DUPLICATE_ROWS",
      message: expect.stringMatching(/^20\.0 % of the rows/),
    });
  });

  it.each([
    ["values out of range", { minimum: 5 }, /column x, row 2: "1.0" must be at least 5 \(4 rows\)/],
    ["missing values", { nullable: false }, /column x, row 1: value is missing \(4 rows\)/],
    ["values outside their set", { values: [1, 2, 3] }, /column x, row 5: "4.0" must be one of 1, 2, 3/],
  ])("refuses %s, whatever was claimed at the push", async (_case, change, message) => {
    const claimed = {
      ...manifest,
      schema: manifest.schema.map((column) => (column.name === "x" ? { ...column, ...change } : column)),
    };
    const rejected = validateDataset({ inputHash: "f00", manifest: claimed, objects });
    await expect(rejected).rejects.toMatchObject({ code: "INVALID_ROWS" });
    await expect(rejected).rejects.toThrow(message);
  });

  it("refuses columns of other types than the schema's", async () => {
    const claimed = { ...manifest, schema: manifest.schema.map((column) => ({ ...column, type: "int" as const })) };
    const rejected = validateDataset({ inputHash: "f00", manifest: claimed, objects });
    await expect(rejected).rejects.toMatchObject({ code: "INVALID_DATASET_MANIFEST" });
    await expect(rejected).rejects.toThrow(/holds column x as DOUBLE, not BIGINT/);
  });

  it("refuses a shard of other rows than the manifest's", async () => {
    const claimed = { ...manifest, shards: [{ ...manifest.shards[0]!, rows: 41 }] };
    await expect(validateDataset({ inputHash: "f00", manifest: claimed, objects })).rejects.toThrow(
      /has 40 rows, not 41/,
    );
  });

  it("refuses a shard that is no Parquet", async () => {
    const junk = await objects.putContent("junk");
    const claimed = { ...manifest, shards: [{ ...junk, rows: 40 }] };
    await expect(validateDataset({ inputHash: "f00", manifest: claimed, objects })).rejects.toThrow(/cannot be read/);
  });

  it("refuses a dataset that is larger than its disk, before it fetches a shard", async () => {
    const claimed = { ...manifest, bytes: 2 ** 60 };
    const store = { ...objects, getContent: () => Promise.reject(new Error("a shard was fetched")) };
    await expect(validateDataset({ inputHash: "f00", manifest: claimed, objects: store })).rejects.toMatchObject({
      code: "DATASET_TOO_LARGE",
      message: expect.stringMatching(/has 1152922 TB in its shards, .* free/),
    });
  });

  it("refuses a damaged shard", async () => {
    objects.objects.set(objectKeys.content(manifest.shards[0]!.sha256), new Uint8Array(9));
    await expect(validateDataset({ inputHash: "f00", manifest, objects })).rejects.toThrow(manifest.shards[0]!.sha256);
  });

  it.each([
    [
      { by: "group", column: "c" },
      /the split is by group, but 3 values of c are in more than one split, for example that of rows \d+ and \d+;/,
    ],
    [
      { by: "time", column: "day" },
      /the split is by time, but the last day of train .* is not before the first of validation/,
    ],
  ] as const)("refuses rows that break the rule of their split: %j", async (rule, message) => {
    const claimed = { ...manifest, split: { ...manifest.split, ...rule } };
    await expect(validateDataset({ inputHash: "f00", manifest: claimed, objects })).rejects.toThrow(message);
  });

  it("refuses an empty version", async () => {
    const claimed = { ...manifest, rowCount: 0, shards: [] };
    await expect(validateDataset({ inputHash: "f00", manifest: claimed, objects })).rejects.toMatchObject({
      code: "EMPTY_DATASET",
    });
  });
});
