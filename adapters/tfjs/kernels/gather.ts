import * as tf from "@tensorflow/tfjs-core";
import { callKernel, dispose, floats, type KernelArguments, replaceKernel } from "./wasm-kernel";

type Gather = KernelArguments<
  Record<"x" | "indices", tf.TensorInfo>,
  { readonly axis: number; readonly batchDims: number }
>;

/** Registers a gather that copies rows, as embeddings need it. The stock kernel computes each element's coordinates. */
export function registerGather(): void {
  replaceKernel<Gather>(tf.GatherV2, (stock) => (args) => {
    const { backend, attrs } = args;
    const { x, indices } = args.inputs;
    if (x.dtype !== "float32" || indices.dtype !== "int32") return stock(args);
    const [axis] = tf.util.parseAxisParam(attrs.axis, x.shape) as [number];
    const [before, after] = [x.shape.slice(0, axis), x.shape.slice(axis + 1)];
    const [outer, rows, width] = [tf.util.sizeFromShape(before), x.shape[axis] as number, tf.util.sizeFromShape(after)];
    const { batchDims } = attrs;
    // Number of first axes that x and the indices have in common.
    const common = batchDims < 0 ? batchDims + indices.shape.length : batchDims;
    if (common !== 0) tf.backend_util.segment_util.collectGatherOpShapeInfo(x, indices, axis, common); // refuses wrong shapes
    const blocks = tf.util.sizeFromShape(x.shape.slice(common, axis));
    const taken = tf.util.sizeFromShape(indices.shape.slice(common));
    const ids = (backend.typedArrayFromHeap(indices) as Int32Array).slice(); // an allocation may move the heap
    for (const id of ids) {
      if (id < 0 || id >= rows)
        throw new RangeError(`gather, of an embedding or tf.gather: index ${id} is not in [0, ${rows - 1}]`);
    }
    const gathered = backend.makeOutput([...before, ...indices.shape.slice(common), ...after], "float32");
    const [from, into] = [floats(backend, x), floats(backend, gathered)];
    let to = 0;
    for (let block = 0; block < outer; block++) {
      const first = Math.floor(block / blocks) * taken;
      for (const id of common === 0 ? ids : ids.subarray(first, first + taken)) {
        const at = (block * rows + id) * width;
        into.set(from.subarray(at, at + width), to);
        to += width;
      }
    }
    return gathered;
  });
}

/**
 * Registers a one-hot that respects the requested type. The stock kernel always writes integers, which are denormals
 * near 0 as float32.
 */
export function registerTypedOneHot(): void {
  type Arguments = KernelArguments<tf.NamedTensorInfoMap, { readonly dtype: tf.DataType }>;
  replaceKernel<Arguments>(tf.OneHot, (stock) => (args) => {
    const integers = stock({ ...args, attrs: { ...args.attrs, dtype: "int32" } });
    if (args.attrs.dtype === "int32") return integers;
    const typed = callKernel(args.backend, tf.Cast, { x: integers }, { dtype: args.attrs.dtype });
    dispose(args.backend, integers);
    return typed;
  });
}

/**
 * Adds row i of x to row `segmentIds[i]` of the result, in order of i. Rows with negative ids are dropped. This is the
 * gradient of a gather, and therefore of an embedding. The stock backend lacks it.
 */
export function unsortedSegmentSum(
  args: KernelArguments<Record<"x" | "segmentIds", tf.TensorInfo>, { readonly numSegments: number }>,
): tf.TensorInfo {
  const { backend, attrs } = args;
  const { x, segmentIds } = args.inputs;
  const rowShape = x.shape.slice(segmentIds.shape.length);
  const rowSize = tf.util.sizeFromShape(rowShape);
  const sums = backend.makeOutput([attrs.numSegments, ...rowShape], "float32");
  const ids = backend.typedArrayFromHeap(segmentIds) as Int32Array;
  const [from, into] = [floats(backend, x), floats(backend, sums).fill(0)];
  ids.forEach((id, row) => {
    if (id < 0 || id >= attrs.numSegments) return;
    const [target, source] = [id * rowSize, row * rowSize];
    for (let i = 0; i < rowSize; i++) into[target + i] = (into[target + i] as number) + (from[source + i] as number);
  });
  return sums;
}
