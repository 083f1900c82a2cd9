/** Batch normalization in training and layer normalization against their definitions. */
import * as tf from "@tensorflow/tfjs-core";
import { type LayersModel, layers, sequential } from "@tensorflow/tfjs-layers";
import type { Engine } from "../../../trainer-container/engine/engine";
import {
  installBatchNormalization,
  installLayerNormalization,
} from "../../../trainer-container/engine/layers/normalization";
import { registerOwnLayers } from "../../../trainer-container/tfjs/layers/register";

type Layer = LayersModel["layers"][number];
type Options = NonNullable<Parameters<typeof layers.batchNormalization>[0]>;

const cases: readonly (readonly [number[], Options])[] = [
  [[4, 3], {}],
  [[1, 3], { epsilon: 0.1 }],
  [[2, 5, 3], { momentum: 0.5 }],
  [[2, 3, 4, 5], { epsilon: 1e-5 }],
  [[2, 3, 4, 5], { axis: 1 }],
  [[2, 3, 4, 2, 3], {}],
  [[4, 3], { scale: false }],
  [[4, 3, 2, 2], { center: false, axis: 2 }],
];

const errorOf = (found: tf.Tensor, expected: tf.Tensor) => tf.max(tf.abs(tf.sub(found, expected))).dataSync()[0];

/** Makes a model of a layer with random weights, and returns it with what `compute` gives for a random input, and the gradients. */
function modelOf(shape: readonly number[], layer: Layer, axes: readonly number[], epsilon = 1e-3) {
  const model = sequential({ layers: [layers.inputLayer({ inputShape: shape.slice(1) }), layer] });
  for (const [index, weight] of model.weights.entries())
    weight.write(tf.randomUniform(weight.shape as number[], 0.5, 1.5, "float32", index + 1));
  const x = tf.randomNormal([...shape], 2, 3, "float32", 7);
  const factors = tf.randomNormal([...shape], 0, 1, "float32", 8);
  const variables = model.trainableWeights.map((weight) => weight.read() as tf.Variable);
  const weightNamed = (name: string) => model.weights.find((weight) => weight.originalName.endsWith(name));
  const along = (values: tf.Tensor, kept: readonly number[]) =>
    tf.reshape(
      values,
      shape.map((size, axis) => (kept.includes(axis) ? size : 1)),
    );
  const resultsOf = (compute: (input: tf.Tensor) => tf.Tensor): tf.Tensor[] => {
    const loss = (input: tf.Tensor) => tf.sum(tf.mul(compute(input), factors)) as tf.Scalar;
    const { grads } = tf.variableGrads(() => loss(x), variables);
    return [compute(x), tf.grad(loss)(x), ...variables.map(({ name }) => grads[name] as tf.Tensor)];
  };
  /** @param kept the axes of scale and offset */
  const defined = (kept: readonly number[]) =>
    resultsOf((input) => {
      const { mean, variance } = tf.moments(input, [...axes], true);
      const normal = tf.mul(tf.sub(input, mean), tf.rsqrt(tf.add(variance, epsilon)));
      const [scale, offset] = ["gamma", "beta"].map((name) => weightNamed(name)?.read());
      return tf.add(tf.mul(normal, scale ? along(scale, kept) : 1), offset ? along(offset, kept) : 0);
    });
  return { model, x, weightNamed, resultsOf, defined };
}

/** Computes in float64: the result, the gradients by x, scale and offset, and the updates of the averages, for scale 1. */
function inFloat64(x: Float32Array, dy: Float32Array, channelOf: (index: number) => number, channels: number) {
  const zeros = () => new Float64Array(channels);
  const [mean, variance, dScale, dOffset] = [zeros(), zeros(), zeros(), zeros()];
  const count = x.length / channels;
  const add = (sums: Float64Array, at: number, value: number) => {
    sums[at] = sums[at]! + value;
  };
  for (const [i, value] of x.entries()) add(mean, channelOf(i), value / count);
  for (const [i, value] of x.entries()) add(variance, channelOf(i), (value - mean[channelOf(i)]!) ** 2 / count);
  const normal = Float64Array.from(x, (value, i) => {
    const channel = channelOf(i);
    return (value - mean[channel]!) / Math.sqrt(variance[channel]! + 1e-3);
  });
  for (const [i, value] of dy.entries()) {
    add(dScale, channelOf(i), value * normal[i]!);
    add(dOffset, channelOf(i), value);
  }
  const dx = Float64Array.from(dy, (value, i) => {
    const channel = channelOf(i);
    const centred = value - dOffset[channel]! / count - (normal[i]! * dScale[channel]!) / count;
    return centred / Math.sqrt(variance[channel]! + 1e-3);
  });
  return [normal, dx, dScale, dOffset, mean.map((value) => value / 2), variance.map((value) => 0.5 + value / 2)];
}

