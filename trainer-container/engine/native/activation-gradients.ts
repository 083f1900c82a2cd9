/**
 * Gradients of activations as TensorFlow's own operations. TensorFlow.js composes them: the gradient of ReLU takes seven
 * operations and as many passes over the layer's memory. These take one.
 */
import * as tf from "@tensorflow/tfjs-core";
import { attributesOf, type NativeBackend } from "./op";

interface ActivationGradient {
  readonly activation: string;
  readonly op: string;
  readonly gradientFirst: boolean;
}

/**
 * All take the output. ReLU's may take the input as well, but a graph then needs the values before the activation, and could
 * not compute both in the layer before it.
 */
const gradients: readonly ActivationGradient[] = [
  { activation: tf.Relu, op: "ReluGrad", gradientFirst: true },
  { activation: tf.Relu6, op: "Relu6Grad", gradientFirst: true },
  { activation: tf.Selu, op: "SeluGrad", gradientFirst: true },
  { activation: tf.Tanh, op: "TanhGrad", gradientFirst: false },
  { activation: tf.Sigmoid, op: "SigmoidGrad", gradientFirst: false },
];

/** Registers the gradients for this process, which has one backend. */
export function registerActivationGradients(backend: NativeBackend): void {
  const attributes = [attributesOf(backend.binding).float("T")];
  for (const { activation, op, gradientFirst } of gradients) {
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
      outputsToSave: [true],
      gradFunc: (dy, saved) => ({
        x: () => tf.engine().runKernel(kernelName, { dy: dy as tf.Tensor, value: saved[0] as tf.Tensor }) as tf.Tensor,
      }),
    });
  }
}
