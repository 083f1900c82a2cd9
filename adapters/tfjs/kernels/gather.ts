import * as tf from "@tensorflow/tfjs-core";
import { floats, type KernelArguments, replaceKernel } from "./wasm-kernel";

type Gather = KernelArguments<
  Record<"x" | "indices", tf.TensorInfo>,
  { readonly axis: number; readonly batchDims: number }
>;

/** Registers a gather that copies rows, as embeddings need it. The stock kernel computes each element's coordinates. */
export function registerGather(): void {
  replaceKernel<Gather>(tf.GatherV2, (stock) => (args) => {
    const { backend, attrs } = args;
    const { x, indices } = args.inputs;
    if (x.dtype !== "float32" || indices.dtype !== "int32" || attrs.batchDims > 0) return stock(args);
    const [axis] = tf.util.parseAxisParam(attrs.axis, x.shape) as [number];
    const [before, after] = [x.shape.slice(0, axis), x.shape.slice(axis + 1)];
    const [outer, rows, width] = [tf.util.sizeFromShape(before), x.shape[axis] as number, tf.util.sizeFromShape(after)];
    const ids = (backend.typedArrayFromHeap(indices) as Int32Array).slice(); // an allocation may move the heap
    for (const id of ids) {
      if (id < 0 || id >= rows) throw new RangeError(`gather: index ${id} is not in [0, ${rows - 1}]`);
    }
    const gathered = backend.makeOutput([...before, ...indices.shape, ...after], "float32");
    const [from, into] = [floats(backend, x), floats(backend, gathered)];
    let to = 0;
    for (let block = 0; block < outer; block++) {
      for (const id of ids) {
        const at = (block * rows + id) * width;
        into.set(from.subarray(at, at + width), to);
        to += width;
      }
    }
    return gathered;
  });
}
