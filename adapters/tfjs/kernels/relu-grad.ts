import * as tf from "@tensorflow/tfjs-core";
import { simdOf } from "../simd/simd";
import type { KernelArguments } from "./wasm-kernel";

const kernelName = "ReluGrad";

/** Computes dy where x > 0, else dy × 0. */
function reluGrad({ backend, inputs }: KernelArguments<Record<"dy" | "x", tf.TensorInfo>, object>): tf.TensorInfo {
  const { dy, x } = inputs;
  const gradient = backend.makeOutput([...x.shape], "float32");
  const simd = simdOf(backend);
  const size = tf.util.sizeFromShape(x.shape);
  const [to, from, at] = [simd.address(gradient), simd.address(dy), simd.address(x)];
  const vectors = size >> 2;
  simd.call["reluGrad"]!(to, from, at, vectors);
  const rest = size & 3;
  if (rest > 0) {
    const offset = vectors * 16;
    const [g, d, v] = [to, from, at].map((each) => simd.floats(each + offset, rest)) as [
      Float32Array,
      Float32Array,
      Float32Array,
    ];
    for (let i = 0; i < rest; i++) g[i] = (d[i] as number) * ((v[i] as number) <= 0 ? 0 : 1);
  }
  return gradient;
}

/** Registers the gradient of the rectifier in one pass. TensorFlow.js uses three kernels, each with its own memory. */
export function registerReluGrad(): void {
  if (tf.getGradient(tf.Relu)) tf.unregisterGradient(tf.Relu);
  tf.registerKernel({ kernelName, backendName: "wasm", kernelFunc: reluGrad as unknown as tf.KernelFunc });
  tf.registerGradient({
    kernelName: tf.Relu,
    inputsToSave: ["x"],
    gradFunc: (dy, [x]) => ({ x: () => gradient(dy as tf.Tensor, x as tf.Tensor) }),
  });
}

function gradient(dy: tf.Tensor, x: tf.Tensor): tf.Tensor {
  if (tf.getBackend() === "wasm") return tf.engine().runKernel(kernelName, { dy, x }) as tf.Tensor;
  return tf.mul(dy, tf.cast(tf.step(x), "float32"));
}
