import * as tf from "@tensorflow/tfjs-core";
import type { Engine } from "../../../trainer-container/engine/engine";
import { seededRandom } from "../../../trainer-container/engine/seeded-random";
import { movedAtOnce } from "./contract";

interface Case {
  readonly shapes: readonly (readonly number[])[];
  readonly compute: (...inputs: tf.Tensor[]) => tf.Tensor;
  /** Maximum number of the backend's operations in the forward and the backward pass. */
  readonly operations?: number | undefined;
}

/** @param shapes of the inputs: `2x3 3` */
const of = (shapes: string, compute: (...inputs: never[]) => tf.Tensor, operations?: number): Case => ({
  shapes: shapes.split(" ").map((shape) => shape.split("x").map(Number)),
  compute: compute as Case["compute"], // inputs of the ranks that it takes
  operations,
});

const normalize: Case["compute"] = (x, mean, variance, offset?: tf.Tensor, scale?: tf.Tensor) =>
  tf.batchNorm(x as tf.Tensor1D, mean as tf.Tensor1D, variance as tf.Tensor1D, offset as never, scale as never, 0.01);

const cases: Readonly<Record<string, Case>> = {
  "tile along each axis of a matrix": of("2x3", (x) => tf.tile(x, [4, 5]), 14),
  "tile of a column, as layer normalization uses it": of("2x3x3x1", (x) => tf.tile(x, [1, 1, 1, 8]), 14),
  "tile of a row, as layer normalization uses it": of("1x1x1x5", (x) => tf.tile(x, [2, 3, 3, 1]), 14),
  "tile of rank 5": of("2x1x2x1x2", (x) => tf.tile(x, [1, 3, 2, 2, 1]), 14),
  "tile without a repetition": of("2x3", (x) => tf.tile(x, [1, 1]), 12),
  "enlarged images, as up-sampling makes them": of("2x3x2x2", (x) => tf.image.resizeNearestNeighbor(x, [6, 6]), 14),
  "images enlarged by a fraction": of("1x2x2x2", (x) => tf.image.resizeNearestNeighbor(x, [3, 5])),
  ...Object.fromEntries(
    (["resizeBilinear", "resizeNearestNeighbor"] as const).flatMap((name) =>
      [3, 1]
        .map((height): [number, number] => [height, Math.ceil(1.6 * height)])
        .map((size) => [
          `${name} to ${size}, with centers at half pixels`,
          of("2x2x4x2", (x) => tf.image[name](x, size, false, true)),
        ]),
    ),
  ),
  "dilation of images": of("2x5x4x2 2x3x2", (x, filter) => tf.dilation2d(x, filter, [2, 1], "same", 1)),
  "dilation of images with gaps": of("1x5x5x1 2x2x1", (x, filter) => tf.dilation2d(x, filter, 1, "valid", 2)),
  "batch normalization by channel": of("2x3x2x4 4 4 4 4", normalize, 60),
  "batch normalization without scale": of("2x3x2x4 4 4 4", normalize, 60),
  "batch normalization without scale and offset": of("2x3x2x4 4 4", normalize, 60),
  "normalization by statistics of another axis": of("2x3x2x2 1x3x1x1 1x3x1x1 1x3x1x1 1x3x1x1", normalize, 60),
  "normalization of a matrix by statistics in its shape": of("3x4 3x4 3x4 3x4 3x4", normalize, 60),
  "product of equal shapes": of("2x3 2x3", (a, b) => tf.mul(a, b)),
  "product with broadcast axes on both sides": of("2x1x3 4x1", (a, b) => tf.mul(a, b)),
  "product with integers": of("3", (x) => tf.mul(x, tf.tensor1d([1, 2, 3], "int32"))),
  "sigmoid of a length that is no multiple of a vector's": of("7", (x) => tf.sigmoid(tf.sub(x, 1))),
  "tanh of a length that is no multiple of a vector's": of("7", (x) => tf.tanh(tf.sub(x, 1))),
  "rectifier of a length that is no multiple of a vector's": of("7", (x) => tf.relu(tf.sub(x, 1))),
  "mean over the first axes": of("2x3x4", (x) => tf.mean(x, [0, 1])),
  "mean over an inner axis, kept": of("2x3x4", (x) => tf.mean(x, 1, true)),
  "sum over the last axis": of("2x3x4", (x) => tf.sum(x, -1)),
  "sum of all": of("2x3", (x) => tf.sum(x)),
  "average pooling with padding": of("1x3x5x2", (x) => tf.avgPool(x, 3, 2, "same")),
  "average pooling of a volume with padding": of("1x3x2x3x2", (x) => tf.avgPool3d(x, 2, 2, "same")),
  "convolution of a volume": of("1x3x2x3x2 2x2x2x2x3", (x, filter) => tf.conv3d(x, filter, 1, "same")),
  "convolution of a volume with strides": of("1x3x4x3x2 2x2x2x2x3", (x, filter) => tf.conv3d(x, filter, 2, "valid")),
};

const binary = [
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
] as const;

/** A row before, a column after. */
const sides = [0, 1].map((axis): [number, number] => [1 - axis, axis]);
const noCrops = [0, 0].map(() => [0, 0]);

