/** Gradients from sparse rows, on every backend: the tape's of the same dense rows within rounding, the same bits on repetition. */

import type { CnnDefinition, MlpDefinition } from "../../../core/runs/model-definition";
import type { Batch, Engine } from "../../../trainer-container/engine/engine";
import { seededRandom } from "../../../trainer-container/engine/seeded-random";
import { allocateSum, releaseSum } from "../../../trainer-container/kernels/sum-memory";
import { mlp, randomBatch } from "./contract";
import { bits, expectTapes, gradientOf, gradientsOf, modelsWithTape } from "./models-of";

export const wide: MlpDefinition = { ...mlp, inputShape: [50], hidden: [80, 7], activation: "relu" };
const definitions: readonly (readonly [string, MlpDefinition])[] = [
  ["two hidden layers", wide],
  ["no hidden layer", { ...wide, hidden: [] }],
  ["binary, no hidden layer", { ...wide, hidden: [], task: "binary", outputs: 1 }],
  ["regression", { ...wide, task: "regression", outputs: 2 }],
  ["standardised label", { ...wide, task: "regression", outputs: 1, label: { mean: 3, deviation: 0.5 } }],
  ["class weights", { ...wide, classWeights: [0.5, 3, 1] }],
  ["binary, class weights", { ...wide, task: "binary", outputs: 1, classWeights: [0.5, 3] }],
  ["linear", { ...wide, activation: "linear" }],
];

/** The same rows both ways: a number at 0, one-hots of 20 and 29 values, some of them unknown. */
function batches(
  definition: MlpDefinition,
  rows: number,
  key = "rows",
): { readonly sparse: Batch; readonly dense: Batch } {
  const random = seededRandom(key);
  const inputs = new Float32Array(rows * 50);
  const [positions, values] = [new Int32Array(rows * 3), new Float32Array(rows * 3)];
  for (let row = 0; row < rows; row += 1) {
    const pairs = [
      [0, random() * 2 - 1],
      [1 + Math.floor(random() * 20), random() < 0.2 ? 0 : 1],
      [21 + Math.floor(random() * 29), random() < 0.2 ? 0 : 1],
    ] as const;
    pairs.forEach(([position, value], i) => {
      positions[row * 3 + i] = position;
      values[row * 3 + i] = value;
      inputs[row * 50 + position] = value;
    });
  }
  const labels =
    definition.task === "regression"
      ? Float32Array.from({ length: rows * definition.outputs }, random)
      : Int32Array.from({ length: rows }, () => Math.floor(random() * Math.max(2, definition.outputs)));
  const sparse = { inputs: new Float32Array(0), sparse: { entries: 3, positions, values }, labels, rows };
  return { sparse, dense: { inputs, labels, rows } };
}

export function describeSparseGradients(start: () => Promise<Engine>, more: typeof definitions = []): void {
  describe("gradients from sparse rows", () => {
    const { create } = modelsWithTape(start);

    it.each([...definitions, ...more])("are the tape's: %s", async (_, definition) => {
      const { model, layers } = await create(definition);
      expect(model.takesSparse).toBe(true);
      const weights = Float32Array.of(1, 0.5, 0, 2, 1, 1, 1);
      for (const given of [{}, { weights }]) {
        const { sparse, dense } = batches(definition, 7);
        expectTapes(gradientOf(model, { ...sparse, ...given }), gradientOf(layers, { ...dense, ...given }));
      }
    });

    it("have equal bits whatever ran before and wherever they go", async () => {
      const { model } = await create(wide);
      const { sparse } = batches(wide, 6);
      const first = bits(gradientOf(model, sparse).gradient);
      gradientOf(model, batches(wide, 9, "other").sparse);
      gradientOf(model, batches(wide, 6).dense);
      expect(bits(gradientOf(model, sparse).gradient)).toBe(first);
      for (const into of [new Float32Array(model.parameterCount), allocateSum(model.parameterCount + 1).subarray(1)]) {
        gradientsOf(model, sparse, "k", into);
        expect(bits(into.slice())).toBe(first);
      }
      expect(bits(gradientOf((await create(wide)).model, sparse).gradient)).toBe(first);
    });

    it("have the factor of the loss, if the model takes one", async () => {
      const { model } = await create(wide);
      const { sparse } = batches(wide, 6);
      const { result, gradient } = gradientOf(model, sparse);
      model.scaleLoss?.(1 / 8);
      const factor = model.scaleLoss ? 8 : 1;
      expect(gradientOf(model, sparse)).toEqual({ result, gradient: gradient.map((value) => value / factor) });
    });

    it("refuse rows that are not whole, and models that take dense rows only", async () => {
      const { model, layers } = await create(wide);
      const { sparse } = batches(wide, 6);
      expect(() => gradientOf(model, { ...sparse, rows: 5, labels: sparse.labels.subarray(1) })).toThrow(
        "5 sparse rows take 15 positions and values; got 18 and 18",
      );
      expect(() => gradientOf(layers, sparse)).toThrow("take 300 inputs; got 0");
    });
  });
}

/** Programs and graphs of built-in models: the tape's gradient within rounding, in its own place. */
export function describeTapeGradients(
  start: () => Promise<Engine>,
  given: readonly (readonly [string, MlpDefinition | CnnDefinition])[],
): void {
  describe("gradients of built-in models", () => {
    const { create } = modelsWithTape(start);

    it.each(given)("are the tape's: %s", async (_, definition) => {
      const { model, layers } = await create(definition);
      const weights = Float32Array.of(1, 0.5, 0, 2, 1);
      for (const batch of [randomBatch(definition, 5), { ...randomBatch(definition, 5, "other"), weights }]) {
        expectTapes(gradientOf(model, batch), gradientOf(layers, batch));
      }
    });

    it.each([
      ["a small model", { ...mlp, inputShape: [30], hidden: [40, 16], activation: "relu" } as const],
      ["a wide model", { ...mlp, inputShape: [96], hidden: [64, 80], activation: "relu" } as const], // kernels large enough to be copied in place
    ])("have the same bits where leaves lie and elsewhere, and touch no other leaf: %s", async (_, definition) => {
      const { model } = await create(definition);
      const batches = ["one", "two"].map((key) => randomBatch(definition, 4, key));
      const expected = batches.map((batch) => {
        const into = new Float32Array(model.parameterCount);
        gradientsOf(model, batch, "k", into);
        return bits(into);
      });
      const leaves = batches.map(() => allocateSum(model.parameterCount + 3));
      const parts = leaves.map((leaf) => leaf.fill(7).subarray(1, 1 + model.parameterCount));
      for (const [index, batch] of batches.entries()) gradientsOf(model, batch, "k", parts[index]!);
      expect(parts.map((part) => bits(part.slice()))).toEqual(expected);
      for (const leaf of leaves) expect([leaf[0], ...leaf.slice(-2)]).toEqual([7, 7, 7]);
      leaves.forEach(releaseSum);
    });
  });
}
