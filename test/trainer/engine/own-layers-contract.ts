/** The platform's own layers: values by hand, gradients, and the refusal of options that make no sense. */

import * as tf from "@tensorflow/tfjs-core";
import { type LayersModel, layers, sequential } from "@tensorflow/tfjs-layers";
import type { ModelDefinition, ModuleDefinition } from "../../../core/runs/model-definition";
import type { TensorFlow } from "../../../trainer-container/engine/define-training";
import type { Batch, Engine } from "../../../trainer-container/engine/engine";
import { ownLayers } from "../../../trainer-container/tfjs/layers/register";
import { gradientError, randomBatch } from "./contract";
import { modelsOf, moduleOf, stack } from "./models-of";

type Layer = LayersModel["layers"][number];
type Own = TensorFlow["layers"];

/** Classifies sequences `[5, 4]` with the given layers in the middle. */
const sequences = (build: (own: Own) => readonly Layer[]): ModuleDefinition =>
  moduleOf(
    stack((own, { outputs }) => [
      own.dense({ units: 6, inputShape: [5, 4] }),
      ...build(own),
      own.globalAveragePooling1d({}),
      own.dense({ units: outputs }),
    ]),
    { inputShape: [5, 4] },
  );

/** A transformer block before normalization, as in `docs/jobs.md`. */
const transformer = (dropout: number): ModuleDefinition =>
  moduleOf(
    ({ tf: { input, model, layers }, outputs }) => {
      const from = input({ shape: [5, 4] });
      const chain = (x: typeof from, ...list: readonly Layer[]) =>
        list.reduce((tensor, layer) => layer.apply(tensor) as typeof from, x);
      const x = chain(from, layers.dense({ units: 6 }), layers.positionalEmbedding());
      const attention = layers.multiHeadAttention({ heads: 2, causal: true, dropout });
      const seen = chain(x, layers.rmsNormalization(), attention);
      const y = layers.add().apply([x, seen]) as typeof from;
      const hidden = chain(y, layers.rmsNormalization(), layers.dense({ units: 12 }), layers.gelu());
      const z = layers.add().apply([y, chain(hidden, layers.dense({ units: 6 }))]) as typeof from;
      const last = [layers.globalAveragePooling1d({}), layers.dense({ units: outputs })];
      return model({ inputs: from, outputs: chain(z, ...last) });
    },
    { inputShape: [5, 4] },
  );

/** Rows of two ids and three numbers. */
const wideAndDeep = moduleOf(
  ({ tf: { input, model, layers }, outputs }) => {
    const row = input({ shape: [5] });
    const pick = (...columns: readonly number[]) => layers.selectFeatures({ columns }).apply(row) as typeof row;
    const embedded = [0, 3].map((column) => {
      const found = layers.embedding({ inputDim: 50_000, outputDim: 4 }).apply(pick(column));
      return layers.flatten().apply(found) as typeof row;
    });
    const deep = layers.dense({ units: 6, activation: "tanh" });
    const joined = layers.concatenate().apply([...embedded, pick(1, 2, 4)]) as typeof row;
    const both = layers.concatenate().apply([deep.apply(joined) as typeof row, pick(4, 1)]) as typeof row;
    return model({ inputs: row, outputs: layers.dense({ units: outputs }).apply(both) as typeof row });
  },
  { inputShape: [5], outputs: 1, task: "regression" },
);

function rowsWithIds(): Batch {
  const batch = randomBatch(wideAndDeep, 4);
  const ids = [7, 49_999, 7, 0, 12_345, 7, 3, 49_999];
  ids.forEach((id, index) => {
    batch.inputs[Math.floor(index / 2) * 5 + (index % 2) * 3] = id;
  });
  return batch;
}

/** Attention over a residual branch, under a mask that omits some steps. */
const masked = moduleOf(
  ({ tf: { input, model, layers }, outputs }) => {
    const row = input({ shape: [5, 4] });
    const x = layers.masking({ maskValue: 0 }).apply(row) as typeof row;
    const seen = layers.multiHeadAttention({ heads: 2, causal: true }).apply(x);
    const joined = layers.add().apply([x, seen as typeof row]) as typeof row;
    const again = layers.multiHeadAttention({ heads: 1 }).apply(joined) as typeof row;
    const mean = layers.globalAveragePooling1d({}).apply(again) as typeof row;
    return model({ inputs: row, outputs: layers.dense({ units: outputs }).apply(mean) as typeof row });
  },
  { inputShape: [5, 4] },
);

function rowsWithOmittedSteps(): Batch {
  const batch = randomBatch(masked, 4);
  for (const step of [2, 9, 13, 14, 19]) batch.inputs.fill(0, step * 4, (step + 1) * 4);
  return batch;
}

