/** Kernels that copy some elements of a tensor: gather and its gradient, one-hot, slices, splits and tiles. */
import * as tf from "@tensorflow/tfjs-core";
import { type BackendWasm, callKernel, dispose, floats, type KernelArguments, replaceKernel } from "./wasm-kernel";

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

/** Registers a one-hot of the requested type. The stock kernel writes integers: denormals near 0 as float32. */
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

/** The gradient of a gather: adds row i of x to row `segmentIds[i]`, in order of i. Negative ids are dropped. */
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

type Slice = KernelArguments<Record<"x", tf.TensorInfo>, tf.SliceAttrs>;
type Split = KernelArguments<Record<"x", tf.TensorInfo>, tf.SplitVAttrs>;

/** Registers slices and splits that copy only what they return. The stock kernels first copy the whole input. */
export function registerSlice(): void {
  replaceKernel<Slice>(tf.Slice, (stock) => (args) => {
    const { inputs, attrs, backend } = args;
    if (inputs.x.dtype !== "float32") return stock(args);
    const [begin, size] = tf.slice_util.parseSliceParams(inputs.x as tf.Tensor, attrs.begin, attrs.size);
    tf.slice_util.assertParamsValid(inputs.x as tf.Tensor, begin as number[], size as number[]);
    return slice(backend, inputs.x, begin as number[], size as number[]);
  });
  replaceKernel<Split>(tf.SplitV, (stock) => (args) => {
    const { inputs, attrs, backend } = args;
    const { x } = inputs;
    if (x.dtype !== "float32") return stock(args);
    const [axis] = tf.util.parseAxisParam(attrs.axis, x.shape) as [number];
    const sizes = tf.backend_util.prepareSplitSize(x as tf.Tensor, attrs.numOrSizeSplits, axis);
    let first = 0;
    const parts = sizes.map((size) => {
      const at = (each: number, value: number, other: number): number => (each === axis ? value : other);
      const begin = x.shape.map((_, each) => at(each, first, 0));
      first += size;
      return slice(
        backend,
        x,
        begin,
        x.shape.map((length, each) => at(each, size, length)),
      );
    });
    return parts as unknown as tf.TensorInfo;
  });
}

function slice(
  backend: BackendWasm,
  x: tf.TensorInfo,
  begin: readonly number[],
  size: readonly number[],
): tf.TensorInfo {
  const result = backend.makeOutput([...size], "float32");
  const [from, into] = [floats(backend, x), floats(backend, result)];
  // Axes after `last` are whole, so each run along `last` is contiguous.
  let last = size.length - 1;
  let width = 1;
  while (last > 0 && size[last] === x.shape[last]) width *= x.shape[last--] as number;
  const run = (size[last] ?? 1) * width;
  const strides = tf.util.computeStrides([...x.shape, 1]);
  let to = 0;
  const copy = (axis: number, offset: number): void => {
    if (axis >= last) {
      const at = offset + (begin[last] ?? 0) * width;
      into.set(from.subarray(at, at + run), to);
      to += run;
      return;
    }
    for (let index = 0; index < (size[axis] as number); index++) {
      copy(axis + 1, offset + ((begin[axis] as number) + index) * (strides[axis] as number));
    }
  };
  copy(0, 0);
  return result;
}

/** The axes of a repeated tensor, outermost first. Adjacent ones of the same kind are merged. */
type RepeatedAxes = readonly { readonly size: number; readonly repeats: boolean }[];

/** Returns the axes of `tile(x, reps)` with each repetition before the axis that it repeats. */
export function repeatedAxes(shape: readonly number[], reps: readonly number[]): RepeatedAxes {
  const axes: { size: number; readonly repeats: boolean }[] = [];
  const add = (size: number, repeats: boolean) => {
    if (size === 1) return;
    const last = axes.at(-1);
    if (last?.repeats === repeats) last.size *= size;
    else axes.push({ size, repeats });
  };
  shape.forEach((size, axis) => {
    add(reps[axis] as number, true);
    add(size, false);
  });
  return axes;
}

type Tile = KernelArguments<Record<"x", tf.TensorInfo>, { readonly reps: readonly number[] }>;

/** Registers a kernel that copies memory. The stock kernel computes each element's coordinates. */
export function registerTile(): void {
  replaceKernel<Tile>(tf.Tile, (stock) => (args) => {
    const { x } = args.inputs;
    const { backend, attrs } = args;
    const shape = x.shape.map((size, axis) => size * (attrs.reps[axis] as number));
    if (x.dtype !== "float32" || tf.util.sizeFromShape(shape) === 0) return stock(args);
    const tiled = backend.makeOutput(shape, "float32");
    const [from, into] = [backend.typedArrayFromHeap(x), backend.typedArrayFromHeap(tiled)] as Float32Array[];
    repeat(repeatedAxes(x.shape, attrs.reps), from as Float32Array, into as Float32Array);
    return tiled;
  });
}

function repeat(axes: RepeatedAxes, from: Float32Array, into: Float32Array): void {
  let read = 0;
  let written = 0;
  const write = (level: number): void => {
    const axis = axes[level] ?? { size: 1, repeats: false };
    const innermost = level >= axes.length - 1;
    const start = written;
    if (!axis.repeats && innermost) {
      into.set(from.subarray(read, read + axis.size), written);
      read += axis.size;
      written += axis.size;
    } else if (!axis.repeats) {
      for (let i = 0; i < axis.size; i++) write(level + 1);
    } else if (innermost) {
      written += axis.size;
      into.fill(from[read++] as number, start, written);
    } else {
      write(level + 1);
      const end = start + (written - start) * axis.size;
      for (; written < end; written += Math.min(written - start, end - written)) {
        into.copyWithin(written, start, start + Math.min(written - start, end - written));
      }
    }
  };
  write(0);
}
