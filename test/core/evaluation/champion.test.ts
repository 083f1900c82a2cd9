import type { DatasetManifest } from "../../../core/datasets/shapes";
import { encodeSplitIndex } from "../../../core/datasets/split-index";
import { type Champion, compareWithChampion } from "../../../core/evaluation/champion";
import type { Predictions } from "../../../core/evaluation/metrics";
import type { ModelArtifact } from "../../../core/evaluation/model-artifact";
import type { LabelEncoding } from "../../../core/features/shapes";
import type { ColumnBatch, RowSource } from "../../../core/features/values";
import { decodeSafetensors } from "../../../core/safetensors";
import { createMemoryObjectStore } from "../../adapters/s3/memory-object-store";
import { oneColumn } from "../../support/one-column";

/** Six rows, x = 0 … 5 and label x mod 2, in batches of four; the odd places are the test split. */
const xs = [0, 1, 2, 3, 4, 5];
const rows: RowSource = {
  async *read(columns) {
    for (const from of [0, 4]) {
      const part = Float64Array.from(xs.slice(from, from + 4));
      const valid = new Uint8Array(part.length).fill(1);
      const values = { x: part, y: part.map((x) => x % 2), z: part.map((x) => x * 10) };
      yield {
        rows: part.length,
        firstRow: from,
        columns: Object.fromEntries(
          columns.map(({ name }) => [name, { kind: "number", values: values[name as "x"], valid }]),
        ),
      } satisfies ColumnBatch;
    }
  },
};

async function setup(
  artifact: Partial<ModelArtifact> = {},
  schema: DatasetManifest["schema"] = [
    { name: "x", type: "int", role: "feature" },
    { name: "z", type: "int", role: "feature" },
    { name: "y", type: "int", role: "label" },
  ],
) {
  const objects = createMemoryObjectStore();
  const index = await objects.putContent(encodeSplitIndex(Uint32Array.from([1, 3, 5])));
  const manifest = {
    digest: "d".repeat(64),
    schema,
    rowCount: 6,
    split: { indexes: { test: { ...index, rows: 3 } } },
  } as unknown as DatasetManifest;
  const champion: Champion = {
    version: 4,
    artifactKey: "runs/r/artifacts/manifest.json",
    artifact: {
      weightsSha256: "champion",
      transform: { ...oneColumn, outputs: [{ ...oneColumn.outputs[0]!, mean: 1, deviation: 2 }] },
      label: { kind: "class", column: "y", classes: [0, 1] },
      inputSchema: [{ name: "x", type: "int", role: "feature" }],
      ...artifact,
    } as ModelArtifact,
  };
  const seen: number[] = [];
  const compare = (predict: (input: number) => number, predictions: Partial<Predictions> = {}) =>
    compareWithChampion({
      champion,
      manifest,
      rows,
      objects,
      task: predictions.classes === 0 ? "regression" : "balanced",
      predictor: {
        predict: (inputs) => {
          seen.push(...inputs);
          return inputs.map(predict);
        },
      },
      candidate: {
        weightsSha256: "candidate",
        predictions: {
          classes: 2,
          labels: Int32Array.from([1, 1, 1]),
          outputs: Float32Array.from([0.9, 0.9, 0.1]),
          ...predictions,
        },
      },
    });
  return { compare, objects, seen };
}

const value: LabelEncoding = { kind: "value", column: "y" };

describe("a candidate in comparison with the champion", () => {
  it("are judged by the same test rows, the champion's through its own transform", async () => {
    const { compare, seen, objects } = await setup();
    // x = 1, 3, 5 become (x - 1) / 2 = 0, 1, 2; the champion is right on the last alone.
    const found = await compare((input) => (input > 1.5 ? 0.8 : 0.2));
    expect(seen).toEqual([0, 1, 2]);
    expect(found).toMatchObject({ kind: "compared", champion: 4, metric: "accuracy", rows: 3, confidence: 0.95 });
    if (found.kind !== "compared") return;
    expect(found.candidateValue).toBeCloseTo(2 / 3);
    expect(found.championValue).toBeCloseTo(1 / 3);
    expect(found.difference).toBeCloseTo(1 / 3);
    const { tensors } = decodeSafetensors(await objects.getContent(found.championPredictions.sha256));
    expect([...tensors["predicted"]!.data]).toEqual([0, 0, 1]);
  });

  it("cannot get a class right that it has never seen", async () => {
    const label: LabelEncoding = { kind: "class", column: "y", classes: [0, 7] };
    const { compare } = await setup({ label });
    expect(await compare(() => 0.9)).toMatchObject({ kind: "compared", championValue: 0 });
  });

  it("are compared by RMSE where values are predicted", async () => {
    const { compare } = await setup({ label: value }, [
      { name: "x", type: "int", role: "feature" },
      { name: "y", type: "float", role: "label" },
    ]);
    const labels = Float32Array.from([1, 1, 1]);
    const found = await compare(() => 3, { classes: 0, labels, outputs: Float32Array.from([1, 1, 2]) });
    expect(found).toMatchObject({ metric: "rmse", championValue: 2, candidateValue: Math.sqrt(1 / 3) });
  });

  const reads = (name: string, type: string, more: object = {}) =>
    ({ inputSchema: [{ name, type, role: "feature", ...more }] }) as Partial<ModelArtifact>;
  it.each<[string, Partial<ModelArtifact>, RegExp]>([
    ["a column is gone", reads("w", "int"), /needs column w, which the dataset does not have/],
    ["a column has another type", reads("x", "string"), /needs column x of type string; in the dataset it is int/],
    [
      "a tensor has another shape",
      reads("x", "tensor", { shape: [2, 2] }),
      /column x of type tensor and shape \[2,2\]/,
    ],
    ["the label is another", { label: { kind: "class", column: "q", classes: [] } }, /predicts q; the label is y/],
    ["the label is of another kind", { label: value }, /predicts a value of y; the label is of type int/],
  ])("are not compared where %s", async (_what, artifact, reason) => {
    const { compare } = await setup(artifact);
    const found = await compare(() => 0.5);
    expect(found).toMatchObject({ kind: "incompatible", champion: 4 });
    expect((found as { reasons: readonly string[] }).reasons.join()).toMatch(reason);
  });

  it("are not compared where the champion answers NaN", async () => {
    const { compare } = await setup();
    expect(await compare(() => Number.NaN)).toMatchObject({
      kind: "incompatible",
      reasons: [expect.stringContaining("predicts NaN for row 0")],
    });
  });
});