export const ownModules: readonly (readonly [string, ModuleDefinition])[] = [
  ["attention", sequences((own) => [own.multiHeadAttention({ heads: 3 })])],
  ["causality", sequences((own) => [own.multiHeadAttention({ heads: 2, keySize: 5, causal: true, useBias: false })])],
  ["sinusoidal positions", sequences((own) => [own.positionalEncoding(), own.gelu()])],
  ["learned positions", sequences((own) => [own.positionalEmbedding(), own.gelu({ approximate: "tanh" })])],
  ["normalization by the root mean square", sequences((own) => [own.rmsNormalization({ epsilon: 1e-5 })])],
  ["selected features, in another order", sequences((own) => [own.selectFeatures({ columns: [5, 0, 2] })])],
  ["selected features next to each other", sequences((own) => [own.selectFeatures({ columns: [2, 3, 4] })])],
  ["a transformer block", transformer(0)],
  ["wide and deep with embeddings", wideAndDeep],
  ["attention under a mask", masked],
];

/** Draws 4 rows, with ids where the model looks them up, and omitted steps where it has a mask. */
export function ownBatch(definition: ModelDefinition): Batch {
  if (definition === masked) return rowsWithOmittedSteps();
  return definition === wideAndDeep ? rowsWithIds() : randomBatch(definition, 4);
}

const valuesOf = (layer: Layer, x: tf.Tensor): readonly number[] =>
  tf.tidy(() => Array.from((layer.apply(x) as tf.Tensor).dataSync()));

