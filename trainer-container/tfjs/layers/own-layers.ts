import * as tf from "@tensorflow/tfjs-core";
import { initializers, layers } from "@tensorflow/tfjs-layers";

export type LayerOptions = NonNullable<ConstructorParameters<typeof layers.Layer>[0]>;
export type Shape = (number | null)[];

/** A layer with one input and one output. Its class is registered in `register.ts`. */
export abstract class OwnLayer extends layers.Layer {
  /** Computes the output. @param mask of the steps, `[rows, time]`; only if the layer supports masks */
  protected abstract compute(x: tf.Tensor, training: boolean, mask: tf.Tensor | undefined): tf.Tensor;

  override call(inputs: tf.Tensor | tf.Tensor[], options: Readonly<Record<string, unknown>>): tf.Tensor {
    return tf.tidy(() => {
      this.invokeCallHook(inputs, options);
      const [x, mask] = [inputs, options["mask"]].map((each) => (Array.isArray(each) ? each[0] : each));
      return this.compute(x as tf.Tensor, options["training"] === true, (mask as tf.Tensor | null) ?? undefined);
    });
  }

  override computeOutputShape(shape: Shape | Shape[]): Shape | Shape[] {
    return this.shapeOf(shape);
  }

  /** Returns the shape of the only input. @throws RangeError if there are several inputs */
  protected shapeOf(shape: Shape | Shape[]): Shape {
    const shapes = (Array.isArray(shape[0]) ? shape : [shape]) as Shape[];
    this.require(shapes.length === 1, `it has ${shapes.length} inputs, but takes one`);
    return shapes[0] as Shape;
  }

  /** Returns `[time, features]` of rows with both. @throws RangeError for rows of another rank */
  protected sequenceOf(given: Shape | Shape[]): readonly [time: number, features: number] {
    const shape = this.shapeOf(given);
    const [, time, features] = shape;
    const isSequence = shape.length === 3 && typeof time === "number" && typeof features === "number";
    this.require(isSequence, `its input's rows have the shape [${shape.slice(1)}], but must be [time, features]`);
    return [time, features] as [number, number];
  }

  protected requirePositiveInteger(option: string, value: unknown): void {
    const holds = Number.isSafeInteger(value) && (value as number) > 0;
    this.require(holds, `${option} is ${shown(value)}, but must be a positive integer`);
  }

  protected requireBoolean(option: string, value: unknown): void {
    this.require(typeof value === "boolean", `${option} is ${shown(value)}, but must be true or false`);
  }

  /** @throws RangeError that names the layer's class */
  protected require(holds: boolean, problem: string): void {
    if (!holds) throw new RangeError(`${this.getClassName()}: ${problem}.`);
  }
}

export function shown(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}

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
    const isSupported = this.approximate === "none" || this.approximate === "tanh";
    this.require(isSupported, `approximate is ${shown(this.approximate)}, but must be "none" or "tanh"`);
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

/** With n = x·r, r = 1 / √(mean(x²) + ε), g = dy·γ: the gradient by x is r·(g − n·mean(g·n)), by γ Σ(dy·n). */
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

export interface SelectFeaturesOptions extends LayerOptions {
  /** Positions along the last axis, from 0, in the order of the output. */
  readonly columns: readonly number[];
}

/** Takes some columns of the last axis, so that parts of a row can go to different layers. */
export class SelectFeatures extends OwnLayer {
  static readonly className = "SelectFeatures";
  private readonly columns: readonly number[];

  constructor(options: SelectFeaturesOptions) {
    super(options);
    const { columns } = options;
    const arePositions = Array.isArray(columns) && columns.every((each) => Number.isSafeInteger(each) && each >= 0);
    const rule = "must be a list of at least one position from 0";
    this.require(arePositions && columns.length > 0, `columns is ${shown(columns)}, but ${rule}`);
    this.columns = [...columns];
  }

  override computeOutputShape(given: Shape | Shape[]): Shape {
    const shape = this.shapeOf(given);
    const width = shape.at(-1);
    this.requirePositiveInteger("the size of the input's last axis", width);
    const outside = this.columns.find((column) => column >= (width as number));
    this.require(
      outside === undefined,
      `columns has ${outside}, but the input has the columns 0 to ${Number(width) - 1}`,
    );
    return [...shape.slice(0, -1), this.columns.length];
  }

  protected override compute(x: tf.Tensor): tf.Tensor {
    const [first, axis] = [this.columns[0] as number, x.rank - 1];
    if (!this.columns.every((column, index) => column === first + index))
      return tf.gather(x, tf.tensor1d([...this.columns], "int32"), axis);
    const begin = x.shape.map((_, each) => (each === axis ? first : 0));
    return tf.slice(x, begin, [...x.shape.slice(0, -1), this.columns.length]);
  }

  override getConfig() {
    return { ...super.getConfig(), columns: [...this.columns] };
  }
}
