import * as tf from "@tensorflow/tfjs-core";
import { repeatedAxes } from "../../tfjs/kernels/places";
import { replaceGradient } from "../../tfjs/replace-gradient";

/** Places may depend on the weights, such as those of `tf.topk`, but no gradient flows through them. */
const noGradient = (indices: tf.Tensor): tf.Tensor => tf.zeros(indices.shape);

export function registerPlaceGradients(): void {
  const gather = tf.getGradient(tf.GatherV2) as tf.GradConfig;
  replaceGradient({
    ...gather,
    gradFunc: (dy, saved, attrs) => ({
      ...gather.gradFunc(dy, saved, attrs),
      indices: () => noGradient(saved[1] as tf.Tensor),
    }),
  });
  replaceGradient({
    kernelName: tf.GatherNd,
    inputsToSave: ["params", "indices"],
    gradFunc: (dy, saved) => {
      const [params, indices] = saved as [tf.Tensor, tf.Tensor];
      return { params: () => addAt(indices, dy as tf.Tensor, params.shape), indices: () => noGradient(indices) };
    },
  });
  replaceGradient({
    kernelName: tf.ScatterNd,
    inputsToSave: ["indices"],
    gradFunc: (dy, [indices]) => ({
      updates: () => tf.gatherND(dy as tf.Tensor, indices as tf.Tensor),
      indices: () => noGradient(indices as tf.Tensor),
    }),
  });
  replaceGradient({
    kernelName: tf.TensorScatterUpdate,
    inputsToSave: ["indices"],
    gradFunc: (output, saved) => {
      const [dy, indices] = [output, ...saved] as [tf.Tensor, tf.Tensor];
      const replacements = () => tf.gatherND(dy, indices);
      return {
        tensor: () => tf.tensorScatterUpdate(dy, indices, tf.zerosLike(replacements())),
        updates: replacements,
        indices: () => noGradient(indices),
      };
    },
  });
  replaceGradient({
    kernelName: tf.TopK,
    inputsToSave: ["x"],
    outputsToSave: [false, true],
    gradFunc: (outputs, saved) => {
      const [dy] = outputs as tf.Tensor[];
      const [x, indices] = saved as [tf.Tensor, tf.Tensor];
      return { x: () => addAlongRows(indices, dy as tf.Tensor, x.shape) };
    },
  });
  replaceGradient({
    kernelName: tf.StridedSlice,
    inputsToSave: ["x"],
    gradFunc: (dy, [x], attrs) => ({ x: () => spread(dy as tf.Tensor, (x as tf.Tensor).shape, attrs) }),
  });
}

/** Returns a tensor of `shape` with the sum of the values at each place, which the last axis of `indices` names. */
function addAt(indices: tf.Tensor, values: tf.Tensor, shape: readonly number[]): tf.Tensor {
  const depth = indices.shape.at(-1) as number;
  const outer = shape.slice(0, depth);
  const rows = outer.reduce((product, size) => product * size, 1);
  const strides = outer.map((_, axis) => outer.slice(axis + 1).reduce((product, size) => product * size, 1));
  const places = tf.sum(tf.mul(tf.cast(indices, "int32"), tf.tensor1d(strides, "int32")), -1);
  const flat = tf.reshape(values, [places.size, ...shape.slice(depth)]);
  return tf.reshape(tf.unsortedSegmentSum(flat, tf.reshape(places, [-1]), rows), [...shape]);
}

/** Returns a tensor of `shape` with the sum of the values at each place of its last axis. */
function addAlongRows(indices: tf.Tensor, values: tf.Tensor, shape: readonly number[]): tf.Tensor {
  const size = tf.util.sizeFromShape([...shape]);
  const width = shape.at(-1) as number;
  const starts = tf.reshape(tf.range(0, size, width, "int32"), [-1, 1]);
  const places = tf.add(tf.reshape(indices, [size / width, -1]), starts);
  const sums = tf.unsortedSegmentSum(tf.reshape(values, [-1]), tf.reshape(places, [-1]) as tf.Tensor1D, size);
  return tf.reshape(sums, [...shape]);
}

