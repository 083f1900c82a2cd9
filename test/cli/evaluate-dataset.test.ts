import { evaluateDataset } from "../../cli/commands/evaluate";
import type { DatasetManifest } from "../../core/datasets/shapes";
import { encodeSplitIndex } from "../../core/datasets/split-index";
import type { ModelArtifact } from "../../core/evaluation/model-artifact";
import { createMemoryObjectStore } from "../adapters/s3/memory-object-store";
import { memoryRows } from "../core/features/memory-rows";
import { oneColumn } from "../support/one-column";

/** Rows x = 0 … 5 of the class x mod 3; the test split has x = 1, 3, 4. */
const data = [0, 1, 2, 3, 4, 5].map((x) => ({ x, kind: "abc"[x % 3] }));
const artifact = {
  transform: oneColumn,
  label: { kind: "class", column: "kind", classes: ["a", "b", "c"] },
  inputSchema: [{ name: "x", type: "int", role: "feature" }],
} as unknown as ModelArtifact;

/** Predicts the class x mod 3, except for x = 4. */
const predictor = {
  predict: (inputs: Float32Array, count: number) =>
    Float32Array.from({ length: 3 * count }, (_, i) => {
      const x = inputs[Math.floor(i / 3)]!;
      return i % 3 === (x === 4 ? 0 : x % 3) ? 0.8 : 0.1;
    }),
};

async function evaluate(changes: { artifact?: object; schema?: object; split?: "validation" | "test" | "all" } = {}) {
  const objects = createMemoryObjectStore();
  const index = async (...rows: readonly number[]) => ({
    ...(await objects.putContent(encodeSplitIndex(Uint32Array.from(rows)))),
    rows: rows.length,
  });
  const manifest = {
    name: "letters",
    version: 2,
    rowCount: 6,
    schema: changes.schema ?? [
      { name: "x", type: "int", role: "feature" },
      { name: "kind", type: "string", role: "label" },
    ],
    split: { indexes: { train: await index(0, 2, 5), validation: await index(), test: await index(1, 3, 4) } },
  } as unknown as DatasetManifest;
  return evaluateDataset({
    artifact: { ...artifact, ...changes.artifact },
    predictor,
    manifest,
    rows: memoryRows(data),
    objects,
    split: changes.split ?? "test",
  });
}

describe("a model's evaluation on a dataset", () => {
  it("has the metrics of the split's rows, and of each class", async () => {
    const found = await evaluate();
    expect(found).toMatchObject({ rows: 3, metrics: { accuracy: 2 / 3 } });
    expect(found.classes).toEqual([
      { value: "a", support: 1, precision: 0.5, recall: 1, f1: 2 / 3 },
      { value: "b", support: 2, precision: 1, recall: 0.5, f1: 2 / 3 },
      { value: "c", support: 0, precision: 0, recall: 0, f1: 0 },
    ]);
  });

  it("has all rows with split all", async () => {
    expect(await evaluate({ split: "all" })).toMatchObject({ rows: 6, metrics: { accuracy: 5 / 6 } });
  });

  it.each([
    [{ split: "validation" }, "has no rows in its split validation; name another one, or all"],
    [
      { artifact: { label: { ...artifact.label, classes: ["a", "c", "d"] } } },
      "has 2 of 3 rows whose kind the model does not know: it knows a, c, d",
    ],
    [
      { schema: [{ name: "kind", type: "string", role: "label" }] },
      "does not fit the model: it needs column x, which the dataset does not have",
    ],
  ] as const)("is refused: %j", async (changes, message) => {
    await expect(evaluate(changes)).rejects.toMatchObject({
      code: "INVALID_INPUT",
      message: expect.stringContaining(message),
    });
  });
});
