/**
 * Looks rows up without reading the indices, because a graph cannot read them. TensorFlow's CPU kernel refuses an index out of
 * range. Its GPU kernel returns zeros for it, so on a GPU float rows of such an index become NaN, which fails the run.
 */
import * as tf from "@tensorflow/tfjs-core";
import { attributesOf, type NativeBackend, replaceKernel } from "./op";

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

/**
 * Returns 0 for each index that `x` has along the axis, and NaN for any other.
 *
 * @returns a tensor whose shape broadcasts to the shape of the gathered rows
 */
export function nanOutOfRange(
  shape: readonly number[],
  indices: tf.Tensor,
  axis: number,
  batchDims: number,
): tf.Tensor {
  const ones = (length: number): number[] => new Array<number>(length).fill(1);
  const [batches, own] = [indices.shape.slice(0, batchDims), indices.shape.slice(batchDims)];
  const inside = tf.logicalAnd(tf.greaterEqual(indices, 0), tf.less(indices, shape[axis] as number));
  const added = tf.where(inside, tf.zeros(indices.shape), tf.fill(indices.shape, Number.NaN));
  return tf.reshape(added, [...batches, ...ones(axis - batchDims), ...own, ...ones(shape.length - axis - 1)]);
}
