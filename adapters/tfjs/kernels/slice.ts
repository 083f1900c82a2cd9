import * as tf from "@tensorflow/tfjs-core";
import { type BackendWasm, floats, type KernelArguments, replaceKernel } from "./wasm-kernel";

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
