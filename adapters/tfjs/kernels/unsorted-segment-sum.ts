import * as tf from "@tensorflow/tfjs-core";
import { floats, type KernelArguments } from "./wasm-kernel";

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
