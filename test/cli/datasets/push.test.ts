import * as fs from "node:fs";
import * as path from "node:path";
import { appendToDataset, type PushProgress, pushDataset } from "../../../cli/datasets/push";
import { versionDigestOf } from "../../../core/datasets/identity";
import { registerDataset } from "../../../core/datasets/register";
import type { DatasetDraft, DatasetVersion } from "../../../core/datasets/shapes";
import { readSplits } from "../../../core/datasets/split-index";
import { objectKeys } from "../../../core/object-keys";
import type { UploadPort } from "../../../core/ports";
import { createMemoryObjectStore } from "../../adapters/s3/memory-object-store";
import { createMemoryDatasetRepository } from "../../core/datasets/memory-dataset-repository";
import { temporaryFolder } from "../../support/temporary-folder";

const directory = temporaryFolder("push-test");

function write(name: string, content: string): string {
  fs.writeFileSync(path.join(directory, name), content);
  return path.join(directory, name);
}

const schema = "columns:\n  - {name: x, type: float}\n  - {name: y, type: int, role: label}\n";
const csv = (rows: number): string =>
  `x,y\n${Array.from({ length: rows }, (_, i) => `${i / 4},${i % 2}`).join("\n")}\n`;

function platform() {
  const objects = createMemoryObjectStore();
  const repository = createMemoryDatasetRepository();
  let sent = 0;
  const uploads: UploadPort = {
    async missing(references) {
      const sizes = await Promise.all(references.map(({ sha256 }) => objects.size(objectKeys.content(sha256))));
      return references.filter((_, i) => sizes[i] === undefined).map(({ sha256 }) => sha256);
    },
    async put({ sha256 }, source) {
      sent += 1;
      const stored = await objects.putContent("path" in source ? fs.readFileSync(source.path) : source.bytes);
      expect(stored.sha256).toBe(sha256);
    },
  };
  const register = (draft: DatasetDraft) => registerDataset({ objects, repository, clock: { now: () => 0 } }, draft);
  const push = (file: string, schemaText = schema, onProgress?: (progress: PushProgress) => void) =>
    pushDataset({ name: "toy", file, schemaFile: write("schema.yaml", schemaText), uploads, register, onProgress });
  const append = async (file: string, onto?: DatasetVersion) => {
    const version = onto ?? (await repository.findNewest("toy"))!;
    return appendToDataset({ name: "toy", file, uploads, register, append: { version, contents: objects } });
  };
  return { push, append, sent: () => sent, uploads, register, objects };
}

describe("appendToDataset", () => {
  const more = (from: number, to: number): string =>
    `y,x\n${Array.from({ length: to - from }, (_, i) => `${i % 2},${(from + i) / 4}`).join("\n")}\n`;

  it("makes a version of the parent's rows and the file's, and stores only the new ones", async () => {
    const { push, append, sent, objects } = platform();
    const first = (await push(write("a.csv", csv(20)))).registered.version.manifest;
    const before = sent();
    const { registered, draft } = await append(write("more.csv", more(20, 60)));
    expect(registered.created).toBe(true);
    const { manifest } = registered.version;
    expect(manifest).toMatchObject({
      version: 2,
      rowCount: 60,
      parent: { version: 1, digest: first.digest, rows: 20 },
    });
    expect(manifest.shards.map(({ rows }) => rows)).toEqual([20, 40]);
    expect(manifest.shards[0]).toEqual(first.shards[0]);
    // One shard and three indexes.
    expect(sent() - before).toBe(4);
    expect(["train", "validation", "test"].map((split) => draft.split.indexes[split as "train"].rows)).toEqual([
      48, 6, 6,
    ]);
    const [old, now] = await Promise.all([readSplits(first, objects), readSplits(manifest, objects)]);
    expect(now.subarray(0, 20)).toEqual(old);
    // The same rows give the same shard as alone.
    const alone = (await platform().push(write("b.csv", more(20, 60)))).draft;
    expect(manifest.shards[1]).toEqual(alone.shards[0]);
  });

  it("adds a file's rows once, however often it is appended", async () => {
    const { push, append, sent } = platform();
    await push(write("a.csv", csv(20)));
    await append(write("more.csv", more(20, 30)));
    const before = sent();
    const again = await append(write("more.csv", more(20, 30)));
    expect([again.registered.created, again.registered.version.manifest.version, sent()]).toEqual([false, 2, before]);
    const third = await append(write("more.csv", more(30, 33)));
    expect(third.registered.version.manifest).toMatchObject({
      version: 3,
      rowCount: 33,
      parent: { version: 2, rows: 30 },
    });
    expect(third.registered.version.manifest.shards).toHaveLength(3);
  });

  it("refuses to append to a version that is no longer the newest, and what does not follow its parent", async () => {
    const { push, append, register } = platform();
    const { registered } = await push(write("a.csv", csv(20)));
    const { draft } = await append(write("more.csv", more(20, 30)));
    await expect(append(write("other.csv", more(40, 50)), registered.version)).rejects.toThrow(
      /appended to toy@1, but the newest version is toy@2; append them again/,
    );
    const described = {
      ...draft,
      shards: draft.shards.slice(1),
      parent: { version: 2, digest: draft.digest, rows: 0 },
    };
    const rows = described.shards[0]!.rows;
    const forged = { ...described, rowCount: rows, bytes: described.shards[0]!.bytes };
    await expect(register({ ...forged, digest: versionDigestOf(forged) })).rejects.toMatchObject({
      code: "INVALID_DATASET_MANIFEST",
    });
    await expect(append(write("bad.csv", "x,y\nred,1\n"))).rejects.toThrow(/column x, row 1: "red" must be a number/);
  });
});

