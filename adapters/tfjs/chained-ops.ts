/**
 * The method forms of the operations (`x.relu()`), which layers and user code use. TensorFlow.js adds them only in its
 * union package, which also loads the WebGL and plain JavaScript backends. Here each method calls its function.
 */
import * as tf from "@tensorflow/tfjs-core";

const operations =
  `abs acos acosh add all any argMax argMin asin asinh atan atan2 atanh avgPool batchNorm batchToSpaceND
  broadcastTo cast ceil clipByValue conv1d conv2d conv2dTranspose cos cosh cumprod cumsum depthToSpace depthwiseConv2d
  dilation2d div divNoNan dot elu equal erf euclideanNorm exp expandDims expm1 fft floor floorDiv gather greater greaterEqual
  ifft irfft isFinite isInf isNaN leakyRelu less lessEqual localResponseNormalization log log1p logicalAnd logicalNot logicalOr
  logicalXor logSigmoid logSoftmax logSumExp matMul max maximum maxPool mean min minimum mirrorPad mod mul neg norm notEqual
  oneHot onesLike pad pool pow prelu prod reciprocal relu relu6 reshape reverse rfft round rsqrt selu separableConv2d sigmoid
  sign sin sinh slice softmax softplus spaceToBatchND split sqrt square squaredDifference squeeze step stridedSlice sub sum tan
  tanh tile topk transpose unique unsortedSegmentSum unstack zerosLike`.split(/\s+/);

type Method = (this: tf.Tensor, ...rest: never[]) => unknown;

const listOf = (others: tf.Tensor | readonly tf.Tensor[]): readonly tf.Tensor[] =>
  Array.isArray(others) ? (others as readonly tf.Tensor[]) : [others as tf.Tensor];

/** The methods that differ from the function with the tensor as first argument. */
const special: Readonly<Record<string, Method>> = {
  asScalar() {
    return tf.reshape(this, []);
  },
  asType(dtype: tf.DataType) {
    return tf.cast(this, dtype);
  },
  toBool() {
    return tf.cast(this, "bool");
  },
  toFloat() {
    return tf.cast(this, "float32");
  },
  toInt() {
    return tf.cast(this, "int32");
  },
  flatten() {
    return tf.reshape(this, [this.size]);
  },
  as1D() {
    return tf.reshape(this, [this.size]);
  },
  reshapeAs(other: tf.Tensor) {
    return tf.reshape(this, other.shape);
  },
  concat(others: tf.Tensor | readonly tf.Tensor[], axis?: number) {
    return tf.concat([this, ...listOf(others)], axis);
  },
  stack(others: tf.Tensor | readonly tf.Tensor[], axis?: number) {
    return tf.stack([this, ...listOf(others)], axis);
  },
  where(condition: tf.Tensor, otherwise: tf.Tensor) {
    return tf.where(condition, this, otherwise);
  },
  resizeBilinear(size: [number, number], alignCorners?: boolean, halfPixelCenters?: boolean) {
    return tf.image.resizeBilinear(this as tf.Tensor4D, size, alignCorners, halfPixelCenters);
  },
  resizeNearestNeighbor(size: [number, number], alignCorners?: boolean, halfPixelCenters?: boolean) {
    return tf.image.resizeNearestNeighbor(this as tf.Tensor4D, size, alignCorners, halfPixelCenters);
  },
};

/** Adds the missing methods. Existing methods are not changed. */
export function registerChainedOps(): void {
  const functions = tf as unknown as Record<string, (...args: unknown[]) => unknown>;
  const prototype = tf.Tensor.prototype as unknown as Record<string, unknown>;
  for (const name of operations) {
    const operation = functions[name];
    if (!operation) throw new Error(`TensorFlow.js has no operation '${name}'.`);
    prototype[name] ??= function (this: tf.Tensor, ...rest: unknown[]): unknown {
      return operation(this, ...rest);
    };
  }
  for (const [name, method] of Object.entries(special)) prototype[name] ??= method;
  for (const name of ["as2D", "as3D", "as4D", "as5D"]) {
    prototype[name] ??= function (this: tf.Tensor, ...shape: number[]): unknown {
      return tf.reshape(this, shape);
    };
  }
}
