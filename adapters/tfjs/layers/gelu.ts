import * as tf from "@tensorflow/tfjs-core";
import { type LayerOptions, OwnLayer, shown } from "./own-layer";

export interface GeluOptions extends LayerOptions {
  /** `none` (default, as in PyTorch): x · Φ(x), by the error function. `tanh`: the approximation of GPT-2. */
  readonly approximate?: "none" | "tanh";
}

const cubic = 0.044715;
const slope = 2 * Math.sqrt(2 / Math.PI);

/** Gaussian error linear unit (Hendrycks and Gimpel, 2016). */
export class Gelu extends OwnLayer {
  static readonly className = "Gelu";
  private readonly approximate: "none" | "tanh";

  constructor(options: GeluOptions = {}) {
    super(options);
    this.supportsMasking = true;
    this.approximate = options.approximate ?? "none";
    const known = this.approximate === "none" || this.approximate === "tanh";
    this.require(known, `approximate is ${shown(this.approximate)}, but must be "none" or "tanh"`);
  }

  protected override compute(x: tf.Tensor): tf.Tensor {
    return this.approximate === "none" ? exact(x) : approximated(x);
  }

  override getConfig() {
    return { ...super.getConfig(), approximate: this.approximate };
  }
}

/** Computes y = x · Φ(x) with the gradient Φ(x) + x · φ(x). Φ and φ: distribution and density of the standard normal. */
const exact = withSlope(
  (x) => tf.mul(tf.add(tf.erf(tf.mul(x, Math.SQRT1_2)), 1), 0.5),
  (x, phi) => {
    const density = tf.mul(tf.exp(tf.mul(tf.square(x), -0.5)), 1 / Math.sqrt(2 * Math.PI));
    return tf.add(phi, tf.mul(x, density));
  },
);

/** Computes y = x · s with s = ½ (1 + tanh(u)) = σ(2u), u = √(2/π) (x + 0.044715 x³), and the gradient s + x · s (1 − s) · 2u′. */
const approximated = withSlope(
  (x) => tf.sigmoid(tf.mul(x, tf.add(tf.mul(tf.square(x), slope * cubic), slope))),
  (x, s) => {
    const inner = tf.add(tf.mul(tf.square(x), 3 * slope * cubic), slope);
    return tf.add(s, tf.mul(tf.mul(x, inner), tf.mul(s, tf.sub(1, s))));
  },
);

/** Returns y = x · factor(x) with the gradient dy · derivative(x, factor(x)). */
function withSlope(
  factor: (x: tf.Tensor) => tf.Tensor,
  derivative: (x: tf.Tensor, factor: tf.Tensor) => tf.Tensor,
): (x: tf.Tensor) => tf.Tensor {
  return tf.customGrad((...given) => {
    const [x, save] = given as unknown as [tf.Tensor, (tensors: tf.Tensor[]) => void];
    const part = factor(x);
    save([x, part]);
    const gradFunc = (dy: tf.Tensor, saved: tf.Tensor[]): tf.Tensor => {
      const [savedX, savedPart] = saved as [tf.Tensor, tf.Tensor];
      return tf.mul(dy, derivative(savedX, savedPart));
    };
    return { value: tf.mul(x, part) as tf.Tensor, gradFunc };
  }) as (x: tf.Tensor) => tf.Tensor;
}
