import * as tf from "@tensorflow/tfjs-core";
import { type KernelArguments, replaceKernel } from "./wasm-kernel";

/** The axes of a repeated tensor, outermost first. Adjacent ones of the same kind are merged. */
export type RepeatedAxes = readonly { readonly size: number; readonly repeats: boolean }[];

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
