/** Gradients with products in 16 bits. Runs where the native binding is installed. */

import * as tf from "@tensorflow/tfjs-core";
import type { GraphNode } from "../../../adapters/saved-model/graph-def";
import type { NarrowPrecision } from "../../../core/runs/hyperparameters";
import type { ModuleDefinition } from "../../../core/runs/model-definition";
import { createEngine } from "../../../trainer-container/engine/create-engine";
import { Recorder } from "../../../trainer-container/engine/graph/recorder";
import { requireEqual } from "../../../trainer-container/engine/graph/result-comparison";
import { roundProducts } from "../../../trainer-container/engine/graph/rewrites/precision";
import { LoadedGraph, namesOf } from "../../../trainer-container/engine/graph/session";
import { columnSums, exactMatMul } from "../../../trainer-container/engine/layers/exact";
import type { NativeBackend } from "../../../trainer-container/engine/native/operations";
import { withinScope } from "../../../trainer-container/engine/tensor-scope";
import { cnn, randomBatch } from "./contract";
import { gradientOf, modelsOf, moduleOf, stack } from "./models-of";
import { describeNative, startNative } from "./native";

/** Rows of four numbers and three classes, as `createWorker` has them. */
const transformer = moduleOf(
  stack((layers, { outputs }) => [
    layers.reshape({ targetShape: [2, 2], inputShape: [4] }),
    layers.dense({ units: 4 }),
    layers.multiHeadAttention({ heads: 2, causal: true, dropout: 0.1 }),
    layers.layerNormalization(),
    layers.flatten(),
    layers.batchNormalization({}),
    layers.dense({ units: outputs }),
  ]),
  { inputShape: [4] },
);