/** Returns a tensor of `shape` with the values of its strided slice at their places, and 0 elsewhere. */
function spread(dy: tf.Tensor, shape: readonly number[], attrs: tf.NamedAttrMap): tf.Tensor {
  const { beginMask, endMask, ellipsisMask, newAxisMask, shrinkAxisMask } = attrs as unknown as Record<string, number>;
  const [begin, end, strides] = ["begin", "end", "strides"].map((name) => attrs[name] as unknown as number[]) as [
    number[],
    number[],
    number[],
  ];
  const masks = [beginMask, endMask, ellipsisMask, newAxisMask, shrinkAxisMask] as [number, ...number[]];
  const slice = tf.slice_util.sliceInfo(
    [...shape],
    begin,
    end,
    strides,
    ...(masks as [number, number, number, number, number]),
  );
  const counts = shape.map((_, axis) => {
    const [from, to, step] = [slice.begin[axis]!, slice.end[axis]!, slice.strides[axis]!];
    return Math.max(0, Math.ceil((to - from) / step));
  });
  let values = tf.reshape(dy, counts);
  for (const [axis, size] of shape.entries()) {
    const count = counts[axis]!;
    const step = Math.abs(slice.strides[axis]!);
    const isReversed = slice.strides[axis]! < 0;
    const first = isReversed ? slice.begin[axis]! - (count - 1) * step : slice.begin[axis]!;
    if (isReversed) values = tf.reverse(values, axis);
    const [before, after] = [values.shape.slice(0, axis), values.shape.slice(axis + 1)];
    if (step > 1) {
      // The elements between those of the slice follow each of them, except the last.
      const parts = tf.reshape(values, [tf.util.sizeFromShape(before) * count, 1, tf.util.sizeFromShape(after)]);
      const wide = tf.pad(parts, [[0, 0], [0, step - 1], [0, 0]]); // biome-ignore format: one pair for each axis
      const length = (count - 1) * step + 1;
      values = tf.reshape(wide, [tf.util.sizeFromShape(before), count * step, tf.util.sizeFromShape(after)]);
      values = tf.reshape(tf.slice(values, [0, 0, 0], [-1, length, -1]), [...before, length, ...after]);
    }
    const rest = size - first - values.shape[axis]!;
    if (first > 0 || rest > 0)
      values = tf.pad(
        values,
        shape.map((_, each) => (each === axis ? [first, rest] : [0, 0])),
      );
  }
  return values;
}

export function registerRearrangementGradients(): void {
  // TensorFlow.js does not expect a single output.
  replaceGradient({
    kernelName: tf.Unpack,
    gradFunc: (dy, _, attrs) => ({ value: () => tf.stack([dy].flat(), attrs["axis"] as number) }),
  });
  replaceGradient({
    kernelName: tf.SplitV,
    gradFunc: (dy, _, attrs) => ({ x: () => tf.concat([dy].flat(), attrs["axis"] as number) }),
  });
  replaceGradient({
    kernelName: tf.MirrorPad,
    inputsToSave: ["x"],
    gradFunc: (dy, [x], attrs) => {
      const paddings = attrs["paddings"] as unknown as readonly [number, number][];
      const isReflected = (attrs["mode"] as unknown as string) === "reflect";
      return { x: () => fold(dy as tf.Tensor, (x as tf.Tensor).shape, paddings, isReflected ? 1 : 0) };
    },
  });
  replaceGradient({
    kernelName: tf.DepthToSpace,
    inputsToSave: ["x"],
    gradFunc: (dy, [x], attrs) => {
      const { shape } = x as tf.Tensor4D;
      const [batch, height, width] = shape;
      const block = attrs["blockSize"] as number;
      const cells = [batch, height, block, width, block, shape[3] / (block * block)];
      return { x: () => tf.reshape(tf.transpose(tf.reshape(dy as tf.Tensor, cells), [0, 1, 3, 2, 4, 5]), shape) };
    },
  });
}

/** Adds a padding's elements to those that they mirror. `offset`: 1 if the edge itself is not mirrored. */
function fold(
  dy: tf.Tensor,
  shape: readonly number[],
  paddings: readonly (readonly [number, number])[],
  offset: number,
): tf.Tensor {
  let sum = dy;
  for (const [axis, [before, after]] of paddings.entries()) {
    if (before === 0 && after === 0) continue;
    const size = shape[axis]!;
    const part = (begin: number, length: number) => {
      const at = (value: number, other: number) => sum.shape.map((_, each) => (each === axis ? value : other));
      return tf.slice(sum, at(begin, 0), at(length, -1));
    };
    const placed = (begin: number, length: number, first: number) =>
      tf.pad(
        tf.reverse(part(begin, length), axis),
        sum.shape.map((_, each) => (each === axis ? [first, size - first - length] : [0, 0])),
      );
    const sums = [part(before, size)];
    if (before > 0) sums.push(placed(0, before, offset));
    if (after > 0) sums.push(placed(before + size, after, size - offset - after));
    sum = sums.reduce((one, other) => tf.add(one, other));
  }
  return sum;
}

/** Registers the gradient of `tile` for any rank as one sum. TensorFlow.js adds one slice for each repetition. */
export function registerTileGradient(): void {
  replaceGradient({
    kernelName: tf.Tile,
    inputsToSave: ["x"],
    gradFunc: (output, [saved], attrs) => {
      const dy = output as tf.Tensor;
      const { shape } = saved as tf.Tensor;
      const axes = repeatedAxes(shape, attrs["reps"] as unknown as readonly number[]);
      const repeated = axes.flatMap(({ repeats }, axis) => (repeats ? [axis] : []));
      const split = axes.map(({ size }) => size);
      return { x: () => tf.reshape(repeated.length === 0 ? dy : tf.sum(tf.reshape(dy, split), repeated), shape) };
    },
  });
}