describe("pushDataset", () => {
  it("makes version 1, sends content before it registers, and says how far it is", async () => {
    const { push, sent } = platform();
    const phases: string[] = [];
    const { registered, draft } = await push(write("a.csv", csv(20)), schema, ({ phase }) => phases.push(phase));
    expect([registered.created, registered.version.manifest.version, draft.rowCount]).toEqual([true, 1, 20]);
    expect(sent()).toBe(4);
    const first = ["checking", "casting", "splitting", "writing"];
    expect([...new Set(phases)]).toEqual([...first, "uploading", "profiling", "registering"]);
  });

  it("sends nothing and makes no version for content that is there", async () => {
    const { push, sent } = platform();
    await push(write("a.csv", csv(20)));
    const asJson = Array.from({ length: 20 }, (_, i) => JSON.stringify({ y: i % 2, x: i / 4 }));
    const progress: PushProgress[] = [];
    const { registered } = await push(write("a.ndjson", asJson.join("\n")), schema, (now) => progress.push(now));
    expect([registered.created, registered.version.manifest.version, sent()]).toEqual([false, 1, 4]);
    const uploading = progress.find(({ phase }) => phase === "uploading");
    expect(uploading).toMatchObject({ sentBytes: 0, knownBytes: (uploading as { bytes: number }).bytes });
  });

  it.each([
    [csv(10).replace("0.5,0", "0.5,red"), schema, /column y, row 3: "red" must be a whole number/],
    ["x,y\n1,1\n2,nan\n3,2\n", schema.replace("int", "float"), /column y, row 2: "nan" must be finite/],
    [csv(2), schema, /gives split validation none of the dataset's 2 rows/],
    [csv(9), schema.replace("float", "real"), /line 2: columns\[0\]\.type is "real"/],
  ])("registers nothing for what it refuses: %j", async (rows, schemaText, message) => {
    const { push, sent } = platform();
    await expect(push(write("a.csv", rows), schemaText)).rejects.toThrow(message);
    expect(sent()).toBe(0);
  });

  it.each([["Toy"], [""], ["a b"]])("refuses the name %j", async (name) => {
    const { uploads, register } = platform();
    const options = { name, file: "none", schemaFile: "none", uploads, register };
    await expect(pushDataset(options)).rejects.toThrow(/name is .* must be 1–63 lower-case letters/);
  });

  it("leaves nothing behind", async () => {
    const { push } = platform();
    const files = [write("a.csv", csv(20)), write("b.csv", "x,y\n")];
    const temporary = path.join(directory, "tmp");
    fs.mkdirSync(temporary);
    const before = process.env["TMPDIR"];
    process.env["TMPDIR"] = temporary;
    try {
      for (const file of files) await push(file).catch(() => undefined);
    } finally {
      if (before === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = before;
    }
    expect(fs.readdirSync(temporary)).toEqual([]);
  });
});
