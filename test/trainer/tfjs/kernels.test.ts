import * as tf from "@tensorflow/tfjs-core";
import { lstmSequenceKernel } from "../../../trainer-container/tfjs/kernels/lstm";
import { expectEqualOnBoth, on, shapeOf, startBoth, values } from "./oracle";

startBoth();

/** Returns the gradient of Σ outputs × fixed numbers with respect to one argument. */
function gradientOf(body: (x: tf.Tensor) => tf.Tensor, at: tf.Tensor): tf.Tensor {
  return tf.grad((x) => {
    const outputs = body(x);
    return tf.sum(tf.mul(outputs, values(outputs.shape, 3)));
  })(at);
}

type Padding = "same" | "valid" | number;

describe("convolution gradients", () => {
  const cases: [image: number[], filter: number[], strides: [number, number], pad: Padding][] = [
    [[2, 5, 5, 1], [3, 3, 1, 2], [1, 1], "same"],
    [[2, 6, 5, 3], [3, 3, 3, 4], [1, 1], "same"],
    [[2, 6, 5, 3], [3, 2, 3, 4], [1, 1], "valid"],
    [[2, 6, 7, 3], [3, 3, 3, 4], [2, 2], "same"],
    [[2, 7, 7, 2], [3, 3, 2, 3], [2, 3], "valid"],
    [[1, 5, 5, 2], [2, 4, 2, 3], [1, 1], "same"],
    [[1, 5, 5, 2], [3, 3, 2, 3], [2, 2], 1],
    [[1, 4, 4, 3], [1, 1, 3, 2], [1, 1], "same"],
    [[1, 4, 4, 3], [1, 1, 3, 2], [2, 2], "valid"],
    [[1, 3, 3, 1], [5, 5, 1, 12], [1, 1], "same"],
    [[1, 5, 5, 2], [3, 3, 2, 3], [1, 1], 2],
  ];

  it.each(cases)("image %p, filter %p, strides %p, padding %p", async (image, filter, strides, pad) => {
    const conv = (x: tf.Tensor, f: tf.Tensor): tf.Tensor => tf.conv2d(x as tf.Tensor4D, f as tf.Tensor4D, strides, pad);
    await expectEqualOnBoth(() => gradientOf((f) => conv(values(image, 1), f), values(filter, 2)));
    await expectEqualOnBoth(() => gradientOf((x) => conv(x, values(filter, 2)), values(image, 1)));
  });

  it.each<[number[], number[], [number, number], Padding]>([
    [[2, 5, 5, 3], [3, 3, 3, 1], [1, 1], "same"],
    [[2, 6, 5, 2], [3, 2, 2, 3], [2, 2], "same"],
    [[1, 7, 7, 2], [3, 3, 2, 2], [1, 1], "valid"],
    [[2, 5, 5, 4], [3, 3, 4, 1], [1, 1], "same"],
    [[2, 6, 7, 8], [3, 2, 8, 1], [2, 2], "same"],
    [[1, 7, 7, 4], [2, 3, 4, 1], [3, 3], "valid"],
    [[1, 2, 2, 4], [3, 5, 4, 1], [1, 1], "same"],
  ])("depthwise: image %p, filter %p, strides %p, padding %p", async (image, filter, strides, pad) => {
    const conv = (x: tf.Tensor, f: tf.Tensor): tf.Tensor =>
      tf.depthwiseConv2d(x as tf.Tensor4D, f as tf.Tensor4D, strides, pad);
    await expectEqualOnBoth(() => gradientOf((f) => conv(values(image, 1), f), values(filter, 2)));
    await expectEqualOnBoth(() => gradientOf((x) => conv(x, values(filter, 2)), values(image, 1)));
  });

  it.each<[image: number[], window: number, stride: number, pad: "same" | "valid"]>([
    [[2, 6, 4, 4], 2, 2, "valid"],
    [[1, 7, 5, 8], 2, 2, "valid"],
    [[2, 6, 6, 4], 3, 1, "valid"],
    [[1, 5, 5, 8], 3, 2, "same"],
    [[1, 9, 7, 12], 2, 3, "valid"],
  ])(
    "max-pooling of channels in fours: image %p, window %p, stride %p, padding %p",
    async (image, window, stride, pad) => {
      const pool = (x: tf.Tensor): tf.Tensor => tf.maxPool(x as tf.Tensor4D, window, stride, pad);
      await expectEqualOnBoth(() => pool(values(image, 1)));
      await expectEqualOnBoth(() => gradientOf(pool, values(image, 1)));
      // The first of equal values counts as the largest.
      await expectEqualOnBoth(() => gradientOf(pool, tf.zeros(image)));
    },
  );

  it.each<[string, (x: tf.Tensor) => tf.Tensor]>([
    ["max-pooling", (x) => tf.maxPool(x as tf.Tensor4D, 2, 2, "same")],
    ["max-pooling, overlapping", (x) => tf.maxPool(x as tf.Tensor4D, 3, 1, "valid")],
    ["max-pooling of negative values", (x) => tf.maxPool(tf.sub(x, 2) as tf.Tensor4D, 2, 2, "same")],
    ["average pooling", (x) => tf.avgPool(x as tf.Tensor4D, 2, 2, "valid")],
  ])("%s", async (_, pool) => {
    await expectEqualOnBoth(() => gradientOf(pool, values([2, 5, 5, 3], 1)));
  });
});

