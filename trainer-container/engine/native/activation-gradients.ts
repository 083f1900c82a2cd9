/**
 * Gradients of activations as TensorFlow's own operations. TensorFlow.js composes them: the gradient of ReLU takes seven
 * operations and as many passes over the layer's memory. These take one.
 */
import * as tf from "@tensorflow/tfjs-core";
import { attributesOf, type NativeBackend } from "./op";

interface ActivationGradient {
  readonly activation: string;
  readonly op: string;
  /** The operation's other operand. */
  readonly from: "input" | "output";
  readonly gradientFirst: boolean;
}

const gradients: readonly ActivationGradient[] = [
  { activation: tf.Relu, op: "ReluGrad", from: "input", gradientFirst: true },
  { activation: tf.Relu6, op: "Relu6Grad", from: "input", gradientFirst: true },
  { activation: tf.Selu, op: "SeluGrad", from: "output", gradientFirst: true },
  { activation: tf.Tanh, op: "TanhGrad", from: "output", gradientFirst: false },
  { activation: tf.Sigmoid, op: "SigmoidGrad", from: "output", gradientFirst: false },
];

/** Registers the gradients for this process, which has one backend. */
export function registerActivationGradients(backend: NativeBackend): void {
  const attributes = [attributesOf(backend.binding).float("T")];
  for (const { activation, op, from, gradientFirst } of gradients) {
    const kernelName = `Native${op}`;
    tf.registerKernel({
      kernelName,
      backendName: "tensorflow",
      kernelFunc: ({ inputs }) => {
        const { dy, value } = inputs as { dy: tf.TensorInfo; value: tf.TensorInfo };
        return backend.executeSingleOutput(op, attributes, gradientFirst ? [dy, value] : [value, dy]);
      },
    });
    tf.registerGradient({
      kernelName: activation,
      ...(from === "input" ? { inputsToSave: ["x"] } : { outputsToSave: [true] }),
      gradFunc: (dy, saved) => ({
        x: () => tf.engine().runKernel(kernelName, { dy: dy as tf.Tensor, value: saved[0] as tf.Tensor }) as tf.Tensor,
      }),
    });
  }
}
