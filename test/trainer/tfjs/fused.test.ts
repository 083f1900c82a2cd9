/** Compares fused kernels with single operations on the plain JavaScript backend. */
import * as tf from "@tensorflow/tfjs-core";
import { expectEqualOnBoth, startBoth, values } from "./oracle";

startBoth();

const activations = ["linear", "relu", "relu6", "elu", "sigmoid", "leakyrelu", "prelu"] as const;

describe.each(activations)("with activation %s", (activation) => {
  it.each([
    [3, 10],
    [5, 8],
  ])("a product of %i rows and %i columns, with and without bias", async (rows, columns) => {
    for (const biased of [true, false]) {
      await expectEqualOnBoth(() =>
        tf.fused.matMul({
          a: values([rows, 6], 1) as tf.Tensor2D,
          b: values([6, columns], 2) as tf.Tensor2D,
          ...(biased ? { bias: values([columns], 3) } : {}),
          activation,
          ...(activation === "prelu" ? { preluActivationWeights: values([columns], 5) } : {}),
          leakyreluAlpha: 0.3,
        }),
      );
    }
  });

  it("a convolution", async () => {
    await expectEqualOnBoth(() =>
      tf.fused.conv2d({
        x: values([2, 6, 5, 3], 1) as tf.Tensor4D,
        filter: values([3, 3, 3, 6], 2) as tf.Tensor4D,
        strides: [2, 1],
        pad: "same",
        bias: values([6], 3) as tf.Tensor1D,
        activation,
        ...(activation === "prelu" ? { preluActivationWeights: values([1, 1, 6], 5) } : {}),
        leakyreluAlpha: 0.3,
      }),
    );
  });
});

const conv = (image: number[], filter: number[], ...more: unknown[]) =>
  tf.conv2d(values(image, 1) as tf.Tensor4D, values(filter, 2) as tf.Tensor4D, 1, ...(more as ["same"]));

it.each<[string, () => tf.Tensor]>([
  ["dilated", () => conv([1, 7, 7, 2], [3, 3, 2, 5], "same", "NHWC", 2)],
  // biome-ignore format: a pair for each axis
  ["explicitly padded", () => conv([1, 4, 4, 2], [3, 3, 2, 5], [[0, 0], [2, 0], [1, 3], [0, 0]])],
  ["deep", () => conv([1, 5, 4, 40], [3, 3, 40, 9], "same")],
])("a %s convolution", async (_, body) => {
  await expectEqualOnBoth(body);
});

describe("a bias", () => {
  it.each([[[3, 4]], [[2, 3, 5]], [[2, 2, 3, 8]]])("is added to rows of %p", async (shape) => {
    await expectEqualOnBoth(() => tf.add(values(shape, 1), values(shape.slice(-1), 2)));
  });

  it("is refused for integers, matrices and scalars", async () => {
    await expectEqualOnBoth(() => tf.add(tf.tensor2d([[1, 2]], [1, 2], "int32"), tf.tensor1d([3, 4], "int32")));
    await expectEqualOnBoth(() => tf.add(values([2, 1], 1), values([2], 2)));
    await expectEqualOnBoth(() => tf.add(values([2, 3], 1), values([2, 3], 2)));
  });

  it.each<[shape: number[], axes: number[], keepDims: boolean]>([
    [[7, 10], [0], false],
    [[600, 3], [0], true],
    [[2, 3, 4, 8], [0, 1, 2], false],
    [[2, 3, 4, 8], [0, 1], true],
    [[2, 3, 4], [1], false],
    [[2, 3, 4], [2], false],
    [[2, 3], [0, 1], false],
  ])("has the sum as its gradient: %p over %p", async (shape, axes, keepDims) => {
    await expectEqualOnBoth(() => tf.sum(values(shape, 1), axes, keepDims));
  });
});

it.each([1, 3, 4, 6, 33])("the rectifier's gradient for %i elements", async (size) => {
  await expectEqualOnBoth(() => tf.grad((x) => tf.mul(tf.relu(x), values([size], 2)))(values([size], 1)));
});

it("shares memory between equal tensors, and disposing of one does not affect the other", async () => {
  await tf.setBackend("wasm");
  const buffers = tf.engine().state.numDataBuffers;
  const bytes = tf.memory().numBytes;
  const x = tf.tensor1d([1, 2, 3]);
  const [copy, cast] = [tf.clone(x), tf.cast(x, "float32")];
  x.dispose();
  expect([...copy.dataSync()]).toEqual([1, 2, 3]);
  copy.dispose();
  expect([...cast.dataSync()]).toEqual([1, 2, 3]);
  cast.dispose();
  expect(tf.engine().state.numDataBuffers).toBe(buffers);
  expect(tf.memory().numBytes).toBe(bytes);
});