describe("volumes", () => {
  const volume = [2, 4, 3, 5, 3];

  it.each<[window: number, stride: number, pad: "same" | "valid"]>([
    [2, 1, "valid"],
    [2, 2, "same"],
    [3, 1, "same"],
  ])("max-pooling of negative values, too: window %p, stride %p, padding %p", async (window, stride, pad) => {
    const pool = (x: tf.Tensor): tf.Tensor => tf.maxPool3d(x as tf.Tensor5D, window, stride, pad);
    await expectEqualOnBoth(() => pool(values(volume, 1)));
    await expectEqualOnBoth(() => gradientOf(pool, values(volume, 1)));
    await expectEqualOnBoth(() => gradientOf(pool, tf.sub(values(volume, 1), 2)));
  });

  it.each<[stride: number, pad: "same" | "valid"]>([
    [1, "valid"],
    [2, "same"],
    [3, "valid"],
  ])("convolutions, their gradients and their transposes: stride %p, padding %p", async (stride, pad) => {
    const conv = (x: tf.Tensor, filter: tf.Tensor): tf.Tensor =>
      tf.conv3d(x as tf.Tensor5D, filter as tf.Tensor5D, stride, pad);
    const filter = [2, 3, 2, 3, 4];
    await expectEqualOnBoth(() => conv(values(volume, 1), values(filter, 2)));
    await expectEqualOnBoth(() => gradientOf((f) => conv(values(volume, 1), f), values(filter, 2)));
    await expectEqualOnBoth(() => gradientOf((x) => conv(x, values(filter, 2)), values(volume, 1)));
    await expectEqualOnBoth(() => {
      const outputs = conv(values(volume, 1), values(filter, 2)) as tf.Tensor5D;
      return tf.conv3dTranspose(outputs, values(filter, 2) as tf.Tensor5D, volume as never, stride, pad);
    });
  });
});

describe("matmul", () => {
  it.each([
    [[4, 3], [4, 5], true, false],
    [[3, 4], [5, 4], false, true],
    [[4, 3], [5, 4], true, true],
    [[3, 4], [4, 5], false, false],
    [[2, 4, 3], [2, 5, 4], true, true],
    [[2, 4, 3], [1, 4, 5], true, false],
    [[1, 4], [5, 4], false, true],
    [[3, 2, 4, 3], [3, 5], false, false],
  ])("%p × %p, transposed %p %p", async (a, b, transposeA, transposeB) => {
    await expectEqualOnBoth(() => tf.matMul(values(a, 1), values(b, 2), transposeA, transposeB));
  });
});

it("multiplies integers", async () => {
  const counts = () =>
    tf.math.confusionMatrix(tf.tensor1d([0, 2, 2, 1], "int32"), tf.tensor1d([0, 2, 1, 1], "int32"), 3);
  await expectEqualOnBoth(counts);
  expect((await on("wasm", counts)).data).toEqual([1, 0, 0, 0, 1, 0, 0, 1, 1]);
});

it("multiplies matrices along repeated axes", async () => {
  await tf.setBackend("wasm"); // The oracle treats two such axes as one.
  tf.tidy(() => {
    const [a, b] = [values([2, 1, 4, 3], 1), values([1, 3, 3, 2], 2)];
    const repeated = tf.matMul(tf.broadcastTo(a, [2, 3, 4, 3]), tf.broadcastTo(b, [2, 3, 3, 2]));
    expect(tf.matMul(a, b).dataSync()).toEqual(repeated.dataSync());
  });
});

