/** Observes the kernels that TensorFlow.js runs, to name the place where a computation fails. */

import * as tf from "@tensorflow/tfjs-core";
import type { LayersModel } from "@tensorflow/tfjs-layers";
import type { NonFinite } from "./engine";

type Layer = LayersModel["layers"][number];

/** An error with enough frames to contain user code, which is below many frames of TensorFlow.js. */
function here(message: string): Error {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 100;
  const error = new Error(message);
  Error.stackTraceLimit = stackTraceLimit;
  return error;
}

/** Runs `compute` and calls `visit` after each kernel. Kernels that a kernel calls itself are part of it. */
function spyOnKernels(compute: () => unknown, visit: (kernel: string, outputs: readonly tf.Tensor[]) => void): void {
  const engine = tf.engine();
  const { runKernel } = engine;
  let depth = 0;
  engine.runKernel = ((name, inputs, attributes) => {
    depth += 1;
    try {
      const outputs = runKernel.call(engine, name, inputs, attributes);
      if (depth === 1) visit(name, [outputs].flat());
      return outputs;
    } finally {
      depth -= 1;
    }
  }) as typeof runKernel;
  try {
    compute();
  } finally {
    delete (engine as Partial<typeof engine>).runKernel; // the class's own is visible again
  }
}

/** Returns an error with the stack of a kernel's first call. */
export function placeOfKernel(kernel: string, message: string, compute: () => unknown): Error | undefined {
  let place: Error | undefined;
  try {
    spyOnKernels(compute, (name) => {
      if (name === kernel) place ??= here(message);
    });
  } catch {
    // It failed before in the same way.
  }
  return place;
}

/** Runs a forward and a backward pass and returns the origin of its first value that is not finite. */
export function findNonFinite(
  layers: readonly Layer[],
  nameOf: (layer: string) => string,
  differentiate: () => unknown,
): NonFinite | undefined {
  const running: string[] = [];
  let found: NonFinite | undefined;
  const inLayers = () => {
    const engine = tf.engine();
    spyOnKernels(differentiate, (kernel, outputs) => {
      if (found || outputs.every(holdsFinite)) return;
      const layer = running.at(-1);
      const forward = engine.state.gradientDepth > 0;
      const part = layer ? `the layer '${nameOf(layer)}'` : "the loss";
      const where = forward ? part : "the backward pass";
      const description = `The first value that is not finite is computed in ${where}, by the operation ${kernel}.`;
      found = { description, place: here(description) };
    });
  };
  const restore = layers.map((layer) => {
    const { call } = layer;
    layer.call = (...all) => {
      running.push(layer.name);
      try {
        return call.apply(layer, all);
      } finally {
        running.pop();
      }
    };
    return () => delete (layer as Partial<Layer>).call;
  });
  try {
    inLayers();
  } finally {
    for (const each of restore) each();
  }
  return found;
}

function holdsFinite(tensor: tf.Tensor): boolean {
  return tensor.dtype !== "float32" || (tensor.dataSync() as Float32Array).every(Number.isFinite);
}
