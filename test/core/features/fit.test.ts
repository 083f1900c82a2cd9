import type { ColumnSchema, SplitName } from "../../../core/datasets/shapes";
import { InvalidInputError } from "../../../core/errors";
import { TooManyValuesError } from "../../../core/features/errors";
import { FeatureFitter, valueLimit } from "../../../core/features/fit";
import { planFeatures } from "../../../core/features/plan";
import type { RawRow } from "../../../core/features/transform";
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
  const fitter = new FeatureFitter(planFeatures(columns, slices), { standardize });
  for await (const batch of memoryRows(data).read(columns)) fitter.add(batch, (row) => data[row]!.split);
  return fitter.finish();
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

  it("leaves numbers as they are where the job says so", async () => {
    const { transform } = await fitted(schema, rows, [], false);
    expect(transform.outputs[0]).toMatchObject({ mean: 0, deviation: 1 });
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
    ["feature", "train", "colour", /the maximum for a feature; give the column role ignore/],
    ["label", "test", "kind", /the maximum for a label; declare it float/],
    ["slice", "test", "region", /the maximum for a slice/],
  ] as const)("refuses a %s of too many values", async (_use, split, column, message) => {
    const many = Array.from({ length: valueLimit + 1 }, (_, i) => ({ ...rows[0]!, split, [column]: `v${i}` }));
    const refused = fitted(schema, many);
    await expect(refused).rejects.toThrow(TooManyValuesError);
    await expect(refused).rejects.toThrow(message);
  });

  it("refuses slices that the dataset cannot give, all at once", () => {
    const plan = () => planFeatures(schema, ["nowhere", "size"]);
    expect(plan).toThrow(InvalidInputError);
    expect(plan).toThrow(/"nowhere".*must name columns of the dataset.*"size".*the type of this one is float/);
  });
});
