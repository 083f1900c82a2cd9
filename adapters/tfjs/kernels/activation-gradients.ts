import * as tf from "@tensorflow/tfjs-core";
import { replaceGradient } from "../replace-gradient";
import { simdOf } from "../simd/simd";
import type { KernelArguments } from "./wasm-kernel";

interface ActivationGradient {
  readonly activation: string;
  /** The tensor of the forward pass from which the gradient is computed. */
  readonly from: "input" | "output";
  /** Name of the kernel and of its SIMD function. */
  readonly kernel: string;
  /** Computes an element of the last vector, if it is not whole, with the rounding of the others. */
  readonly one: (dy: number, value: number) => number;
  /** Computes the gradient on other backends. */
  readonly composed: (dy: tf.Tensor, value: tf.Tensor) => tf.Tensor;
}

const { fround } = Math;

const gradients: readonly ActivationGradient[] = [
  {
    activation: tf.Relu, // dy where x > 0, else dy × 0
    from: "input",
    kernel: "reluGrad",
    one: (dy, x) => dy * (x <= 0 ? 0 : 1),
    composed: (dy, x) => tf.mul(dy, tf.cast(tf.step(x), "float32")),
  },
  {
    activation: tf.Sigmoid,
    from: "output",
    kernel: "sigmoidGrad",
    one: (dy, y) => dy * fround(y * fround(1 - y)),
    composed: (dy, y) => tf.mul(dy, tf.mul(y, tf.sub(1, y))),
  },
  {
    activation: tf.Tanh,
    from: "output",
    kernel: "tanhGrad",
    one: (dy, y) => dy * fround(1 - fround(y * y)),
    composed: (dy, y) => tf.mul(tf.sub(1, tf.square(y)), dy),
  },
];

/** Registers gradients in one pass. TensorFlow.js uses three or four kernels, each with its own memory. */
export function registerActivationGradients(): void {
  for (const { activation, from, kernel, one, composed } of gradients) {
    const kernelFunc = (args: KernelArguments<Record<"dy" | "value", tf.TensorInfo>, object>) =>
      compute(args, kernel, one);
    tf.registerKernel({ kernelName: kernel, backendName: "wasm", kernelFunc: kernelFunc as unknown as tf.KernelFunc });
    replaceGradient({
      kernelName: activation,
      ...(from === "input" ? { inputsToSave: ["x"] } : { outputsToSave: [true] }),
      gradFunc: (output, saved) => {
        const [dy, value] = [output, saved[0]] as [tf.Tensor, tf.Tensor];
        const onWasm = () => tf.engine().runKernel(kernel, { dy, value }) as tf.Tensor;
        return { x: () => (tf.getBackend() === "wasm" ? onWasm() : composed(dy, value)) };
      },
    });
  }
}

function compute(
  { backend, inputs }: KernelArguments<Record<"dy" | "value", tf.TensorInfo>, object>,
  kernel: string,
  one: ActivationGradient["one"],
): tf.TensorInfo {
  const gradient = backend.makeOutput([...inputs.value.shape], "float32");
  const simd = simdOf(backend);
  const size = tf.util.sizeFromShape(inputs.value.shape);
  const [to, from, at] = [simd.address(gradient), simd.address(inputs.dy), simd.address(inputs.value)];
  const vectors = size >> 2;
  simd.call[kernel]!(to, from, at, vectors);
  const rest = size & 3;
  if (rest > 0) {
    const [g, d, v] = [to, from, at].map((each) => simd.floats(each + vectors * 16, rest)) as [
      Float32Array,
      Float32Array,
      Float32Array,
    ];
    for (let i = 0; i < rest; i++) g[i] = one(d[i] as number, v[i] as number);
  }
  return gradient;
}
