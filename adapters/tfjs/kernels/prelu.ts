import * as tf from "@tensorflow/tfjs-core";
import { callKernel, dispose, type KernelArguments, replaceKernel } from "./wasm-kernel";

type Prelu = KernelArguments<Record<"x" | "alpha", tf.TensorInfo>, object>;

/** Registers a PReLU whose slopes may be the same along any axis. The stock kernel repeats them in the order of memory. */
export function registerPrelu(): void {
  replaceKernel<Prelu>(tf.Prelu, (stock) => (args) => {
    const { backend } = args;
    const { x, alpha } = args.inputs;
    const shape = [...Array(Math.max(0, x.shape.length - alpha.shape.length)).fill(1), ...alpha.shape] as number[];
    const first = shape.findIndex((size) => size !== 1);
    const isRepeated = first === -1 || shape.every((size, axis) => axis < first || size === x.shape[axis]);
    const fits = shape.every((size, axis) => size === 1 || size === x.shape[axis]);
    if (isRepeated || !fits) return stock(args);
    const reps = shape.map((size, axis) => (size === 1 ? (x.shape[axis] as number) : 1));
    const tiled = callKernel(backend, tf.Tile, { x: { ...alpha, shape } }, { reps });
    const result = stock({ ...args, inputs: { x, alpha: tiled } });
    dispose(backend, tiled);
    return result;
  });
}
