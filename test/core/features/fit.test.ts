import { valueLimit } from "../../../core/datasets/profile";
import type { ColumnSchema, SplitName } from "../../../core/datasets/shapes";
import { InvalidInputError } from "../../../core/errors";
import type { FeatureChoice } from "../../../core/features/choice";
import { decodeFeatureShard } from "../../../core/features/encoding";
import { fitColumnsOf } from "../../../core/features/feature-columns";
import { FeatureFitter } from "../../../core/features/fit";
import type { Piecewise } from "../../../core/features/piecewise";
import { ShardEncoder } from "../../../core/features/shard-encoder";
import { createSparseInputs } from "../../../core/features/sparse";
import { createRowTransform, type RawRow } from "../../../core/features/transform";
import { memoryRows } from "./memory-rows";

const schema: readonly ColumnSchema[] = [
  { name: "size", type: "float", role: "feature", nullable: true },
  { name: "colour", type: "string", role: "feature", nullable: true },
  { name: "wheels", type: "int", role: "feature", values: [2, 4, 5] },
  { name: "sold", type: "timestamp", role: "feature" },
  { name: "note", type: "string", role: "ignore" },
  { name: "region", type: "string", role: "slice" },
  { name: "kind", type: "string", role: "label" },
];
const at = "2024-02-29T13:00:00Z";
const rows: readonly (RawRow & { split: SplitName })[] = [
  { split: "train", size: 1, colour: "red", wheels: 4, sold: at, region: "north", kind: "b" },
  { split: "train", size: null, colour: "blue", wheels: 2, sold: at, region: "south", kind: "a" },
  { split: "train", size: 5, colour: null, wheels: 4, sold: at, region: "west", kind: "a" },
  { split: "validation", size: 1000, colour: "green", wheels: 5, sold: at, region: "east", kind: "a" },
  { split: "test", size: 2000, colour: "black", wheels: 5, sold: at, region: "south", kind: "c" },
  { split: "test", size: 2000, colour: "black", wheels: 5, sold: at, region: "north", kind: "c" },
];

async function fitted(columns: readonly ColumnSchema[], data: typeof rows, slices: string[] = [], standardize = true) {
  const fitter = new FeatureFitter(fitColumnsOf(columns, slices), { standardize });
  for await (const batch of memoryRows(data).read(columns)) fitter.add(batch, (row) => data[row]!.split);
  return fitter.finish();
}

/** The dense rows of the shards that are encoded of the data, whose views are shown to `see`. */
async function encodedRows(
  fit: Awaited<ReturnType<typeof fitted>>,
  columns: readonly ColumnSchema[],
  data: readonly RawRow[],
  see: (view: ReturnType<typeof decodeFeatureShard>) => void = () => undefined,
) {
  const encoder = new ShardEncoder({ ...fit, slices: [] }, columns, { rows: data.length, withSlices: false });
  const { width } = fit.transform;
  const dense = new Float32Array(data.length * width);
  for await (const batch of memoryRows(data).read(columns)) {
    const all = Uint32Array.from({ length: batch.rows }, (_, row) => row);
    for (const { bytes } of encoder.add(batch, all)) {
      const view = decodeFeatureShard(bytes, fit);
      for (let row = 0; row < data.length; row += 1) view.writeRow(row, dense, row * width);
      see(view);
    }
  }
  return dense;
}