describe("other kernels", () => {
  it.each([[[1, 4, 1]], [[4, 1]], [[4, 3]], [[3]], [[2, 1, 3]], [[1]]])("PReLU with slopes of %p", async (slopes) => {
    const body = (alpha: tf.Tensor) => tf.prelu(values([2, 4, 3], 1), alpha);
    await expectEqualOnBoth(() => body(values(slopes, 2)));
  });

  it.each([
    [[3, 2, 3], 1, "same", 1],
    [[2, 3, 3], [2, 1], "same", 1],
    [[2, 2, 3], 1, "valid", 2],
  ] as const)(
    "dilates images by a filter of %p with strides %p, padding %s and gaps %d",
    async (filter, strides, pad, gaps) => {
      const body = (x: tf.Tensor, taps: tf.Tensor) =>
        tf.dilation2d(x as tf.Tensor4D, taps as tf.Tensor3D, strides as number, pad, gaps);
      await expectEqualOnBoth(() => body(values([2, 5, 6, 3], 1), values(filter, 2)));
      await expectEqualOnBoth(() => gradientOf((x) => body(x, values(filter, 2)), values([2, 5, 6, 3], 1)));
      await expectEqualOnBoth(() => gradientOf((taps) => body(values([2, 5, 6, 3], 1), taps), values(filter, 2)));
    },
  );

  it("one-hot of float32 contains ones, not integers read as floats", async () => {
    const indices = (): tf.Tensor => tf.tensor1d([1, 0, 2], "int32");
    await expectEqualOnBoth(() => tf.oneHot(indices(), 3, 2, -1, "float32"));
    await expectEqualOnBoth(() => tf.cast(tf.oneHot(indices(), 3), "float32"));
  });

  it("sums segments, dropping negative ids", async () => {
    const body = (): tf.Tensor => tf.unsortedSegmentSum(values([4, 2, 3], 1), tf.tensor1d([2, -1, 2, 0], "int32"), 4);
    await expectEqualOnBoth(body);
  });

  it("is the gradient of a gather", async () => {
    const indices = (): tf.Tensor1D => tf.tensor1d([3, 0, 3], "int32");
    await expectEqualOnBoth(() => gradientOf((x) => tf.gather(x, indices()), values([4, 2], 1)));
  });
});

describe("chained operations", () => {
  it("call their function", async () => {
    await tf.setBackend("wasm");
    const numbers = (x: tf.Tensor): number[] => Array.from(x.dataSync());
    tf.tidy(() => {
      const x = tf.tensor2d([
        [1, -2],
        [3, 4],
      ]);
      expect(numbers(x.relu().sum(1))).toEqual([1, 7]);
      expect(numbers(x.flatten().concat(tf.tensor1d([9])))).toEqual([1, -2, 3, 4, 9]);
      expect(x.stack(x).shape).toEqual([2, 2, 2]);
      expect(x.as3D(1, 2, 2).shape).toEqual([1, 2, 2]);
      expect(x.slice([0, 0], [1, 1]).asScalar().toInt().dtype).toBe("int32");
      expect(numbers(x.where(x.greater(0), x.neg()))).toEqual([1, 2, 3, 4]);
    });
  });
});

it.each<[string, (x: tf.Tensor) => tf.Tensor, (dy: tf.Tensor, y: tf.Tensor) => tf.Tensor]>([
  ["sigmoid", tf.sigmoid, (dy, y) => tf.mul(dy, tf.mul(y, tf.sub(1, y)))],
  ["tanh", tf.tanh, (dy, y) => tf.mul(tf.sub(1, tf.square(y)), dy)],
])("gives the gradient of %s the bits of the composed operations", async (_, activation, composed) => {
  const [x, weights] = [values([3, 7], 1), values([3, 7], 2)];
  const fused = await on("wasm", () => tf.grad((at) => tf.sum(tf.mul(activation(at), weights)))(x));
  expect(fused).toEqual(await on("wasm", () => composed(weights, activation(x))));
});

