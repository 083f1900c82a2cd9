import * as fs from "node:fs";
import * as path from "node:path";
import { encode as encodeJpeg } from "jpeg-js";
import { PNG } from "pngjs";
import { pack } from "tar-stream";
import { parseImageSize } from "../../../adapters/duckdb/formats/image-header";
import { resize } from "../../../adapters/duckdb/formats/sample-table";
import { inferSchema } from "../../../adapters/duckdb/infer-schema";
import { pushFile } from "../../../adapters/duckdb/push-file";
import { readColumns } from "../../../adapters/duckdb/row-reader";
import { createSnapshot } from "../../../adapters/duckdb/snapshot";
import { withDuckDb } from "../../../adapters/duckdb/workspace";
import { parseDatasetSchema } from "../../../core/datasets/schema";
import { temporaryFolder } from "../../support/temporary-folder";

const folder = temporaryFolder("samples");

function write(name: string, content: string | Buffer): string {
  const file = path.join(folder, name);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, content);
  return file;
}

function png(height: number, width: number, grey: boolean, value: (at: number) => number): Buffer {
  const image = new PNG({ width, height });
  for (let i = 0; i < width * height; i += 1)
    image.data.set([...[0, 1, 2].map((add) => value(i) + (grey ? 0 : add)), 255], 4 * i);
  return PNG.sync.write(image, { colorType: grey ? 0 : 2, inputHasAlpha: true });
}

const writePng = (name: string, ...image: Parameters<typeof png>) => write(name, png(...image));

/** Returns the rows of a source by the schema that is inferred for it. */
function read(source: string, size?: string) {
  return withDuckDb(async (session) => {
    const target = size === undefined ? undefined : parseImageSize(size);
    const { columns } = await inferSchema(session, source, undefined, undefined, target);
    const schema = parseDatasetSchema(
      JSON.stringify({ columns, split: { fractions: { train: 0.5, validation: 0, test: 0.5 }, stratifyBy: null } }),
    );
    await createSnapshot(session, { name: "toy", file: source, size: target, schema });
    const values: Record<string, readonly unknown[]> = {};
    for await (const batch of readColumns(session, "canonical", columns)) {
      for (const [name, column] of Object.entries(batch.columns))
        values[name] = [...(column.values as Iterable<unknown>)];
    }
    return { columns, values };
  });
}

it.each([
  ["of classes", ["cat", "dog"], []],
  ["of one split", ["train/cat", "train/dog"], []],
  ["of classes that have names of splits", ["train", "test"], []],
  ["of several splits", ["train/cat", "train/dog", "val/cat", "val/dog"], ["SPLIT_FOLDERS_MERGED"]],
])("warns of the folders of several splits, which become one dataset: folders %s", async (what, folders, expected) => {
  const root = `folders ${what}`;
  for (const [i, each] of folders.entries())
    for (const j of [0, 1]) write(`${root}/${each}/${j}.txt`, `text ${i} ${j}`);
  const file = path.join(folder, root);
  const schema = await withDuckDb(async (session) => {
    const { columns } = await inferSchema(session, file, undefined);
    const fractions = { train: 0.5, validation: 0, test: 0.5 };
    return parseDatasetSchema(JSON.stringify({ columns, split: { fractions, stratifyBy: null } }));
  });
  const uploads = { missing: async () => [], put: async () => undefined };
  const { warnings } = await pushFile({ name: "toy", file, schema, uploads, register: async () => undefined });
  const found = warnings.filter(({ code }) => code === "SPLIT_FOLDERS_MERGED");
  expect(found.map(({ code }) => code)).toEqual(expected);
  if (found[0]) expect(found[0].message).toContain("the rows of the folders train, val are merged");
});

it("reads images in folders, with the folder's name as their label", async () => {
  writePng("photos/cat/1.png", 2, 2, false, (i) => i * 10);
  writePng("photos/dog/1.png", 2, 2, false, (i) => 100 + i);
  writePng("photos/dog/2.PNG", 2, 2, false, () => 7);
  const { columns, values } = await read(path.join(folder, "photos"));
  expect(columns[0]).toEqual({ name: "image", type: "tensor", shape: [2, 2, 3], role: "feature" });
  expect(values["label"]).toEqual(["cat", "dog", "dog"]);
  expect(values["file"]).toEqual(["cat/1.png", "dog/1.png", "dog/2.PNG"]);
  expect(values["image"]?.slice(0, 15)).toEqual([0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32, 100, 101, 102]);
});

it("reads grey images and JPEG, and converts them to one size", async () => {
  writePng("mixed/a/1.png", 4, 4, true, (i) => (i % 4 < 2 ? 0 : 200));
  write("mixed/b/2.jpg", encodeJpeg({ width: 8, height: 8, data: Buffer.alloc(256, 128) }, 100).data);
  await expect(read(path.join(folder, "mixed"))).rejects.toThrow(
    /2\.jpg cannot be used: image must have the size of .*1\.png, 4x4x1, and has 8x8x3; convert all images with --size/,
  );
  const { columns, values } = await read(path.join(folder, "mixed"), "2x2");
  expect(columns[0]?.shape).toEqual([2, 2, 1]);
  // The weights of the four columns for the left half are 3, 3, 1 and 0, each over 7.
  expect(values["image"]).toEqual([29, 171, 29, 171, 128, 128, 128, 128]);
});