describe("FeatureFitter", () => {
  it("learns from the training split alone", async () => {
    const { transform } = await fitted(schema, rows);
    const [size, colour, wheels] = transform.outputs;
    expect(size).toEqual({ kind: "numeric", column: "size", offset: 0, width: 1, source: 0, mean: 3, deviation: 2 });
    expect(colour).toEqual({
      kind: "one-hot",
      column: "colour",
      offset: 1,
      width: 2,
      source: 0,
      vocabulary: ["blue", "red"],
    });
    expect(wheels).toEqual({ kind: "one-hot", column: "wheels", offset: 3, width: 2, source: 1, vocabulary: [2, 4] });
  });

  it("gives a timestamp three closed vocabularies, and adds up the width", async () => {
    const { transform } = await fitted(schema, rows);
    expect(
      transform.outputs
        .slice(3)
        .map((output) => [output.column, output.kind === "one-hot" && output.part, output.width]),
    ).toEqual([
      ["sold", "hour", 24],
      ["sold", "dayOfWeek", 7],
      ["sold", "month", 12],
    ]);
    expect([transform.width, transform.shape]).toEqual([48, [48]]);
  });

  it("takes classes from all rows and slices from the test split, in order", async () => {
    const { label, slices } = await fitted(schema, rows, ["colour"]);
    expect(label).toEqual({ kind: "class", column: "kind", classes: ["a", "b", "c"] });
    expect(slices).toEqual([
      { column: "colour", values: ["black"] },
      { column: "region", values: ["north", "south"] },
    ]);
  });

  it("measures a label that is standardised, in the training split", async () => {
    const columns: readonly ColumnSchema[] = [schema[0]!, { name: "price", type: "float", role: "label" }];
    const data = [1, 3, 5, 100].map((price, i) => ({ ...rows[0]!, price, split: i < 3 ? "train" : "test" }) as const);
    const fitter = (standardizeLabel: boolean) =>
      new FeatureFitter(fitColumnsOf(columns, []), { standardize: true, standardizeLabel });
    const [own, merged, without] = [fitter(true), fitter(true), fitter(false)];
    for await (const batch of memoryRows(data).read(columns)) {
      for (const each of [own, without]) each.add(batch, (row) => data[row]!.split);
    }
    merged.merge(JSON.parse(JSON.stringify(own.state())));
    const measured = { kind: "value", column: "price", mean: 3, deviation: Math.sqrt(8 / 3) };
    expect([own, merged].map((each) => each.finish().label)).toEqual([measured, measured]);
    expect(without.finish().label).toEqual({ kind: "value", column: "price" });
  });

  it("leaves numbers as they are where the job says so", async () => {
    const { transform } = await fitted(schema, rows, [], false);
    expect(transform.outputs[0]).toMatchObject({ mean: 0, deviation: 1 });
  });

  it("adds pieces of numbers, which training and serving compute with the same bits", async () => {
    const numbers = schema.filter(({ name }) => ["size", "colour", "kind"].includes(name));
    const data = Array.from({ length: 160 }, (_, i) => ({
      ...rows[0]!,
      ...{ size: i % 8 === 0 ? null : i % 4 === 1 ? 0 : (i * 37) % 101, colour: i % 2 === 0 ? "red" : null },
    }));
    const parts = [data.slice(0, 90), data.slice(90)].map((part, index) => ({ part, first: 90 * index }));
    const fitColumns = fitColumnsOf(numbers, [], { features: { pieces: 4 } });
    const whole = new FeatureFitter(fitColumns, { standardize: true });
    for await (const batch of memoryRows(data).read(numbers)) whole.add(batch, () => "train");
    const merged = new FeatureFitter(fitColumns, { standardize: true });
    for (const { part, first } of parts) {
      const own = new FeatureFitter(fitColumns, { standardize: true });
      for await (const batch of memoryRows(part).read(numbers)) {
        own.add({ ...batch, firstRow: batch.firstRow + first }, () => "train");
      }
      merged.merge(JSON.parse(JSON.stringify(own.state())));
    }
    const fit = whole.finish();
    const { outputs, width } = fit.transform;
    expect(outputs.map(({ kind, offset, width }) => [kind, offset, width])).toEqual([
      ["numeric", 0, 1],
      ["one-hot", 1, 1],
      ["piecewise", 2, 4],
    ]);
    const [, , mergedPieces] = merged.finish().transform.outputs;
    const [, , pieces] = outputs as unknown as [unknown, unknown, Piecewise];
    for (const [i, boundary] of (mergedPieces as Piecewise).boundaries.entries()) {
      expect(boundary).toBeCloseTo(pieces.boundaries[i]!);
    }
    const sparse = createSparseInputs(6, data.length);
    const dense = await encodedRows(fit, numbers, data, (view) =>
      view.gatherSparse(Uint32Array.from(data.keys()), 0, sparse, new Int32Array(data.length)),
    );
    expect(dense).toEqual(createRowTransform(fit.transform, numbers).apply(data));
    const scattered = new Float32Array(dense.length);
    sparse.values.forEach((value, pair) => {
      if (value !== 0) scattered[Math.floor(pair / 6) * width + sparse.positions[pair]!] = value;
    });
    expect(scattered).toEqual(dense);
  });

  it.each([
    [16, 1, 16],
    [16, 20, 6],
    [16, 200, undefined],
    [1, 1, undefined],
    [undefined, 1, undefined],
  ])("has at most %p pieces of each of %p columns: %p", (pieces, columns, expected) => {
    const many = Array.from({ length: columns }, (_, i) => ({ ...schema[0]!, name: `x${i}` }));
    const fitColumns = fitColumnsOf([...many, schema.at(-1)!], [], { features: { pieces } });
    expect(new Set(fitColumns.features.map((each) => each.kind === "numeric" && each.pieces))).toEqual(
      new Set([expected]),
    );
  });

  it("keeps a lone tensor's shape, scaled by one mean and deviation", async () => {
    const columns: readonly ColumnSchema[] = [
      { name: "image", type: "tensor", shape: [1, 2], role: "feature" },
      { name: "kind", type: "float", role: "label" },
    ];
    const { transform, label } = await fitted(columns, [
      { split: "train", image: [1, 3], kind: 0 },
      { split: "train", image: [5, 7], kind: 0 },
    ] as unknown as typeof rows);
    expect(transform).toEqual({
      outputs: [{ kind: "numeric", column: "image", offset: 0, width: 2, source: 0, mean: 4, deviation: Math.sqrt(5) }],
      width: 2,
      shape: [1, 2],
    });
    expect(label).toEqual({ kind: "value", column: "kind" });
  });

  it.each([
    ["label", "test", "kind", /the maximum for a label; declare it float/],
    ["slice", "test", "region", /the maximum for a slice/],
  ] as const)("refuses a %s of too many values", async (_use, split, column, message) => {
    const many = Array.from({ length: valueLimit + 1 }, (_, i) => ({ ...rows[0]!, split, [column]: `v${i}` }));
    const refused = fitted(schema, many);
    await expect(refused).rejects.toMatchObject({ code: "TOO_MANY_VALUES" });
    await expect(refused).rejects.toThrow(message);
  });

  const named = (names: readonly string[]) => names.map((colour) => ({ ...rows[0]!, colour }));
  const colours = schema.filter(({ name }) => name === "colour" || name === "kind");
  const heldOut = { ...rows[0]!, split: "test", colour: "unseen" } as const;

  it.each([
    ["the most frequent values, the lesser of equals", { encode: "top-k", k: 2 }, ["b", "c"], 3],
    ["all values, if k is larger", { encode: "top-k", k: 9 }, ["a", "b", "c", "d"], 5],
    ["a bucket of the hash", { encode: "hash", buckets: 7 }, [], 7],
  ] as const)("encodes a string column by the job's choice: %s", async (_case, encoding, vocabulary, width) => {
    const data = [...named(["c", "d", "b", "a", "c", "b"]), heldOut];
    const fitColumns = fitColumnsOf(colours, [], { features: { columns: { colour: encoding } } });
    const fitter = new FeatureFitter(fitColumns, { standardize: true });
    for await (const batch of memoryRows(data).read(colours)) fitter.add(batch, (row) => data[row]!.split);
    const { transform } = fitter.finish();
    const place = { kind: "one-hot", column: "colour", offset: 0, width, source: 0, vocabulary };
    expect(transform.outputs).toEqual([
      { ...place, ...(encoding.encode === "hash" ? { buckets: 7 } : { other: true }) },
    ]);
    const dense = await encodedRows(fitter.finish(), colours, data);
    expect(dense).toEqual(createRowTransform(transform, colours).apply(data));
    // Every row has exactly one position, also the value that training has not seen.
    expect(data.map((_, row) => dense.slice(row * width, (row + 1) * width).reduce((sum, x) => sum + x))).toEqual(
      data.map(() => 1),
    );
  });

  it("keeps the 1,000 most frequent of more values by default, and refuses more in an explicit one-hot", async () => {
    const many = [...named(Array.from({ length: valueLimit + 5 }, (_, i) => `v${i}`)), ...named(["v1004"])];
    const { transform } = await fitted(colours, many);
    const [colour] = transform.outputs as unknown as readonly [
      { width: number; vocabulary: readonly string[]; other?: true },
    ];
    expect([colour.width, colour.vocabulary.length, colour.other]).toEqual([valueLimit + 1, valueLimit, true]);
    expect(colour.vocabulary).toContain("v1004");
    const fitColumns = fitColumnsOf(colours, [], { features: { columns: { colour: { encode: "one-hot" } } } });
    const fitter = new FeatureFitter(fitColumns, { standardize: true });
    await expect(async () => {
      for await (const batch of memoryRows(many).read(colours)) fitter.add(batch, () => "train");
    }).rejects.toThrow(/the maximum for a feature; choose `encode: top-k`/);
  });

  it("uses the columns that the job chooses, in the dataset's order", () => {
    const used = (choice: FeatureChoice) => fitColumnsOf(schema, [], choice).features.map(({ column }) => column.name);
    expect(used({ columns: ["wheels", "size"] })).toEqual(["size", "wheels"]);
    expect(used({ drop: ["sold", "colour"] })).toEqual(["size", "wheels"]);
  });

  const encoded = (columns: NonNullable<FeatureChoice["features"]>["columns"]) => ({ features: { columns } });
  const hash = { encode: "hash", buckets: 2 } as const;
  it.each<[FeatureChoice, RegExp]>([
    [{ columns: ["size", "price"] }, /columns\.1 is "price", but must be a feature column of the job: size, colour/],
    [{ drop: ["note"] }, /drop\.0 is "note", but must be a feature column/],
    [{ drop: ["size", "colour", "wheels", "sold"] }, /must leave at least one feature/],
    [{ drop: ["colour"], ...encoded({ colour: hash }) }, /features\.columns\.colour/],
    [encoded({ size: { encode: "top-k", k: 2 } }), /top-k needs a string or int column, and the type is float/],
    [encoded({ wheels: hash }), /hash needs a string column, and the type is int/],
  ])("refuses the choice %j", (choice, message) => {
    expect(() => fitColumnsOf(schema, [], choice)).toThrow(message);
  });

  it("refuses slices that the dataset cannot give, all at once", () => {
    const fitColumns = () => fitColumnsOf(schema, ["nowhere", "size"]);
    expect(fitColumns).toThrow(InvalidInputError);
    expect(fitColumns).toThrow(/"nowhere".*must name columns of the dataset.*"size".*the type of this one is float/);
  });
});

describe("ShardEncoder", () => {
  it.each([
    ["feature", "size", [1, 2, 3, 4, -1e99], [0, 0, 0, 0, 0]],
    ["label", "price", [1, 2, 3, 4, 5], [0, 0, 0, 0, 1e39]],
  ] as const)("refuses a %s beyond float32 and names its row", async (what, name, sizes, prices) => {
    const columns: readonly ColumnSchema[] = [schema[0]!, { name: "price", type: "float", role: "label" }];
    const data = sizes.map((size, row) => ({ size, price: prices[row]!, split: "train" as const }));
    const encoder = new ShardEncoder(await fitted(columns, data, [], false), columns, { rows: 5, withSlices: false });
    const encode = async () => {
      for await (const batch of memoryRows(data).read(columns)) {
        const all = Uint32Array.from({ length: batch.rows }, (_, row) => row);
        for (const _ of encoder.add(batch, all));
      }
    };
    const failure: unknown = await encode().catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "VALUE_TOO_LARGE" });
    expect(failure).toMatchObject({ message: expect.stringContaining(`${what} ${name} of row 5 is beyond ±3.4e38`) });
  });
});