describe("slices and splits", () => {
  it.each([
    ["5", "1", "3"],
    ["4x3", "1x0", "2x3"],
    ["4x3", "0x1", "4x2"],
    ["2x4x3", "1x1x0", "1x2x3"],
    ["2x4x3", "0x1x1", "2x2x1"],
    ["2x3x2x2", "0x1x0x1", "2x2x2x1"],
    ["2x3x2x2", "0x0x0x0", "2x0x2x2"],
  ])("copy the elements of %s from %s, %s many", async (...texts) => {
    const [shape, begin, size] = texts.map(shapeOf) as [number[], number[], number[]];
    await expectEqualOnBoth(() => tf.slice(values(shape, 1), begin, size));
  });

  it.each([0, 1, 2])("split along axis %i", async (axis) => {
    for (const part of [0, 1]) {
      await expectEqualOnBoth(() => tf.split(values([4, 2, 6], 1), 2, axis)[part] as tf.Tensor);
    }
  });

  it("refuse what is outside", () => {
    expect(() => tf.slice(values([4, 3], 1), [3, 0], [2, 3])).toThrow(/begin/);
  });
});

describe("gather", () => {
  it.each([
    ["a column of each row", [4, 3], [2, 0, 1, 1], 1],
    ["two inner rows of each matrix", [2, 2, 3, 2], [2, 0, 1, 1], 2],
  ] as const)("with indices by row: %s", async (_, shape, indices, axis) => {
    const places = () => tf.tensor2d([...indices], [shape[0], indices.length / shape[0]], "int32");
    await expectEqualOnBoth(() => tf.gather(values(shape, 1), places(), axis, 1));
  });

  it("refuses indices of other rows", async () => {
    await tf.setBackend("wasm");
    const gather = () => tf.gather(values([3, 2], 1), tf.tensor2d([[0], [1]], [2, 1], "int32"), 1, 1);
    expect(() => tf.tidy(gather)).toThrow("x.shape[0]: 3 should be equal to indices.shape[0]: 2");
  });

  it.each([0, 1, -1])("copies along axis %p", async (axis) => {
    const gathered = (dtype: "float32" | "int32") => () =>
      tf.gather(tf.cast(tf.mul(values([3, 4, 2], 1), 100), dtype), tf.tensor2d([[1, 0, 1]], [1, 3], "int32"), axis);
    await expectEqualOnBoth(gathered("float32"));
    await expectEqualOnBoth(gathered("int32"));
  });

  it.each([-1, 3])("refuses the index %p of three rows", async (index) => {
    const gather = () => tf.gather(values([3, 2], 1), tf.tensor1d([0, index], "int32"));
    await tf.setBackend("wasm");
    expect(() => tf.tidy(gather)).toThrow(`index ${index} is not in [0, 2]`);
  });
});

describe("the LSTM's activations", () => {
  const activate = async (inputs: readonly number[]) => {
    await tf.setBackend("wasm");
    return tf.tidy(() => {
      const units = inputs.length;
      const z = tf.tensor([...inputs, ...inputs, ...inputs, ...inputs], [1, 4 * units]);
      const outputs = tf
        .engine()
        .runKernel(lstmSequenceKernel, { z, kernel: tf.zeros([units, 4 * units]) }, { time: 1 });
      const [h, gates] = (outputs as tf.Tensor[]).map((each) => each.dataSync()) as [Float32Array, Float32Array];
      return { sigmoid: gates.slice(0, units), tanh: gates.slice(2 * units, 3 * units), h };
    });
  };

  it("are precise for every size of input", async () => {
    const inputs = Array.from({ length: 2_003 }, (_, i) => ((i - 1_001) / 1_001) ** 3 * 100);
    const { sigmoid, tanh } = await activate(inputs.map(Math.fround));
    inputs.map(Math.fround).forEach((x, i) => {
      expect(Math.abs(sigmoid[i]! - 1 / (1 + Math.exp(-x)))).toBeLessThan(1.5e-7);
      expect(Math.abs(tanh[i]! - Math.tanh(x))).toBeLessThanOrEqual(4e-7 * Math.abs(Math.tanh(x)));
    });
  });

  it("have the same bits at every position, and keep NaN and infinity apart from it", async () => {
    const inputs = [0.3, 0.3, 0.3, 0.3, 0.3, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0.3];
    const { sigmoid, tanh, h } = await activate(inputs);
    for (const outputs of [sigmoid, tanh, h]) {
      expect(new Set([0, 1, 2, 3, 4, 8].map((at) => outputs[at])).size).toBe(1);
      expect(outputs[5]).toBeNaN();
    }
    expect([sigmoid[6], tanh[6], tanh[7]]).toEqual([1, 1, -1]);
    expect(sigmoid[7]).toBeCloseTo(0, 30);
  });
});