export function describeNormalization(start: () => Promise<Engine>): void {
  describe("batch normalization in training", () => {
    beforeAll(async () => {
      await start();
      installBatchNormalization();
    });

    it.each(cases)("normalizes %j as defined: %j", (shape, options) => {
      const layer = layers.batchNormalization(options);
      const axis = options.axis ?? shape.length - 1;
      const others = shape.map((_, each) => each).filter((each) => each !== axis);
      const { model, x, weightNamed, resultsOf, defined } = modelOf(shape, layer, others, options.epsilon);
      const averages = ["moving_mean", "moving_variance"];
      const before = averages.map((name) => tf.clone(weightNamed(name)!.read()));
      const expected = defined([axis]);
      const found = resultsOf((input) => {
        for (const [index, name] of averages.entries()) weightNamed(name)!.write(before[index] as tf.Tensor);
        return layer.apply(input, { training: true }) as tf.Tensor;
      });
      const { mean, variance } = tf.moments(x, others);
      const momentum = options.momentum ?? 0.99;
      for (const [index, value] of [mean, variance].entries()) {
        expected.push(tf.add(tf.mul(before[index] as tf.Tensor, momentum), tf.mul(value, 1 - momentum)));
        found.push(weightNamed(averages[index]!)!.read());
      }
      for (const [index, tensor] of found.entries()) expect(errorOf(tensor, expected[index]!)).toBeLessThan(2e-5);
      model.dispose();
    });

    it.each([
      ["last", -1, [2, 12, 2, 3]],
      ["second", 1, [2, 3, 8, 3]],
    ] as const)("infers volumes along their %s axis like images", (_, axis, image) => {
      registerOwnLayers();
      const create = () => layers.batchNormalization({ axis });
      const [volumes, images] = [create(), create()];
      const x = tf.randomNormal([2, 3, 4, 2, 3], 2, 3, "float32", 7);
      const weights = [1, 2, 3, 4].map((seed) => tf.randomUniform([3], 0.5, 1.5, "float32", seed));
      volumes.build(x.shape);
      images.build([...image]);
      for (const layer of [volumes, images]) layer.setWeights(weights);
      const found = volumes.apply(x) as tf.Tensor;
      const expected = tf.reshape(images.apply(tf.reshape(x, [...image])) as tf.Tensor, x.shape);
      expect(errorOf(found, expected)).toBeLessThan(1e-5);
    });

    it.each([
      ["inner", [128, 28, 28, 3], 3, (index: number) => index % 3],
      ["outer", [128, 3, 28, 28], 1, (index: number) => Math.floor(index / 784) % 3],
      // 99,991 is prime, so its sums have no equal parts
      ["single", [99_991, 2], 1, (index: number) => index % 2],
    ] as const)("computes 100,000 values per %s channel precisely", (_, shape, axis, channelOf) => {
      const layer = layers.batchNormalization({ axis, momentum: 0.5 });
      const model = sequential({ layers: [layers.inputLayer({ inputShape: shape.slice(1) }), layer] });
      const x = tf.randomNormal([...shape], 2, 3, "float32", 7);
      // depends on x, so that the sum of dy · x̂ is large
      const dy = tf.add(tf.randomNormal([...shape], 0.2, 1, "float32", 8), tf.mul(x, 0.1));
      const apply = (input: tf.Tensor) => layer.apply(input, { training: true }) as tf.Tensor;
      const result = apply(x);
      const averages = model.nonTrainableWeights.map((weight) => tf.clone(weight.read()));
      const loss = () => tf.sum(tf.mul(apply(x), dy)) as tf.Scalar;
      const variables = model.trainableWeights.map((weight) => weight.read() as tf.Variable);
      const { grads } = tf.variableGrads(loss, variables);
      const [dx] = tf.grads((input) => apply(input as tf.Tensor))([x], dy) as [tf.Tensor];
      const [dScale, dOffset] = variables.map(({ name }) => grads[name] as tf.Tensor);
      const channels = shape[axis] as number;
      const expected = inFloat64(x.dataSync() as Float32Array, dy.dataSync() as Float32Array, channelOf, channels);
      const errors = [result, dx, dScale!, dOffset!, ...averages].map((tensor, index) => {
        const values = tensor.dataSync();
        const exact = expected[index]!;
        const largest = exact.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
        return exact.reduce((most, value, i) => Math.max(most, Math.abs(value - values[i]!)), 0) / largest;
      });
      expect(Math.max(...errors)).toBeLessThan(2e-6);
      model.dispose();
    });

    it("leaves no tensor behind", () => {
      const layer = layers.batchNormalization();
      const model = sequential({ layers: [layers.inputLayer({ inputShape: [3] }), layer] });
      const variables = model.trainableWeights.map((weight) => weight.read() as tf.Variable);
      const x = tf.ones([4, 3]);
      const step = () =>
        tf.tidy(() => {
          tf.variableGrads(() => tf.sum(layer.apply(x, { training: true }) as tf.Tensor) as tf.Scalar, variables);
        });
      step();
      const { numTensors } = tf.memory();
      for (let i = 0; i < 5; i++) step();
      expect(tf.memory().numTensors).toBe(numTensors);
      model.dispose();
    });
  });

  describe("layer normalization", () => {
    beforeAll(async () => {
      await start();
      installLayerNormalization();
    });

    it.each([
      [[4, 3], {}],
      [[2, 5, 3], { epsilon: 0.1 }],
      [[2, 3, 4, 5], {}],
      [[3, 70], {}], // wider than the widest product
      [[3, 70], { scale: false }],
      [[2, 3, 70], { center: false }],
      [[4, 3], { scale: false }],
      [[4, 3], { center: false }],
      [[2, 4, 3], { axis: 1 }],
      [[2, 4, 3], { axis: [1, 2] }],
    ] as const)("normalizes %j as defined: %j", (shape, options) => {
      const layer = layers.layerNormalization(options as never);
      const axes = "axis" in options ? [options.axis].flat() : [shape.length - 1];
      const epsilon = "epsilon" in options ? options.epsilon : undefined;
      const { model, resultsOf, defined } = modelOf(shape, layer, axes, epsilon);
      const found = resultsOf((input) => layer.apply(input) as tf.Tensor);
      const expected = defined(axes);
      for (const [index, tensor] of found.entries()) expect(errorOf(tensor, expected[index]!)).toBeLessThan(2e-5);
      model.dispose();
    });
  });
}