it("reads texts, one row a file", async () => {
  write("texts/good/b.txt", "fine\n");
  write("texts/bad/a.txt", "\uFEFFschlecht, „übel“"); // with a byte order mark
  const { values } = await read(path.join(folder, "texts"));
  expect(values).toEqual({
    text: ["schlecht, „übel“", "fine\n"],
    label: ["bad", "good"],
    file: ["bad/a.txt", "good/b.txt"],
  });
});

async function tar(members: Readonly<Record<string, string | Buffer>>): Promise<Buffer> {
  const archive = pack();
  for (const [name, content] of Object.entries(members)) archive.entry({ name }, content);
  archive.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of archive) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

it("reads tar shards in their order, with labels from .cls or from folders", async () => {
  const image = (value: number): Buffer => png(1, 2, true, () => value);
  const first = await tar({
    "0001.png": image(1),
    "0001.cls": "7",
    "0001.json": "{}",
    "0002.cls": "8",
    "0002.png": image(2),
  });
  write("shards/00.tar", first);
  write("shards/01.tar", await tar({ "cat/3.png": image(3) }));
  const { values } = await read(path.join(folder, "shards"));
  expect(values).toEqual({ image: [1, 1, 2, 2, 3, 3], label: ["7", "8", "cat"], file: ["0001", "0002", "cat/3"] });
  write("cut/00.tar", first.subarray(0, 1_600));
  await expect(read(path.join(folder, "cut"))).rejects.toThrow(/00\.tar cannot be read: .*must be a complete tar file/);
  write("unlabelled/00.tar", await tar({ "1.png": image(1) }));
  await expect(read(path.join(folder, "unlabelled"))).rejects.toThrow(
    /00\.tar, member 1 .*must have a label: a member \.cls/,
  );
});

const huge = png(1, 1, false, () => 0);
huge.writeUInt32BE(60_000, 16);
huge.writeUInt32BE(60_000, 20);
const whole = png(9, 9, false, (i) => i);
const changed = Buffer.from(whole);
changed[changed.length - 20]! ^= 1;
const jpeg = encodeJpeg({ width: 8, height: 8, data: Buffer.alloc(256, 9) }, 90).data;
const large = png(300, 300, false, () => 1);

it.each([
  ["other-content.png", Buffer.from("hello"), /must be a PNG or JPEG image/],
  ["cut.png", whole.subarray(0, 60), /image must be a complete PNG image: [^(]* or remove it$/],
  [
    "cut.jpg",
    jpeg.subarray(0, 300),
    /must be a complete JPEG image: its data is cut off or damaged.*\(unknown JPEG mark/,
  ],
  ["changed.png", changed, /must be a complete PNG image: its data is cut off, damaged/],
  ["huge.png", huge, /must have 1 to 32000000 pixels, and has 60000 × 60000/],
  ["large.png", large, /must have at most 65536 values, and has 300 × 300 × 3; give a smaller --size/],
  ["empty.png", Buffer.alloc(0), /must not be empty/],
  ["latin1.txt", Buffer.from([0x66, 0xfc, 0x72]), /must be UTF-8 without zero bytes/],
])("names the file of a broken sample: %s", async (name, content, message) => {
  const file = write(`broken/class/${name}`, content);
  const error = await read(file).catch(String);
  expect(error).toMatch(message);
  expect(error).toContain(file);
});

it("names an empty image of a folder, and an image between texts", async () => {
  const image = png(1, 2, true, () => 1);
  write("empty/a/1.png", image);
  const empty = write("empty/b/2.png", "");
  await expect(read(path.join(folder, "empty"))).rejects.toThrow(`${empty} cannot be read`);
  const text = write("mixed/README.txt", "about the images");
  write("mixed/a/1.png", image);
  await expect(read(path.join(folder, "mixed"))).rejects.toThrow(
    `must be in every sample or in none, and ${text} has none; remove one of the files`,
  );
});

it("follows links to folders, and names a link to nothing", async () => {
  for (const name of ["linked/a/1.png", "elsewhere/1.png"]) writePng(name, 1, 2, true, () => 1);
  const linked = path.join(folder, "linked");
  fs.symlinkSync(path.join(folder, "elsewhere"), path.join(linked, "b"));
  fs.symlinkSync(linked, path.join(linked, "a", "above"));
  expect((await read(linked)).values["file"]).toEqual(["a/1.png", "b/1.png"]);
  fs.symlinkSync(path.join(folder, "nothing"), path.join(linked, "c"));
  await expect(read(linked)).rejects.toThrow(/linked\/c", but must exist, and is a link to nothing/);
});

it("parses sizes", () => {
  expect([parseImageSize("32x48"), parseImageSize("8x8x1")]).toEqual([
    { height: 32, width: 48 },
    { height: 8, width: 8, channels: 1 },
  ]);
  for (const text of ["32", "0x4", "4x4x2"]) expect(() => parseImageSize(text)).toThrow(/--size is/);
});

it("keeps the mean of an image where it enlarges or reduces it", () => {
  const data = Uint8Array.from({ length: 64 }, (_, i) => (i * 37) % 251);
  const mean = (values: Uint8Array): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  for (const side of [1, 3, 4, 16]) {
    const resized = resize({ height: 8, width: 8, channels: 1, data }, side, side);
    expect(Math.abs(mean(resized.data) - mean(data))).toBeLessThan(8);
  }
});
