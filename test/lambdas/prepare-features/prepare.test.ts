import * as fs from "node:fs";
import * as path from "node:path";
import { pushDataset } from "../../../cli/datasets/push";
import type { DatasetManifest, SplitName } from "../../../core/datasets/shapes";
import { decodeSplitIndex } from "../../../core/datasets/split-index";
import { compilePlan, createRowFunction } from "../../../core/feature-plans/compile";
import { decodeFeatureShard } from "../../../core/features/encoding";
import { inputColumns } from "../../../core/features/planned-rows";
import type { FeatureManifest } from "../../../core/features/shapes";
import { createRowTransform, type RawRow } from "../../../core/features/transform";
import { jobSchema } from "../../../core/runs/job";
import { prepareFeatures } from "../../../lambdas/prepare-features/handler";
import { createMemoryObjectStore, type MemoryObjectStore } from "../../adapters/s3/memory-object-store";
import { temporaryFolder } from "../../support/temporary-folder";

const schema = `
columns:
  - {name: price, type: float, nullable: true}
  - {name: rooms, type: int}
  - {name: heating, type: string, nullable: true}
  - {name: garden, type: bool, nullable: true}
  - {name: listed, type: timestamp}
  - {name: plan, type: tensor, shape: [2, 2]}
  - {name: city, type: string, role: slice}
  - {name: sold, type: bool, role: label}
`;

/** Values that are inexact in binary, so that parity to the bit means something. */
const rows: readonly RawRow[] = Array.from({ length: 300 }, (_, i) => ({
  price: i % 11 === 0 ? null : Math.sqrt(i) * 1e5 + 0.1,
  rooms: (i * 7) % 9,
  heating: i % 13 === 0 ? null : ["gas", "oil", "heat pump", "wood"][(i * 5) % 4],
  garden: i % 17 === 0 ? null : i % 3 === 0,
  listed: new Date(Date.UTC(2023, 0, 1) + i * 86_400_000 * 1.37).toISOString(),
  plan: [
    [i / 3, 0.1],
    [Math.sin(i), -i],
  ],
  city: ["Rome", "Oslo", "Bern"][i % 3],
  sold: i % 4 === 0,
}));

const directory = temporaryFolder("prepare");
let objects: MemoryObjectStore;
let manifest: DatasetManifest;
beforeAll(async () => {
  objects = createMemoryObjectStore();
  fs.writeFileSync(path.join(directory, "schema.yaml"), schema);
  fs.writeFileSync(path.join(directory, "rows.ndjson"), rows.map((row) => JSON.stringify(row)).join("\n"));
  const { draft } = await pushDataset({
    name: "houses",
    file: path.join(directory, "rows.ndjson"),
    schemaFile: path.join(directory, "schema.yaml"),
    uploads: {
      missing: async (references) => references.map(({ sha256 }) => sha256),
      put: async (_reference, source) =>
        void (await objects.putContent("path" in source ? fs.readFileSync(source.path) : source.bytes)),
    },
    register: async (made) => made,
  });
  manifest = { ...draft, version: 1, createdAt: "2026-01-01T00:00:00.000Z" };
});

const job = { features: { standardize: true }, evaluation: { slices: [] as string[] } };
async function prepare(shardBytes?: number) {
  const output = await prepareFeatures({ manifest, job, objects, inputHash: "f00", shardBytes });
  const features = JSON.parse(Buffer.from(await objects.get(output.featureManifestKey)).toString()) as FeatureManifest;
  return { output, features };
}
async function viewsOf(features: FeatureManifest, split: SplitName) {
  const shards = features.splits[split].shards;
  return Promise.all(shards.map(async ({ sha256 }) => decodeFeatureShard(await objects.getContent(sha256), features)));
}

describe("prepareFeatures", () => {
  it("gives the dense rows that serving computes from the raw rows, to the bit and in order", async () => {
    const { features, output } = await prepare(2_000);
    const { apply } = createRowTransform(features.transform, manifest.schema);
    for (const split of ["train", "validation", "test"] as const) {
      const index = decodeSplitIndex(await objects.getContent(manifest.split.indexes[split].sha256));
      const expected = apply([...index].map((row) => rows[row]!));
      const { width } = features.transform;
      const dense = new Float32Array(index.length * width);
      const labels: number[] = [];
      let at = 0;
      for (const view of await viewsOf(features, split)) {
        for (let row = 0; row < view.rows; row += 1, at += 1) {
          view.writeRow(row, dense, at * width);
          labels.push(view.labelAt(row));
        }
      }
      expect(at).toBe(output.rows[split]);
      expect(Buffer.compare(Buffer.from(dense.buffer), Buffer.from(expected.buffer))).toBe(0);
      expect(labels).toEqual([...index].map((row) => Number(rows[row]!["sold"])));
    }
  });

  it("cuts shards that differ by one row at most", async () => {
    const { features } = await prepare(2_000);
    const sizes = features.splits.train.shards.map(({ rows }) => rows);
    expect(sizes.length).toBeGreaterThan(3);
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
    for (const { bytes } of features.splits.train.shards) expect(bytes).toBeLessThan(2_600);
  });

  it("keeps slices with the test split alone", async () => {
    const { features } = await prepare();
    expect(features.slices).toEqual([{ column: "city", values: ["Bern", "Oslo", "Rome"] }]);
    const index = decodeSplitIndex(await objects.getContent(manifest.split.indexes.test.sha256));
    const [test] = await viewsOf(features, "test");
    const cities = [...index].map((_, row) => features.slices[0]!.values[test!.sliceAt(row, 0)]);
    expect(cities).toEqual([...index].map((row) => rows[row]!["city"]));
    expect((await viewsOf(features, "train"))[0]!.slices.length).toBe(0);
  });

  it("is the same every time, to the manifest's digest", async () => {
    const first = await prepare();
    const second = await prepare();
    expect(second).toEqual(first);
  });

  it("refuses a shard that is not what its digest says", async () => {
    const [shard] = manifest.shards;
    const damaged = createMemoryObjectStore();
    for (const [key, body] of objects.objects) {
      damaged.objects.set(key, key.endsWith(shard!.sha256) ? body.slice(0, -1) : body);
    }
    await expect(prepareFeatures({ manifest, job, objects: damaged, inputHash: "f00" })).rejects.toThrow(shard!.sha256);
  });
});