const unary: readonly (readonly [string, (x: tf.Tensor) => tf.Tensor])[] = [
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
  ["pad", (x) => tf.pad(x, sides)],
  ["mirrored pad", (x) => tf.mirrorPad(x, sides, "reflect")],
  ["symmetric pad", (x) => tf.mirrorPad(x, sides, "symmetric")],
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
  ["gather of places", (x) => tf.gatherND(x, tf.tensor2d([0, 1, 1, 2, 0, 1], [3, 2], "int32"))],
  ["concat", (x) => tf.concat([x, tf.square(x)], 1)],
  ["outer product", (x) => tf.outerProduct(tf.reshape(x, [6]), tf.reshape(tf.square(x), [6]))],
  ["dot", (x) => tf.dot(x, tf.transpose(tf.square(x)))],
  ["einsum", (x) => tf.einsum("ij,kj->ik", x, tf.square(x))],
  ["band part", (x) => tf.linalg.bandPart(x, 0, 1)],
  ["segment sum", (x) => tf.unsortedSegmentSum(x, tf.tensor1d([1, 1], "int32"), 2)],
  ["broadcast", (x) => tf.broadcastTo(x, [4, 2, 3])],
  ["batch to space", (x) => tf.spaceToBatchND(tf.reshape(x, [1, 2, 3, 1]), [1, 3], noCrops)],
  ["space to batch", (x) => tf.batchToSpaceND(tf.reshape(x, [2, 3, 1, 1]), [1, 2], noCrops)],
  ["depth to space", (x) => tf.depthToSpace(tf.reshape(tf.concat([x, x], 0), [1, 1, 3, 4]), 2, "NHWC")],
  ["resize bilinear", (x) => tf.image.resizeBilinear(tf.reshape(x, [1, 2, 3, 1]) as tf.Tensor4D, [4, 6])],
  ["product with a floored quotient", (x) => tf.mul(x, tf.floorDiv(tf.mul(x, 7), tf.scalar(2)))],
  ["resize nearest", (x) => tf.image.resizeNearestNeighbor(tf.reshape(x, [1, 2, 3, 1]) as tf.Tensor4D, [4, 6])],
  ["local response normalization", (x) => tf.localResponseNormalization(tf.reshape(x, [1, 1, 2, 3]) as tf.Tensor4D)],
  ["huber loss", (x) => tf.losses.huberLoss(tf.ones([2, 3]), tf.mul(x, 2))],
  ["sigmoid cross entropy", (x) => tf.losses.sigmoidCrossEntropy(tf.ones([2, 3]), x)],
  ["softmax cross entropy", (x) => tf.losses.softmaxCrossEntropy(tf.oneHot([1, 2], 3), x)],
];

/** Operations that users write in losses and layers, by their arguments. */
const userCases: Readonly<Record<string, Case>> = {
  ...Object.fromEntries(
    binary.flatMap(([name, operation]) =>
      ["2x3 2x3", "2x3 3", "2x1 2x3"].map((shapes) => [`${name} of ${shapes}`, of(shapes, operation)]),
    ),
  ),
  ...Object.fromEntries(unary.map(([name, compute]) => [name, of("2x3", compute)])),
  "matrix product in batches that are broadcast": of("2x2x3 3x2", (a, b) => tf.matMul(a, b)),
  "matrix product transposed": of("3x2 4x3", (a, b) => tf.matMul(a, b, true, true)),
  prelu: of("2x3 3", (x, alpha) => tf.prelu(tf.sub(x, 1), alpha)),
  "convolution of a sequence": of("1x5x2 3x2x2", (x, f) => tf.conv1d(x, f, 1, "same")),
  "dilated convolution of a sequence": of("1x6x2 3x2x2", (x, f) => tf.conv1d(x, f, 1, "valid", "NWC", 2)),
  "dilated convolution": of("1x5x5x2 2x2x2x2", (x, f) => tf.conv2d(x, f, 1, "same", "NHWC", 2)),
  "dilated depthwise convolution": of("1x5x5x2 2x2x2x2", (x, f) => tf.depthwiseConv2d(x, f, 1, "same", "NHWC", 2)),
  "convolution with strides": of("1x5x5x2 3x3x2x2", (x, f) => tf.conv2d(x, f, 2, "same")),
  "convolution with explicit padding": of("1x4x4x1 3x3x1x2", (x, f) => tf.conv2d(x, f, 1, 1)),
  "transposed convolution": of("1x3x3x2 2x2x3x2", (x, f) => tf.conv2dTranspose(x, f, [1, 6, 6, 3], 2, "same")),
  "depthwise convolution with strides": of("1x5x5x2 3x3x2x2", (x, f) => tf.depthwiseConv2d(x, f, 2, "same")),
  "separable convolution": of("1x4x4x2 2x2x2x1 1x1x2x3", (x, d, p) => tf.separableConv2d(x, d, p, 1, "same")),
  "maximum pooling": of("1x4x4x2", (x) => tf.maxPool(x, 2, 2, "valid")),
  "maximum pooling of a volume": of("1x2x2x2x1", (x) => tf.maxPool3d(x, 2, 2, "valid")),
  "transposed convolution of a volume": of("1x2x2x2x2 2x2x2x1x2", (x, f) =>
    tf.conv3dTranspose(x, f, [1, 4, 4, 4, 1], 2, "same"),
  ),
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
