/** A dense layer as a product of matrices: TensorFlow.js adds an axis, so product and bias are not recognized. */
import * as tf from "@tensorflow/tfjs-core";
import { layers } from "@tensorflow/tfjs-layers";

interface DenseLayer {
  readonly kernel: { read(): tf.Tensor2D };
  readonly bias?: { read(): tf.Tensor1D } | null;
  readonly activation: { getClassName(): string };
  call(inputs: tf.Tensor | tf.Tensor[], options: unknown): tf.Tensor;
}

let installed = false;

export function installDense(): void {
  if (installed) return;
  installed = true;
  const prototype = Object.getPrototypeOf(layers.dense({ units: 1 })) as DenseLayer;
  const { call } = prototype;
  prototype.call = function (this: DenseLayer, inputs, options) {
    const x = (Array.isArray(inputs) ? inputs[0] : inputs) as tf.Tensor;
    if (x.rank !== 2 || this.activation.getClassName() !== "linear") return call.call(this, inputs, options);
    return tf.tidy(() => {
      const products = tf.matMul(x as tf.Tensor2D, this.kernel.read());
      return this.bias ? tf.add(products, this.bias.read()) : products;
    });
  };
}
