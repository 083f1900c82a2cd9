/**
 * Operations that TensorFlow.js composes or lacks, as one each: gradients of activations, a bias that oneDNN joins in
 * graphs with the product before and the ReLU after it, and counts of values by row.
 * Rows are looked up without reading the indices, because a graph cannot. The GPU kernel returns zeros for one out of
 * range, so such rows become NaN, which fails the run; the CPU's refuses it.
 */
import * as tf from "@tensorflow/tfjs-core";
import { attributesOf, type NativeBackend, nativeBackendName, replaceKernel } from "./operations";

interface ActivationGradient {
  readonly activation: string;
  readonly op: string;
  readonly gradientFirst: boolean;
}

/** All take the output. ReLU's may take the input, but a graph then could not compute both in the layer before it. */
const gradients: readonly ActivationGradient[] = [
  { activation: tf.Relu, op: "ReluGrad", gradientFirst: true },
  { activation: tf.Relu6, op: "Relu6Grad", gradientFirst: true },
  { activation: tf.Selu, op: "SeluGrad", gradientFirst: true },
  { activation: tf.Tanh, op: "TanhGrad", gradientFirst: false },
  { activation: tf.Sigmoid, op: "SigmoidGrad", gradientFirst: false },
];

/** Registers the gradients for this process, which has one backend. */
export function registerActivationGradients(backend: NativeBackend): void {
  const attributes = [attributesOf(backend.binding).float("T")];
  for (const { activation, op, gradientFirst } of gradients) {
    const kernelName = `Native${op}`;
    tf.registerKernel({
      kernelName,
      backendName: "tensorflow",
      kernelFunc: ({ inputs }) => {
        const { dy, value } = inputs as { dy: tf.TensorInfo; value: tf.TensorInfo };
        return backend.executeSingleOutput(op, attributes, gradientFirst ? [dy, value] : [value, dy]);
      },
    });
    tf.registerGradient({
      kernelName: activation,
      outputsToSave: [true],
      gradFunc: (dy, saved) => ({
        x: () => tf.engine().runKernel(kernelName, { dy: dy as tf.Tensor, value: saved[0] as tf.Tensor }) as tf.Tensor,
      }),
    });
  }
}

export function registerAdd(backend: NativeBackend): void {
  const stock = tf.getKernel(tf.Add, nativeBackendName).kernelFunc;
  const { float, text } = attributesOf(backend.binding);
  const attributes = [float("T"), text("data_format", "NHWC")];
  replaceKernel(tf.Add, (call) => {
    const { a, b } = call.inputs as { a: tf.Tensor; b: tf.Tensor };
    const isBias = (a.rank === 4 || a.rank === 2) && b.rank === 1 && b.size > 1 && b.size === a.shape.at(-1);
    if (!isBias || a.dtype !== "float32" || b.dtype !== "float32") return stock(call);
    return backend.executeSingleOutput("BiasAdd", attributes, [a, b]);
  });
}

export function registerBincount(backend: NativeBackend): void {
  const { float, int32, flag } = attributesOf(backend.binding);
  replaceKernel(tf.DenseBincount, ({ inputs, attrs }) => {
    const { x, weights } = inputs as { x: tf.TensorInfo; weights: tf.TensorInfo };
    const { size, binaryOutput } = attrs as unknown as tf.DenseBincountAttrs;
    const attributes = [int32("Tidx"), float("T"), flag("binary_output", binaryOutput === true)];
    const bins = tf.scalar(size, "int32");
    const counts = backend.executeSingleOutput("DenseBincount", attributes, [x, bins, weights]);
    bins.dispose();
    return counts;
  });
}

export function registerGather(backend: NativeBackend): void {
  const { binding } = backend;
  const { int32 } = attributesOf(binding);
  replaceKernel(tf.GatherV2, ({ inputs, attrs }) => {
    const { x, indices } = inputs as { x: tf.Tensor; indices: tf.Tensor };
    const { axis, batchDims } = attrs as unknown as tf.GatherV2Attrs;
    tf.backend_util.segment_util.collectGatherOpShapeInfo(x, indices, axis, batchDims); // refuses wrong shapes
    const type = x.dtype === "int32" ? binding.TF_INT32 : x.dtype === "bool" ? binding.TF_BOOL : binding.TF_FLOAT;
    const attributes = [
      { name: "batch_dims", type: binding.TF_ATTR_INT, value: batchDims },
      { name: "Tparams", type: binding.TF_ATTR_TYPE, value: type },
      int32("Tindices"),
      int32("Taxis"),
    ];
    const axisTensor = tf.scalar(axis, "int32");
    const result = backend.executeSingleOutput("GatherV2", attributes, [x, indices, axisTensor]);
    axisTensor.dispose();
    if (!binding.isUsingGpuDevice() || x.dtype !== "float32") return result;
    return tf.tidy(() => tf.add(result as tf.Tensor, nanOutOfRange(x.shape, indices, axis, batchDims)));
  });
}

/** 0 for each index that `x` has along the axis, NaN for any other; broadcasts to the gathered rows. */
export function nanOutOfRange(
  shape: readonly number[],
  indices: tf.Tensor,
  axis: number,
  batchDims: number,
): tf.Tensor {
  const ones = (length: number): number[] => new Array<number>(length).fill(1);
  const [batches, rest] = [indices.shape.slice(0, batchDims), indices.shape.slice(batchDims)];
  const inside = tf.logicalAnd(tf.greaterEqual(indices, 0), tf.less(indices, shape[axis] as number));
  const added = tf.where(inside, tf.zeros(indices.shape), tf.fill(indices.shape, Number.NaN));
  return tf.reshape(added, [...batches, ...ones(axis - batchDims), ...rest, ...ones(shape.length - axis - 1)]);
}
