import * as tf from "@tensorflow/tfjs-core";
import { initializers } from "@tensorflow/tfjs-layers";
import { type LayerOptions, OwnLayer, type Shape, shown } from "./own-layer";

export interface RmsNormalizationOptions extends LayerOptions {
  /** Added to the mean of the squares. Default: 1e-6. PyTorch's default is 1.19e-7. */
  readonly epsilon?: number;
}

type Variable = ReturnType<OwnLayer["addWeight"]>;

/** Root mean square normalization along the last axis (Zhang and Sennrich, 2019): x / √(mean(x²) + ε) · γ. */
export class RmsNormalization extends OwnLayer {
  static readonly className = "RmsNormalization";
  private readonly epsilon: number;
  private gamma: Variable | undefined;

  constructor(options: RmsNormalizationOptions = {}) {
    super(options);
    this.supportsMasking = true;
    this.epsilon = options.epsilon ?? 1e-6;
    const holds = Number.isFinite(this.epsilon) && this.epsilon > 0;
    this.require(holds, `epsilon is ${shown(options.epsilon)}, but must be a positive number`);
  }

  override build(shape: Shape | Shape[]): void {
    const features = this.shapeOf(shape).at(-1);
    this.requirePositiveInteger("the size of the input's last axis", features);
    this.gamma = this.addWeight("gamma", [features as number], "float32", initializers.ones());
    this.built = true;
  }

  protected override compute(x: tf.Tensor): tf.Tensor {
    return normalize(x, (this.gamma as Variable).read(), this.epsilon);
  }

  override getConfig() {
    return { ...super.getConfig(), epsilon: this.epsilon };
  }
}

/**
 * With n = x · r, r = 1 / √(mean(x²) + ε) and g = dy · γ, the gradient by x is r · (g − n · mean(g · n)), and by γ the sum
 * of dy · n.
 */
function normalize(x: tf.Tensor, gamma: tf.Tensor, epsilon: number): tf.Tensor {
  const compute = tf.customGrad((...given) => {
    const [input, factor, save] = given as unknown as [tf.Tensor, tf.Tensor, (tensors: tf.Tensor[]) => void];
    const inverse = tf.rsqrt(tf.add(tf.mean(tf.square(input), -1, true), epsilon));
    const normal: tf.Tensor = tf.mul(input, inverse);
    save([normal, inverse, factor]);
    const gradFunc = (dy: tf.Tensor, saved: tf.Tensor[]): tf.Tensor[] => {
      const [n, r, scale] = saved as [tf.Tensor, tf.Tensor, tf.Tensor];
      const g = tf.mul(dy, scale);
      const byInput: tf.Tensor = tf.mul(r, tf.sub(g, tf.mul(n, tf.mean(tf.mul(g, n), -1, true))));
      const others = dy.shape.slice(1).map((_, axis) => axis);
      return [byInput, tf.sum(tf.mul(dy, n), others)];
    };
    return { value: tf.mul(normal, factor) as tf.Tensor, gradFunc };
  });
  return compute(x, gamma);
}