describeNative("precision", () => {
  const engineWith = (precision?: NarrowPrecision) => startNative(precision && { precision });
  const { created } = modelsOf(engineWith);

  async function modelOf(precision: NarrowPrecision | undefined, definition: ModuleDefinition | typeof cnn) {
    const engine = await engineWith(precision);
    const model = await engine.createModel(definition, 1);
    created.push(model);
    return model;
  }

  /** Records products, rounds them and runs the graph. */
  function rounded(precision: NarrowPrecision, inputs: readonly tf.Tensor[], body: () => tf.Tensor) {
    const backend = tf.backend() as NativeBackend;
    const recorded = withinScope(() => new Recorder(backend).record(inputs, (recorder) => recorder.valueOf(body())));
    const nodes = roundProducts(recorded.nodes, precision, false);
    const graph = new LoadedGraph(backend.binding, nodes);
    const feeds = backend.getInputTensorIds(inputs);
    const [id = -1] = graph.run(namesOf(recorded.placeholders), feeds, namesOf([recorded.result]));
    const values = backend.binding.tensorDataSync(id);
    backend.binding.deleteTensor(id);
    graph.dispose();
    return [...values];
  }

  // bfloat16 has 8 significant bits, float16 has 11.
  it.each([
    ["bfloat16", 1 + 2 ** -7, 1 + 2 ** -8, 1],
    ["float16", 1 + 2 ** -10, 1 + 2 ** -11, 1],
  ] as const)("%s rounds factors and results to even, and adds in float32", (precision, kept, between, even) => {
    const one = tf.tensor2d([[1]]);
    const times = (a: tf.Tensor2D, b: tf.Tensor2D) => rounded(precision, [a, b], () => tf.matMul(a, b));
    expect(times(tf.tensor2d([[kept]]), one)).toEqual([kept]);
    expect(times(tf.tensor2d([[between]]), one)).toEqual([even]);
    // 16 bits cannot count to 4,096 by ones.
    expect(times(tf.ones([1, 4_096]), tf.ones([4_096, 1]))).toEqual([4_096]);
  });

  it("float16 overflows beyond 65,504, and bfloat16 does not", () => {
    const [a, b] = [tf.tensor2d([[300]]), tf.tensor2d([[300]])];
    expect(rounded("float16", [a, b], () => tf.matMul(a, b))).toEqual([Number.POSITIVE_INFINITY]);
    expect(rounded("bfloat16", [a, b], () => tf.matMul(a, b))).toEqual([90_112]);
  });

  it("leaves sums that are computed as products in float32", () => {
    const a = tf.tensor2d([[1 + 2 ** -12]]);
    const one = tf.ones<tf.Rank.R2>([1, 1]);
    expect(rounded("bfloat16", [a, one], () => exactMatMul(a, one))).toEqual([1 + 2 ** -12]);
    const rows = tf.fill<tf.Rank.R2>([1_024, 1], 100);
    expect(rounded("float16", [rows], () => columnSums(rows))).toEqual([102_400]);
  });

  describe("a graph is compared with the tape", () => {
    const layout = [{ name: "dense/kernel", shape: [100], offset: 0, size: 100, trainable: true }];
    const gradient = Array.from({ length: 100 }, (_, index) => Math.sin(index) * 10);
    const compare = (loss: number, found: readonly number[], tf32: boolean) => () =>
      requireEqual([tf.tensor1d([2]), tf.tensor1d(gradient)], [[loss], found], layout, { tf32 });
    const with3At7 = gradient.map((value, index) => (index === 7 ? value + 3 : value));

    it("value by value in float32", () => {
      expect(compare(2, gradient, false)).not.toThrow();
      expect(compare(2, with3At7, false)).toThrow("for its gradient of dense/kernel");
      expect(compare(2.001, gradient, false)).toThrow("for its loss or metrics");
    });

    it.each([false, true])("by which values are finite (TF32: %s)", (tf32) => {
      const nonFinite = [Number.NaN, Number.POSITIVE_INFINITY, ...gradient.slice(2)];
      const ofTape = (loss: number, tape: readonly number[], found: readonly number[]) => () =>
        requireEqual([tf.tensor1d([loss]), tf.tensor1d([...tape])], [[loss], found], layout, { tf32 });
      expect(compare(Number.NaN, gradient, tf32)).toThrow("gives NaN for its loss or metrics");
      expect(compare(2, nonFinite, tf32)).toThrow("gives NaN for its gradient of dense/kernel");
      expect(ofTape(2, nonFinite, gradient)).toThrow("where its operations one by one give NaN");
      expect(ofTape(Number.NaN, nonFinite, nonFinite)).not.toThrow();
    });

    it("as a whole in TF32, where single values may differ", () => {
      expect(compare(2.001, with3At7, true)).not.toThrow();
      expect(compare(2.1, gradient, true)).toThrow("for its loss or metrics");
      const wrong = gradient.map((value) => value * 1.2);
      expect(compare(2, wrong, true)).toThrow(/for its gradient of dense\/kernel/);
    });
  });

  it("on a GPU gives the products the 16-bit type", () => {
    const [a, b] = [tf.ones<tf.Rank.R2>([2, 2]), tf.ones<tf.Rank.R2>([2, 2])];
    const { nodes } = withinScope(() =>
      new Recorder(tf.backend() as NativeBackend).record([a, b], () => void tf.matMul(a, b)),
    );
    const typesOf = (all: readonly GraphNode[]) =>
      all.filter(({ op }) => op.includes("MatMul")).map(({ attributes: { T } }) => T);
    expect(typesOf(nodes)).toEqual([{ kind: "type", value: 1 }]);
    expect(typesOf(roundProducts(nodes, "bfloat16", true))).toEqual([{ kind: "type", value: 14 }]);
    expect(typesOf(roundProducts(nodes, "float16", true))).toEqual([{ kind: "type", value: 19 }]);
  });

  it.each([
    ["a convolutional model", cnn, "bfloat16", 0.02],
    ["a transformer", transformer, "float16", 0.006],
  ] as const)("rounds the gradient of %s (%#) and not its evaluation", async (_name, definition, precision, bound) => {
    const [exact, model] = [await modelOf(undefined, definition), await modelOf(precision, definition)];
    const batch = randomBatch(definition, 8, "rows");
    const norm = (values: Float32Array) => Math.hypot(...values);
    const [expected, found] = [gradientOf(exact, batch).gradient, gradientOf(model, batch).gradient];
    const error = norm(found.map((value, at) => value - expected[at]!)) / norm(expected);
    expect(error).toBeLessThan(bound);
    expect(error).toBeGreaterThan(bound / 100);
    expect(model.evaluate(batch)).toEqual(exact.evaluate(batch));
  });

  it("multiplies the loss's gradient, and neither the loss nor running statistics", async () => {
    const model = await modelOf("float16", transformer);
    const batch = randomBatch(transformer, 8, "rows");
    const [plain, scaled] = [1, 1_024].map((scale) => {
      model.scaleLoss?.(scale);
      const { result, gradient } = gradientOf(model, batch);
      const { trainableCount } = model;
      const norm = Math.hypot(...gradient.slice(0, trainableCount));
      return { loss: result.loss, statistics: gradient.slice(trainableCount), norm };
    });
    expect(scaled).toEqual({ ...plain, norm: scaled!.norm });
    expect(scaled!.norm).toBeCloseTo(1_024 * plain!.norm, 0);
  });

  it("is part of the numerics record", async () => {
    const [plain, rounding] = [await engineWith(), await engineWith("bfloat16")];
    expect(plain.numerics().switches).not.toHaveProperty("precision");
    expect(rounding.numerics().switches).toEqual({
      ...plain.numerics().switches,
      precision: "bfloat16",
      products: "float32 of bfloat16 factors",
      float32Products: "BlockLSTMV2,BlockLSTMGradV2,LSTMBlockCellGrad",
    });
  });

  it.each([
    ["that has graph: false", { graph: false }, "graph is false in defineTraining"],
    [
      "that reads a value in the middle",
      {
        loss: (_labels: tf.Tensor, outputs: tf.Tensor2D) => {
          outputs.dataSync();
          return outputs.mean(1);
        },
      },
      "it reads a value in the middle",
    ],
  ])("is refused for a model %s", async (_name, extra, reason) => {
    const definition = { ...transformer, ...extra } as ModuleDefinition;
    const train = async () => gradientOf(await modelOf("bfloat16", definition), randomBatch(definition, 8, "rows"));
    await expect(train()).rejects.toThrow(
      `The precision bfloat16 needs a model that is a graph, but it cannot be one: ${reason}.`,
    );
  });

  it("is refused on WebAssembly", async () => {
    await expect(createEngine({ preferred: "wasm", threads: 1, precision: "float16" })).rejects.toThrow(
      "The precision float16 needs the native engine and a graph.",
    );
  });
});
