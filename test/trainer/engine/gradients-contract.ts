import * as tf from "@tensorflow/tfjs-core";
import type { Engine } from "../../../trainer-container/engine/engine";
import { seededRandom } from "../../../trainer-container/engine/seeded-random";
import { movedAtOnce } from "./contract";

interface Case {
  readonly shapes: readonly (readonly number[])[];
  readonly compute: (...inputs: tf.Tensor[]) => tf.Tensor;
  /** Maximum number of the backend's operations in the forward and the backward pass. */
  readonly operations?: number;
}

const normalize = (x: tf.Tensor, mean: tf.Tensor, variance: tf.Tensor, offset?: tf.Tensor, scale?: tf.Tensor) =>
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
  "enlarged images, as up-sampling makes them": {
    shapes: [[2, 3, 2, 2]],
    compute: (x) => tf.image.resizeNearestNeighbor(x as tf.Tensor4D, [6, 6]),
    operations: 14,
  },
  "images enlarged by a fraction": {
    shapes: [[1, 2, 2, 2]],
    compute: (x) => tf.image.resizeNearestNeighbor(x as tf.Tensor4D, [3, 5]),
  },
  "dilation of images": {
    shapes: [
      [2, 5, 4, 2],
      [2, 3, 2],
    ],
    compute: (x, filter) => tf.dilation2d(x as tf.Tensor4D, filter as tf.Tensor3D, [2, 1], "same", 1),
  },
  "dilation of images with gaps": {
    shapes: [
      [1, 5, 5, 1],
      [2, 2, 1],
    ],
    compute: (x, filter) => tf.dilation2d(x as tf.Tensor4D, filter as tf.Tensor3D, 1, "valid", 2),
  },
  "images enlarged with centers at half pixels, bilinear": {
    shapes: [[2, 2, 4, 2]],
    compute: (x) => tf.image.resizeBilinear(x as tf.Tensor4D, [3, 5], false, true),
  },
  "images reduced with centers at half pixels, bilinear": {
    shapes: [[2, 2, 4, 2]],
    compute: (x) => tf.image.resizeBilinear(x as tf.Tensor4D, [1, 2], false, true),
  },
  "images enlarged with centers at half pixels, nearest": {
    shapes: [[2, 2, 4, 2]],
    compute: (x) => tf.image.resizeNearestNeighbor(x as tf.Tensor4D, [3, 5], false, true),
  },
  "images reduced with centers at half pixels, nearest": {
    shapes: [[2, 2, 4, 2]],
    compute: (x) => tf.image.resizeNearestNeighbor(x as tf.Tensor4D, [1, 2], false, true),
  },
  "tile without a repetition": { shapes: [[2, 3]], compute: (x) => tf.tile(x, [1, 1]), operations: 12 },
  "batch normalization by channel": {
    shapes: [[2, 3, 2, 4], [4], [4], [4], [4]],
    compute: (x, mean, variance, offset, scale) => normalize(x!, mean!, variance!, offset!, scale!),
    operations: 60,
  },
  "batch normalization without scale": {
    shapes: [[2, 3, 2, 4], [4], [4], [4]],
    compute: (x, mean, variance, offset) => normalize(x!, mean!, variance!, offset!),
    operations: 60,
  },
  "batch normalization without scale and offset": {
    shapes: [[2, 3, 2, 4], [4], [4]],
    compute: (x, mean, variance) => normalize(x!, mean!, variance!),
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

const matrix = [2, 3];
const row = [3];

/** Operations that users write in losses and layers, by their arguments. */
const userCases: Readonly<Record<string, Case>> = {
  ...Object.fromEntries(
    (
      [
        ["add", tf.add],
        ["subtract", tf.sub],
        ["divide", tf.div],
        ["maximum", tf.maximum],
        ["minimum", tf.minimum],
        ["squared difference", tf.squaredDifference],
        ["power", tf.pow],
        ["arc tangent of two", tf.atan2],
        ["division without NaN", tf.divNoNan],
        ["remainder", tf.mod],
      ] as const
    ).flatMap(([name, operation]) => [
      [
        `${name} of equal shapes`,
        { shapes: [matrix, matrix], compute: (a: tf.Tensor, b: tf.Tensor) => operation(a, b) },
      ],
      [`${name} with a row`, { shapes: [matrix, row], compute: (a: tf.Tensor, b: tf.Tensor) => operation(a, b) }],
      [
        `${name} of a column with a matrix`,
        { shapes: [[2, 1], matrix], compute: (a: tf.Tensor, b: tf.Tensor) => operation(a, b) },
      ],
    ]),
  ),
  ...Object.fromEntries(
    (
      [
        ["abs", tf.abs],
        ["acosh of more than one", (x) => tf.acosh(tf.add(x, 1))],
        ["asinh", tf.asinh],
        ["atan", tf.atan],
        ["atanh", (x) => tf.atanh(tf.div(x, 2))],
        ["asin", (x) => tf.asin(tf.div(x, 2))],
        ["acos", (x) => tf.acos(tf.div(x, 2))],
        ["cos", tf.cos],
        ["cosh", tf.cosh],
        ["clip", (x) => tf.clipByValue(x, 0.6, 1.25)],
        ["cumulative sum", (x) => tf.cumsum(x, 1)],
        ["cumulative sum along the first axis, reversed and exclusive", (x) => tf.cumsum(x, 0, true, true)],
        ["cumulative product", (x) => tf.cumprod(x, 1)],
        ["elu", (x) => tf.elu(tf.sub(x, 1))],
        ["erf", tf.erf],
        ["exp", tf.exp],
        ["expm1", tf.expm1],
        ["euclidean norm", (x) => tf.euclideanNorm(x, 1)],
        ["norm", (x) => tf.norm(x, 2, 1)],
        ["leaky relu", (x) => tf.leakyRelu(tf.sub(x, 1))],
        ["log", tf.log],
        ["log1p", tf.log1p],
        ["log sigmoid", tf.logSigmoid],
        ["log softmax", (x) => tf.logSoftmax(x)],
        ["log sum exp", (x) => tf.logSumExp(x, 1)],
        ["max", (x) => tf.max(x, 1)],
        ["min", (x) => tf.min(x, 0)],
        ["prod", (x) => tf.prod(x, 1)],
        ["reciprocal", tf.reciprocal],
        ["relu6", tf.relu6],
        ["reverse", (x) => tf.reverse(x, 1)],
        ["rsqrt", tf.rsqrt],
        ["selu", (x) => tf.selu(tf.sub(x, 1))],
        ["sin", tf.sin],
        ["sinh", tf.sinh],
        ["slice", (x) => tf.slice(x, [0, 1], [2, 2])],
        ["softmax", (x) => tf.softmax(x)],
        ["softplus", tf.softplus],
        ["split", (x) => tf.mul(...(tf.split(x, [1, 2], 1) as [tf.Tensor, tf.Tensor]))],
        ["sqrt", tf.sqrt],
        ["square", tf.square],
        ["stack", (x) => tf.stack([x, tf.square(x)], 1)],
        ["strided slice", (x) => tf.stridedSlice(x, [0, 0], [2, 3], [1, 2])],
        ["tan", (x) => tf.tan(tf.div(x, 2))],
        ["top k", (x) => tf.topk(x, 2).values],
        ["transpose", (x) => tf.transpose(x)],
        ["unstack", (x) => tf.mul(...(tf.unstack(x, 0) as [tf.Tensor, tf.Tensor]))],
        ["where", (x) => tf.where(tf.greater(x, 1), tf.square(x), tf.neg(x))],
        [
          "pad",
          (x) =>
            tf.pad(x, [
              [1, 0],
              [0, 2],
            ]),
        ],
        [
          "mirrored pad",
          (x) =>
            tf.mirrorPad(
              x,
              [
                [1, 0],
                [0, 1],
              ],
              "reflect",
            ),
        ],
        [
          "symmetric pad",
          (x) =>
            tf.mirrorPad(
              x,
              [
                [1, 0],
                [0, 1],
              ],
              "symmetric",
            ),
        ],
        ["gather", (x) => tf.gather(x, [2, 0, 2], 1)],
        ["gather at the places of the largest", (x) => tf.gather(tf.square(x), tf.topk(x, 2).indices, 1, 1)],
        [
          "gather of places of the largest",
          (x) => tf.gatherND(tf.reshape(tf.square(x), [6]), tf.reshape(tf.topk(tf.reshape(x, [6]), 2).indices, [2, 1])),
        ],
        [
          "drawn classes",
          (x) => tf.add(tf.square(x), tf.mul(tf.sum(tf.cast(tf.multinomial(x as tf.Tensor2D, 1, 7), "float32")), 0)),
        ],
        [
          "gather of places",
          (x) =>
            tf.gatherND(x, [
              [0, 1],
              [1, 2],
              [0, 1],
            ]),
        ],
        ["concat", (x) => tf.concat([x, tf.square(x)], 1)],
        ["outer product", (x) => tf.outerProduct(tf.reshape(x, [6]), tf.reshape(tf.square(x), [6]))],
        ["dot", (x) => tf.dot(x, tf.transpose(tf.square(x)))],
        ["einsum", (x) => tf.einsum("ij,kj->ik", x, tf.square(x))],
        [
          "moments",
          (x) => {
            const { mean, variance } = tf.moments(x, 1);
            return tf.add(mean, variance);
          },
        ],
        ["variance by squared difference", (x) => tf.mean(tf.squaredDifference(x, tf.mean(x, 1, true)), 1)],
        ["band part", (x) => tf.linalg.bandPart(x, 0, 1)],
        ["segment sum", (x) => tf.unsortedSegmentSum(x, tf.tensor1d([1, 1], "int32"), 2)],
        ["broadcast", (x) => tf.broadcastTo(x, [4, 2, 3])],
        [
          "batch to space",
          (x) =>
            tf.spaceToBatchND(
              tf.reshape(x, [1, 2, 3, 1]),
              [1, 3],
              [
                [0, 0],
                [0, 0],
              ],
            ),
        ],
        [
          "space to batch",
          (x) =>
            tf.batchToSpaceND(
              tf.reshape(x, [2, 3, 1, 1]),
              [1, 2],
              [
                [0, 0],
                [0, 0],
              ],
            ),
        ],
        ["depth to space", (x) => tf.depthToSpace(tf.reshape(tf.concat([x, x], 0), [1, 1, 3, 4]), 2, "NHWC")],
        ["resize bilinear", (x) => tf.image.resizeBilinear(tf.reshape(x, [1, 2, 3, 1]) as tf.Tensor4D, [4, 6])],
        ["product with a floored quotient", (x) => tf.mul(x, tf.floorDiv(tf.mul(x, 7), tf.scalar(2)))],
        ["resize nearest", (x) => tf.image.resizeNearestNeighbor(tf.reshape(x, [1, 2, 3, 1]) as tf.Tensor4D, [4, 6])],
        [
          "local response normalization",
          (x) => tf.localResponseNormalization(tf.reshape(x, [1, 1, 2, 3]) as tf.Tensor4D),
        ],
        ["huber loss", (x) => tf.losses.huberLoss(tf.ones([2, 3]), tf.mul(x, 2))],
        ["hinge loss", (x) => tf.losses.hingeLoss(tf.ones([2, 3]), x)],
        ["cosine distance", (x) => tf.losses.cosineDistance(tf.ones([2, 3]), x, 1)],
        ["absolute difference", (x) => tf.losses.absoluteDifference(tf.ones([2, 3]), x)],
        ["log loss", (x) => tf.losses.logLoss(tf.ones([2, 3]), tf.div(x, 2))],
        ["sigmoid cross entropy", (x) => tf.losses.sigmoidCrossEntropy(tf.ones([2, 3]), x)],
        ["softmax cross entropy", (x) => tf.losses.softmaxCrossEntropy(tf.oneHot([1, 2], 3), x)],
      ] as readonly [string, (x: tf.Tensor) => tf.Tensor][]
    ).map(([name, compute]) => [name, { shapes: [matrix], compute: (x: tf.Tensor) => compute(x) }]),
  ),
  "matrix product in batches that are broadcast": {
    shapes: [
      [2, 2, 3],
      [3, 2],
    ],
    compute: (a, b) => tf.matMul(a!, b!),
  },
  "matrix product transposed": {
    shapes: [
      [3, 2],
      [4, 3],
    ],
    compute: (a, b) => tf.matMul(a!, b!, true, true),
  },
  prelu: { shapes: [matrix, row], compute: (x, alpha) => tf.prelu(tf.sub(x!, 1), alpha!) },
  "convolution of a sequence": {
    shapes: [
      [1, 5, 2],
      [3, 2, 2],
    ],
    compute: (x, f) => tf.conv1d(x as tf.Tensor3D, f as tf.Tensor3D, 1, "same"),
  },
  "dilated convolution of a sequence": {
    shapes: [
      [1, 6, 2],
      [3, 2, 2],
    ],
    compute: (x, f) => tf.conv1d(x as tf.Tensor3D, f as tf.Tensor3D, 1, "valid", "NWC", 2),
  },
  "dilated convolution": {
    shapes: [
      [1, 5, 5, 2],
      [2, 2, 2, 2],
    ],
    compute: (x, f) => tf.conv2d(x as tf.Tensor4D, f as tf.Tensor4D, 1, "same", "NHWC", 2),
  },
  "dilated depthwise convolution": {
    shapes: [
      [1, 5, 5, 2],
      [2, 2, 2, 2],
    ],
    compute: (x, f) => tf.depthwiseConv2d(x as tf.Tensor4D, f as tf.Tensor4D, 1, "same", "NHWC", 2),
  },
  "convolution with strides": {
    shapes: [
      [1, 5, 5, 2],
      [3, 3, 2, 2],
    ],
    compute: (x, f) => tf.conv2d(x as tf.Tensor4D, f as tf.Tensor4D, 2, "same"),
  },
  "convolution with explicit padding": {
    shapes: [
      [1, 4, 4, 1],
      [3, 3, 1, 2],
    ],
    compute: (x, f) => tf.conv2d(x as tf.Tensor4D, f as tf.Tensor4D, 1, 1),
  },
  "transposed convolution": {
    shapes: [
      [1, 3, 3, 2],
      [2, 2, 3, 2],
    ],
    compute: (x, f) => tf.conv2dTranspose(x as tf.Tensor4D, f as tf.Tensor4D, [1, 6, 6, 3], 2, "same"),
  },
  "depthwise convolution with strides": {
    shapes: [
      [1, 5, 5, 2],
      [3, 3, 2, 2],
    ],
    compute: (x, f) => tf.depthwiseConv2d(x as tf.Tensor4D, f as tf.Tensor4D, 2, "same"),
  },
  "separable convolution": {
    shapes: [
      [1, 4, 4, 2],
      [2, 2, 2, 1],
      [1, 1, 2, 3],
    ],
    compute: (x, d, p) => tf.separableConv2d(x as tf.Tensor4D, d as tf.Tensor4D, p as tf.Tensor4D, 1, "same"),
  },
  "maximum pooling": { shapes: [[1, 4, 4, 2]], compute: (x) => tf.maxPool(x as tf.Tensor4D, 2, 2, "valid") },
  "maximum pooling of a volume": {
    shapes: [[1, 2, 2, 2, 1]],
    compute: (x) => tf.maxPool3d(x as tf.Tensor5D, 2, 2, "valid"),
  },
  "transposed convolution of a volume": {
    shapes: [
      [1, 2, 2, 2, 2],
      [2, 2, 2, 1, 2],
    ],
    compute: (x, f) => tf.conv3dTranspose(x as tf.Tensor5D, f as tf.Tensor5D, [1, 4, 4, 4, 1], 2, "same"),
  },
};

export function describeGradientContract(name: string, start: () => Promise<Engine>): void {
  describe(`gradients of operations: ${name}`, () => {
    beforeAll(async () => {
      await start();
    });

    it.each(Object.entries({ ...cases, ...userCases }))(
      "agrees with central differences: %s",
      (_, { shapes, compute }) => {
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
        const value = (input: number, elements: readonly number[], change: number) =>
          tf.tidy(() => {
            const changed = values.map((each) => each.slice());
            for (const [i, element] of elements.entries()) changed[input]![element]! += change * movedAtOnce[i]!;
            return weigh(...changed.map((each, i) => tf.tensor(each, [...shapes[i]!]))).dataSync()[0] as number;
          });
        const step = 5e-3;
        for (const [input, gradient] of gradients.entries()) {
          const flat = (gradient as number[]).flat(Number.POSITIVE_INFINITY) as number[];
          expect(flat).toHaveLength(values[input]!.length);
          const third = Math.ceil(flat.length / movedAtOnce.length);
          for (let first = 0; first < third; first++) {
            const elements = movedAtOnce.map((_, i) => first + i * third).filter((element) => element < flat.length);
            const slope = elements.reduce((sum, element, i) => sum + movedAtOnce[i]! * flat[element]!, 0);
            const difference = (value(input, elements, step) - value(input, elements, -step)) / (2 * step);
            expect(Math.abs(slope - difference)).toBeLessThan(2e-3 * (1 + Math.abs(difference)));
          }
        }
        expect(tf.memory().numTensors).toBe(before);
      },
    );

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
