/** The tests of gradients that replace TensorFlow.js's. Every backend must pass them. */
import * as tf from "@tensorflow/tfjs-core";
import type { Engine } from "../../../trainer-container/engine/engine";
import { seededRandom } from "../../../trainer-container/engine/seeded-random";

interface Case {
  readonly shapes: readonly (readonly number[])[];
  readonly compute: (...inputs: tf.Tensor[]) => tf.Tensor;
  /** Maximum number of the backend's operations in the forward and the backward pass. */
  readonly operations?: number;
}

const normalize = (x: tf.Tensor, mean: tf.Tensor, variance: tf.Tensor, offset: tf.Tensor, scale: tf.Tensor) =>
  tf.batchNorm(
    x as tf.Tensor4D,
    mean as tf.Tensor1D,
    variance as tf.Tensor1D,
    offset as tf.Tensor1D,
    scale as tf.Tensor1D,
    0.01,
  );

const cases: Readonly<Record<string, Case>> = {
  "tile along each axis of a matrix": { shapes: [[2, 3]], compute: (x) => tf.tile(x, [4, 5]), operations: 14 },
  "tile of a column, as layer normalization uses it": {
    shapes: [[2, 3, 3, 1]],
    compute: (x) => tf.tile(x, [1, 1, 1, 8]),
    operations: 14,
  },
  "tile of a row, as layer normalization uses it": {
    shapes: [[1, 1, 1, 5]],
    compute: (x) => tf.tile(x, [2, 3, 3, 1]),
    operations: 14,
  },
  "tile of rank 5": { shapes: [[2, 1, 2, 1, 2]], compute: (x) => tf.tile(x, [1, 3, 2, 2, 1]), operations: 14 },
  "tile without a repetition": { shapes: [[2, 3]], compute: (x) => tf.tile(x, [1, 1]), operations: 12 },
  "batch normalization by channel": {
    shapes: [[2, 3, 2, 4], [4], [4], [4], [4]],
    compute: (x, mean, variance, offset, scale) => normalize(x!, mean!, variance!, offset!, scale!),
    operations: 60,
  },
  "normalization by statistics of another axis": {
    shapes: [[2, 3, 2, 2], ...Array(4).fill([1, 3, 1, 1])],
    compute: (x, mean, variance, offset, scale) => normalize(x!, mean!, variance!, offset!, scale!),
    operations: 60,
  },
  "normalization of a matrix by statistics in its shape": {
    shapes: Array(5).fill([3, 4]),
    compute: (x, mean, variance, offset, scale) => normalize(x!, mean!, variance!, offset!, scale!),
    operations: 60,
  },
  "product of equal shapes": {
    shapes: [
      [2, 3],
      [2, 3],
    ],
    compute: (a, b) => tf.mul(a!, b!),
  },
  "product with broadcast axes on both sides": {
    shapes: [
      [2, 1, 3],
      [4, 1],
    ],
    compute: (a, b) => tf.mul(a!, b!),
  },
  "product with integers": { shapes: [[3]], compute: (x) => tf.mul(x, tf.tensor1d([1, 2, 3], "int32")) },
  "sigmoid of a length that is no multiple of a vector's": { shapes: [[7]], compute: (x) => tf.sigmoid(tf.sub(x, 1)) },
  "tanh of a length that is no multiple of a vector's": { shapes: [[7]], compute: (x) => tf.tanh(tf.sub(x, 1)) },
  "rectifier of a length that is no multiple of a vector's": { shapes: [[7]], compute: (x) => tf.relu(tf.sub(x, 1)) },
  "mean over the first axes": { shapes: [[2, 3, 4]], compute: (x) => tf.mean(x, [0, 1]) },
  "mean over an inner axis, kept": { shapes: [[2, 3, 4]], compute: (x) => tf.mean(x, 1, true) },
  "sum over the last axis": { shapes: [[2, 3, 4]], compute: (x) => tf.sum(x, -1) },
  "average pooling with padding": {
    shapes: [[1, 3, 5, 2]],
    compute: (x) => tf.avgPool(x as tf.Tensor4D, 3, 2, "same"),
  },
  "average pooling of a volume with padding": {
    shapes: [[1, 3, 2, 3, 2]],
    compute: (x) => tf.avgPool3d(x as tf.Tensor5D, 2, 2, "same"),
  },
  "convolution of a volume": {
    shapes: [
      [1, 3, 2, 3, 2],
      [2, 2, 2, 2, 3],
    ],
    compute: (x, filter) => tf.conv3d(x as tf.Tensor5D, filter as tf.Tensor5D, 1, "same"),
  },
  "convolution of a volume with strides": {
    shapes: [
      [1, 3, 4, 3, 2],
      [2, 2, 2, 2, 3],
    ],
    compute: (x, filter) => tf.conv3d(x as tf.Tensor5D, filter as tf.Tensor5D, 2, "valid"),
  },
  "sum of all": { shapes: [[2, 3]], compute: (x) => tf.sum(x) },
};

export function describeGradientContract(name: string, start: () => Promise<Engine>): void {
  describe(`gradients of operations: ${name}`, () => {
    beforeAll(async () => {
      await start();
    });

    it.each(Object.entries(cases))("agrees with central differences: %s", (_, { shapes, compute }) => {
      const random = seededRandom("gradients");
      // Values in [0.5, 1.5), because variances are positive.
      const values = shapes.map((shape) =>
        Float32Array.from({ length: tf.util.sizeFromShape([...shape]) }, () => 0.5 + random()),
      );
      const before = tf.memory().numTensors;
      const weigh = weightedSum(compute);
      const gradients = tf.tidy(() =>
        tf
          .grads(weigh)(values.map((each, i) => tf.tensor(each, [...shapes[i]!])))
          .map((each) => each.arraySync()),
      );
      const value = (input: number, element: number, change: number) =>
        tf.tidy(() => {
          const changed = values.map((each) => each.slice());
          changed[input]![element]! += change;
          return weigh(...changed.map((each, i) => tf.tensor(each, [...shapes[i]!]))).dataSync()[0] as number;
        });
      const step = 5e-3;
      for (const [input, gradient] of gradients.entries()) {
        const flat = (gradient as number[]).flat(Number.POSITIVE_INFINITY) as number[];
        expect(flat).toHaveLength(values[input]!.length);
        for (const [element, slope] of flat.entries()) {
          const difference = (value(input, element, step) - value(input, element, -step)) / (2 * step);
          expect(Math.abs(slope - difference)).toBeLessThan(2e-3 * (1 + Math.abs(difference)));
        }
      }
      expect(tf.memory().numTensors).toBe(before);
    });

    it.each(Object.entries(cases).filter(([, { operations }]) => operations))(
      "takes few operations: %s",
      (_, { shapes, compute, operations }) => {
        const runKernel = jest.spyOn(tf.engine(), "runKernel");
        tf.tidy(() => {
          tf.grads(weightedSum(compute))(shapes.map((shape) => tf.ones([...shape])));
        });
        const count = runKernel.mock.calls.length;
        runKernel.mockRestore();
        expect(count).toBeLessThanOrEqual(operations as number);
      },
    );
  });
}

/** Weights the elements differently, so that a gradient in the wrong order is found. */
function weightedSum(compute: Case["compute"]): (...inputs: tf.Tensor[]) => tf.Scalar {
  return (...inputs) => {
    const output = compute(...inputs);
    const weights = Float32Array.from({ length: output.size }, (_, i) => ((i * 7) % 11) / 5 - 1);
    return tf.sum(tf.mul(output, tf.tensor(weights, output.shape))) as tf.Scalar;
  };
}
