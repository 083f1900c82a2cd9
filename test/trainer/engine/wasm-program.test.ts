/** Programs on the WebAssembly heap against the layers' tape: equal within rounding, equal bits on repetition, nothing left behind. */

import type { BackendWasm } from "@tensorflow/tfjs-backend-wasm";
import * as tf from "@tensorflow/tfjs-core";
import type { CnnDefinition, MlpDefinition } from "../../../core/runs/model-definition";
import { createEngine } from "../../../trainer-container/engine/create-engine";
import type { Batch, TrainableModel } from "../../../trainer-container/engine/engine";
import { LayersTrainable } from "../../../trainer-container/engine/layers-trainable";
import { ProgramTrainable } from "../../../trainer-container/engine/program-trainable";
import { allocateSum, releaseSum } from "../../../trainer-container/kernels/sum-memory";
import { cnn, mlp, randomBatch } from "./contract";
import { bits, gradientsOf, modelsWithTape } from "./models-of";
import { describeSharedWeights } from "./shared-weights";
import { describeSparseGradients, describeTapeGradients, wide } from "./sparse-contract";

const images: CnnDefinition = { ...cnn, filters: [4, 8], activation: "relu" };

const definitions: readonly (readonly [string, MlpDefinition | CnnDefinition])[] = [
  ["no hidden layer", { ...mlp, hidden: [], activation: "relu" }],
  ["two hidden layers", { ...mlp, inputShape: [19], hidden: [33, 7], activation: "relu" }],
  ["rows of rank 2", { ...mlp, inputShape: [3, 2], activation: "relu" }],
  ["linear", { ...mlp, activation: "linear" }],
  ["binary", { ...mlp, task: "binary", outputs: 1, activation: "relu" }],
  ["regression", { ...mlp, task: "regression", activation: "relu" }],
  ["standardised label", { ...mlp, task: "regression", activation: "relu", label: { mean: 3, deviation: 0.5 } }],
  ["cnn", images],
  ["cnn, linear", { ...images, activation: "linear" }],
  ["cnn, odd sides, kernel 5, regression", { ...images, inputShape: [9, 11, 3], kernelSize: 5, task: "regression" }],
  ["dropout", { ...mlp, inputShape: [19], hidden: [33, 7], activation: "relu", dropout: 0.4 }],
  ["cnn with dropout", { ...images, hidden: [16, 5], dropout: 0.3 }],
  ["cnn, one channel, three blocks", { ...images, inputShape: [16, 8], filters: [4, 4, 8], hidden: [] }],
];

function gradientOf(model: TrainableModel, batch: Batch) {
  const gradient = new Float32Array(model.parameterCount);
  return { result: gradientsOf(model, batch, "k", gradient), gradient };
}

/** Bytes of TensorFlow.js's memory and of the memory of leaves and programs. */
function memoryBytes(): readonly [number, number] {
  const { wasm } = tf.backend() as BackendWasm;
  const probe = allocateSum(1);
  const bytes = probe.buffer.byteLength;
  releaseSum(probe);
  return [(wasm as unknown as { readonly HEAPU8: Uint8Array }).HEAPU8.length, bytes];
}

describeSharedWeights(() => createEngine({ preferred: "wasm", threads: 1 }));
describeTapeGradients(() => createEngine({ preferred: "wasm", threads: 1 }), definitions);
describeSparseGradients(
  () => createEngine({ preferred: "wasm", threads: 1 }),
  [["dropout", { ...wide, dropout: 0.2 }]],
);

describe("WebAssembly programs", () => {
  const { engine, create } = modelsWithTape(() => createEngine({ preferred: "wasm", threads: 1 }));

  it("compute rectified and linear built-in models, filters in fours", async () => {
    expect((await create(images)).model).toBeInstanceOf(ProgramTrainable);
    for (const other of [
      { ...mlp, activation: "tanh" as const },
      { ...images, filters: [4, 6] },
    ]) {
      expect((await create(other)).model).toBeInstanceOf(LayersTrainable);
    }
  });

  it.each<[string, MlpDefinition | CnnDefinition]>([
    ["mlp", { ...mlp, inputShape: [300], hidden: [64], activation: "relu" }],
    ["cnn", images],
  ])(
    "give equal bits whatever ran before, as the memory grows, and in another model of the same seed: %s",
    async (_, definition) => {
      const { model } = await create(definition);
      const batch = randomBatch(definition, 7);
      const first = bits(gradientOf(model, batch).gradient);
      gradientOf(model, randomBatch(definition, 130, "larger"));
      const before = memoryBytes()[1];
      const large = allocateSum(before / 4);
      expect(memoryBytes()[1]).toBeGreaterThan(before);
      expect(bits(gradientOf(model, batch).gradient)).toBe(first);
      releaseSum(large);
      expect(bits(gradientOf((await create(definition)).model, batch).gradient)).toBe(first);
    },
  );

  it("carry a NaN of a row or a weight into loss and gradient", async () => {
    const { model } = await create(images);
    const batch = randomBatch(images, 3);
    const inputs = batch.inputs.slice();
    inputs[5] = Number.NaN;
    const ofRow = gradientOf(model, { ...batch, inputs });
    expect(ofRow.result.loss).toBeNaN();
    expect(ofRow.gradient.some(Number.isNaN)).toBe(true);
    const weights = new Float32Array(model.parameterCount);
    model.readWeights(weights);
    weights[0] = Number.POSITIVE_INFINITY;
    model.writeWeights(weights);
    expect(gradientOf(model, batch).gradient.some((value) => !Number.isFinite(value))).toBe(true);
  });

  it("hold the same memory after many steps, models and sizes", async () => {
    const run = async () => {
      const model = await engine().createModel(images, 3);
      const gradient = new Float32Array(model.parameterCount);
      for (let step = 0; step < 200; step++) {
        gradientsOf(model, randomBatch(images, 1 + (step % 9)), "k", gradient);
        model.writeWeights(gradient.fill(0.01));
      }
      model.dispose();
    };
    await run();
    const [bytes, tensors] = [memoryBytes(), tf.memory().numTensors];
    for (let i = 0; i < 3; i++) await run();
    expect(memoryBytes()).toEqual(bytes);
    expect(tf.memory().numTensors).toBe(tensors);
  });
});