describe("prepareFeatures with a plan", () => {
  const plan = [
    { kind: "standardize", column: "price", impute: "median", indicator: true },
    { kind: "log", column: "rooms", name: "rooms", output: false },
    { kind: "robust", column: "rooms", name: "log rooms" },
    { kind: "one-hot", column: "heating", impute: "none" },
    { kind: "number", column: "garden" },
    { kind: "cycle", column: "listed", part: "dayOfYear" },
    { kind: "cross", columns: ["heating", "garden"], name: "both" },
    { kind: "hash", column: "both", buckets: 16 },
    { kind: "target", column: "heating", target: "sold", foldBy: "listed", folds: 3, name: "rate" },
  ];
  const features = jobSchema.shape.features.parse({ plan });

  async function preparePlan() {
    const planned = { features, evaluation: { slices: [] } };
    const output = await prepareFeatures({ manifest, job: planned, objects, inputHash: "f01", shardBytes: 2_000 });
    const text = Buffer.from(await objects.get(output.featureManifestKey)).toString();
    return { output, made: JSON.parse(text) as FeatureManifest };
  }
  const rowsOf = async (split: SplitName) => {
    const index = decodeSplitIndex(await objects.getContent(manifest.split.indexes[split].sha256));
    return [...index].map((row) => rows[row]!);
  };
  async function denseOf(made: FeatureManifest, split: SplitName): Promise<Float32Array> {
    const { width } = made.transform;
    const dense = new Float32Array(made.splits[split].rows * width);
    let at = 0;
    for (const view of await viewsOf(made, split)) {
      for (let row = 0; row < view.rows; row += 1, at += width) view.writeRow(row, dense, at);
    }
    return dense;
  }

  it("fits it on the training split alone, and stores it in the transform", async () => {
    const { made, output } = await preparePlan();
    const rooms = (await rowsOf("train"))
      .map(({ rooms: count }) => Math.log((count as number) + 1))
      .sort((a, b) => a - b);
    expect(made.transform.plan?.rows).toBe(rooms.length);
    const rank = (rooms.length - 1) / 2;
    const median = (rooms[Math.floor(rank)]! + rooms[Math.ceil(rank)]!) / 2;
    expect(made.transform.plan?.fitted["log rooms"]?.center).toBeCloseTo(median, 12);
    // Price and its indicator, log rooms, garden, sine and cosine, the rate; five kinds of heating, 16 buckets.
    expect(output.width).toBe(7 + 5 + 16);
    expect(await preparePlan()).toEqual({ made, output });
  });

  it("refuses one that makes no feature of these rows", async () => {
    const step = { kind: "one-hot", column: "heating", minCount: 1_000 };
    const none = { features: jobSchema.shape.features.parse({ plan: [step] }), evaluation: { slices: [] } };
    await expect(
      prepareFeatures({ manifest, job: none, objects, inputHash: "f02", shardBytes: 2_000 }),
    ).rejects.toThrow("features.plan must make a feature, but no category of the training rows has minCount rows");
  });

  it("gives the rows that serving computes, to the bit; training rows have their targets out of fold", async () => {
    const { made } = await preparePlan();
    const { transform } = made;
    const { apply } = createRowTransform(transform, manifest.schema);
    expect(await denseOf(made, "validation")).toEqual(apply(await rowsOf("validation")));
    expect(await denseOf(made, "test")).toEqual(apply(await rowsOf("test")));
    const training = await rowsOf("train");
    const compiled = compilePlan(transform.plan!, true);
    const outOfFold = createRowFunction(compiled);
    const rate = compiled.outputs.findIndex(({ name }) => name === "rate");
    const { offset } = transform.outputs[rate]!;
    const [dense, served] = [await denseOf(made, "train"), apply(training)];
    for (const [i, row] of training.entries()) served[i * transform.width + offset] = outOfFold(row)[rate]!;
    expect(dense).toEqual(served);
    expect(dense).not.toEqual(apply(training));
  });

  it("serves rows without the label and the column of the folds, and names what a row lacks", async () => {
    const { transform } = (await preparePlan()).made;
    const inputs = manifest.schema.filter(({ name }) => inputColumns(transform).has(name));
    expect(inputs.map(({ name }) => name)).toEqual(["price", "rooms", "heating", "garden", "listed"]);
    const { apply } = createRowTransform(transform, inputs);
    const { sold: _, ...row } = rows[5]!;
    expect(apply([row])).toEqual(createRowTransform(transform, manifest.schema).apply([rows[5]!]));
    expect(() => apply([row, { ...row, rooms: "three" }])).toThrow(
      /rows\[1\].rooms is "three", but must be a whole number/,
    );
  });
});
