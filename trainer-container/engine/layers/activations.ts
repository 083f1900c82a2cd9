import * as tf from "@tensorflow/tfjs-core";

/** An activation whose gradient follows from its output. */
export interface Activation {
  apply(x: tf.Tensor2D): tf.Tensor2D;
  /** @param y output @param dy gradient by the output */
  gradient(dy: tf.Tensor2D, y: tf.Tensor2D): tf.Tensor2D;
}

/** Uses the gradient that is registered for a kernel, which a backend may compute in one pass. */
const registered =
  (kernel: string) =>
  (dy: tf.Tensor2D, y: tf.Tensor2D): tf.Tensor2D => {
    const { x } = (tf.getGradient(kernel) as tf.GradConfig).gradFunc(dy, [y], {});
    return (x as () => tf.Tensor2D)();
  };

/** By the class name of TensorFlow.js's activation. ReLU's output is positive where its input is. */
const activations: Readonly<Record<string, Activation>> = {
  sigmoid: { apply: (x) => tf.sigmoid(x), gradient: registered(tf.Sigmoid) },
  tanh: { apply: (x) => tf.tanh(x), gradient: registered(tf.Tanh) },
  relu: { apply: (x) => tf.relu(x), gradient: registered(tf.Relu) },
  linear: { apply: (x) => x, gradient: (dy) => dy },
  hardSigmoid: {
    apply: (x) => tf.clipByValue(tf.add(0.5, tf.mul(0.2, x)) as tf.Tensor2D, 0, 1),
    gradient: (dy, y) => {
      const inside = tf.logicalAnd(tf.greater(y, 0), tf.less(y, 1));
      return tf.mul(tf.mul(dy, 0.2), tf.cast(inside, "float32"));
    },
  },
};

export const activationOf = (className: string): Activation | undefined => activations[className];