export function describeOwnLayers(name: string, start: () => Promise<Engine>): void {
  describe(`the platform's own layers: ${name}`, () => {
    const { engine, create, created } = modelsOf(start, 3);

    it.each(ownModules)("have the gradient of the loss: %s", async (_, definition) => {
      expect(gradientError(await create(definition), ownBatch(definition))).toBeLessThan(3e-3);
    });

    it("have the gradient of the loss: attention that drops weights", async () => {
      const definition = sequences((own) => [own.multiHeadAttention({ heads: 2, causal: true, dropout: 0.4 })]);
      expect(gradientError(await create(definition), randomBatch(definition, 4), 2e-3, true)).toBeLessThan(3e-3);
    });

    /** q = 0, so all scores are 0 and the weights are equal; v = 2x + 1; the output is 3v + 10. */
    const byHand = () => [tf.tensor2d([[0, 5, 2]]), tf.tensor2d([[3]]), tf.tensor1d([0, 0, 1]), tf.tensor1d([10])];

    it("let attention average over what a position sees (by hand)", () => {
      const layer = ownLayers.multiHeadAttention({ heads: 1, keySize: 1, causal: true });
      created.push(sequential({ layers: [layers.inputLayer({ inputShape: [3, 1] }), layer] }));
      layer.setWeights(byHand());
      // v = 3, 5, 13: means 3, 4, 7.
      expect(valuesOf(layer, tf.tensor3d([[[1], [2], [6]]]))).toEqual([19, 22, 31]);
    });

    it("let attention see no step that a mask omits (by hand)", () => {
      const attention = ownLayers.multiHeadAttention({ heads: 1, keySize: 1 });
      const model = sequential({ layers: [layers.masking({ maskValue: 9, inputShape: [3, 1] }), attention] });
      created.push(model);
      attention.setWeights(byHand());
      const outputs = tf.tidy(() => (model.predict(tf.tensor3d([[[1], [9], [4]]])) as tf.Tensor).dataSync());
      // v = 3, 1 (the omitted step is 0), 9: the mean is 6 without the omitted step.
      expect(Array.from(outputs)).toEqual([28, 28, 28]);
    });

    it("weigh by the softmax of scaled products, in each head (by hand)", () => {
      const layer = ownLayers.multiHeadAttention({ heads: 2, keySize: 4, useBias: false });
      created.push(sequential({ layers: [layers.inputLayer({ inputShape: [2, 1] }), layer] }));
      const [kernel, output] = layer.weights as [Weight, Weight];
      // Head 1: q = k = x in each of 4 columns, v = x in the first. The second head's values are 0.
      const ones = [1, 1, 1, 1];
      const zeros = [0, 0, 0, 0];
      kernel.write(tf.tensor2d([[...ones, ...zeros, ...ones, ...zeros, 1, 0, 0, 0, ...zeros]]));
      output.write(tf.tensor2d([...ones, ...zeros], [8, 1]));
      // Position 0 has x = 0: weights ½, ½. Position 1 has x = 1: scores 0 and 4 / √4 = 2.
      const [first, second] = valuesOf(layer, tf.tensor3d([[[0], [1]]])) as [number, number];
      expect(first).toBeCloseTo(0.5, 6);
      expect(second).toBeCloseTo(1 / (1 + Math.exp(-2)), 6);
    });

    it("do not let a causal position depend on later ones", () => {
      const layer = ownLayers.multiHeadAttention({ heads: 2, causal: true });
      created.push(sequential({ layers: [layers.inputLayer({ inputShape: [4, 4] }), layer] }));
      const before = tf.randomNormal<tf.Rank.R3>([1, 4, 4], 0, 100, "float32", 1);
      const changed = tf.concat([tf.slice(before, [0, 0, 0], [1, 3, 4]), tf.fill([1, 1, 4], 1e6)], 1);
      expect(valuesOf(layer, changed).slice(0, 12)).toEqual(valuesOf(layer, before).slice(0, 12));
    });

    it("encode positions by sines and cosines (by hand)", () => {
      const layer = ownLayers.positionalEncoding({ maxWavelength: 100 });
      const found = valuesOf(layer, tf.fill([1, 3, 4], 1));
      const angles = [0, 1, 2].flatMap((t) => [Math.sin(t), Math.cos(t), Math.sin(t / 10), Math.cos(t / 10)]);
      for (const [index, value] of found.entries()) expect(value).toBeCloseTo(1 + (angles[index] as number), 6);
    });

    it.each([
      ["exact", ownLayers.gelu(), [-0.15865525, 0, 0.84134475, 1.9544997]],
      ["tanh", ownLayers.gelu({ approximate: "tanh" }), [-0.15880801, 0, 0.841192, 1.9545977]],
    ] as const)("give PyTorch's values of GELU at -1, 0, 1 and 2: %s", (_, layer, expected) => {
      const found = valuesOf(layer, tf.tensor2d([[-1, 0, 1, 2]]));
      for (const [index, value] of found.entries()) expect(value).toBeCloseTo(expected[index] as number, 5);
    });

    it("keep GELU and its gradient finite far from 0", () => {
      for (const layer of [ownLayers.gelu(), ownLayers.gelu({ approximate: "tanh" })]) {
        const x = tf.tensor1d([-1e4, -50, 50, 1e4]);
        expect(valuesOf(layer, x)).toEqual([0, 0, 50, 1e4].map((each) => expect.closeTo(each, 3)));
        const slopes = tf.grad((each) => layer.apply(each) as tf.Tensor)(x);
        expect(Array.from(slopes.dataSync())).toEqual([0, 0, 1, 1].map((each) => expect.closeTo(each, 5)));
      }
    });

    it("normalize by the root mean square (by hand)", () => {
      const layer = ownLayers.rmsNormalization({ epsilon: 0.5 });
      created.push(sequential({ layers: [layers.inputLayer({ inputShape: [2] }), layer] }));
      (layer.weights[0] as Weight).write(tf.tensor1d([1, 10]));
      // The mean of 1 and 6 squared is 18.5; with ε: 19.
      const found = valuesOf(layer, tf.tensor2d([[1, 6]]));
      expect(found[0]).toBeCloseTo(1 / Math.sqrt(19), 6);
      expect(found[1]).toBeCloseTo(60 / Math.sqrt(19), 5);
    });

    it.each<[string, (own: Own) => Layer, RegExp]>([
      ["no heads", (own) => own.multiHeadAttention({} as never), /MultiHeadAttention: heads is undefined.*integer/],
      ["half a head", (own) => own.multiHeadAttention({ heads: 1.5 }), /heads is 1.5.*positive integer/],
      ["heads that do not divide", (own) => own.multiHeadAttention({ heads: 4 }), /heads is 4.*6 features.*divide/],
      ["a key size of 0", (own) => own.multiHeadAttention({ heads: 1, keySize: 0 }), /keySize is 0/],
      ["dropout of 1", (own) => own.multiHeadAttention({ heads: 1, dropout: 1 }), /dropout is 1, .*below 1/],
      ["causal text", (own) => own.multiHeadAttention({ heads: 1, causal: "no" as never }), /causal is "no".*true or/],
      ["an unknown form of GELU", (own) => own.gelu({ approximate: "fast" as never }), /approximate is "fast".*"tanh"/],
      ["a negative epsilon", (own) => own.rmsNormalization({ epsilon: -1 }), /epsilon is -1.*positive number/],
      ["a wavelength of 1", (own) => own.positionalEncoding({ maxWavelength: 1 }), /maxWavelength is 1.*above 1/],
      ["no columns", (own) => own.selectFeatures({ columns: [] }), /columns is \[\].*at least one/],
      ["a column that is absent", (own) => own.selectFeatures({ columns: [0, 6] }), /columns has 6.*columns 0 to 5/],
      ["a column below 0", (own) => own.selectFeatures({ columns: [-1] }), /columns is \[-1\]/],
    ])("are refused with %s", async (_, layer, message) => {
      const before = tf.memory().numTensors;
      const failed = engine().createModel(
        sequences((own) => [layer(own)]),
        1,
      );
      await expect(failed).rejects.toMatchObject({ code: "INVALID_MODEL", message: expect.stringMatching(message) });
      expect(tf.memory().numTensors - before).toBeLessThanOrEqual(2); // the weights of the layer before
    });

    it.each<[string, (own: Own) => Layer]>([
      ["multiHeadAttention", (own) => own.multiHeadAttention({ heads: 2 })],
      ["positionalEncoding", (own) => own.positionalEncoding()],
      ["positionalEmbedding", (own) => own.positionalEmbedding()],
    ])("%s refuses rows that are no sequence", async (_, layer) => {
      const definition = sequences((own) => [own.flatten(), layer(own), own.reshape({ targetShape: [5, 6] })]);
      await expect(engine().createModel(definition, 1)).rejects.toThrow(/shape \[30\], but must be \[time, features\]/);
    });
  });
}

type Weight = LayersModel["weights"][number];
