import * as tf from "@tensorflow/tfjs-core";
import { initializers, layers } from "@tensorflow/tfjs-layers";
import { type LayerOptions, OwnLayer, type Shape, shown } from "./own-layers";
import { causalMask, hiddenScore, sinusoidalPositions } from "./sequence-constants";

export interface MultiHeadAttentionOptions extends LayerOptions {
  readonly heads: number;
  /** Features of a head's queries, keys and values. Default: the input's features divided by `heads`. */
  readonly keySize?: number;
  /** Whether a position sees only itself and earlier ones. Default: false. */
  readonly causal?: boolean;
  /** Default: true. */
  readonly useBias?: boolean;
  /** Rate at which attention weights are dropped in training. Default: 0. */
  readonly dropout?: number;
}

type Six<T> = [T, T, T, T, T, T];
type Variable = ReturnType<OwnLayer["addWeight"]>;

/**
 * Multi-head self-attention (Vaswani et al., 2017) on `[rows, time, features]`. The kernel's columns are q, k and v,
 * each by head.
 */
export class MultiHeadAttention extends OwnLayer {
  static readonly className = "MultiHeadAttention";
  private readonly heads: number;
  private keySize: number | undefined;
  private readonly causal: boolean;
  private readonly useBias: boolean;
  private readonly dropout: number;
  /** TensorFlow.js's own layer, which calls the operation that the engine replaces by keyed draws. */
  private readonly dropper: ReturnType<typeof layers.dropout>;
  private later: Float32Array | undefined;
  private readonly variables: Variable[] = [];

  constructor(options: MultiHeadAttentionOptions) {
    super(options);
    this.heads = options.heads;
    this.keySize = options.keySize ?? undefined;
    this.causal = options.causal ?? false;
    this.useBias = options.useBias ?? true;
    this.dropout = options.dropout ?? 0;
    this.requirePositiveInteger("heads", this.heads);
    if (this.keySize !== undefined) this.requirePositiveInteger("keySize", this.keySize);
    this.requireBoolean("causal", this.causal);
    this.requireBoolean("useBias", this.useBias);
    const isRate = typeof this.dropout === "number" && this.dropout >= 0 && this.dropout < 1;
    this.require(isRate, `dropout is ${shown(this.dropout)}, but must be at least 0 and below 1`);
    this.dropper = layers.dropout({ rate: this.dropout });
    this.supportsMasking = true;
  }

  override build(shape: Shape | Shape[]): void {
    const [time, features] = this.sequenceOf(shape);
    const rule = "must divide the input's features unless keySize is given";
    const divides = this.keySize !== undefined || features % this.heads === 0;
    this.require(divides, `heads is ${this.heads} and the input has ${features} features, but heads ${rule}`);
    this.keySize ??= features / this.heads;
    const width = this.heads * this.keySize;
    const add = (name: string, size: readonly number[], initializer: Parameters<OwnLayer["addWeight"]>[3]) =>
      this.variables.push(this.addWeight(name, [...size], "float32", initializer));
    add("kernel", [features, 3 * width], initializers.glorotUniform({}));
    add("output_kernel", [width, features], initializers.glorotUniform({}));
    if (this.useBias) {
      add("bias", [3 * width], initializers.zeros());
      add("output_bias", [features], initializers.zeros());
    }
    if (this.causal) this.later = causalMask(time);
    this.built = true;
  }

  protected override compute(x: tf.Tensor, training: boolean, mask: tf.Tensor | undefined): tf.Tensor {
    const [rows, time, features] = x.shape as [number, number, number];
    const [heads, size] = [this.heads, this.keySize as number];
    const [kernel, outputKernel, bias, outputBias] = this.variables.map((variable) => variable.read());
    const plus = (product: tf.Tensor, addend: tf.Tensor | undefined) => (addend ? tf.add(product, addend) : product);

    const projected = plus(tf.matMul(tf.reshape(x, [rows * time, features]), kernel as tf.Tensor), bias);
    const byHead = tf.transpose(tf.reshape(projected, [rows, time, 3, heads, size]), [2, 0, 3, 1, 4]);
    const [q, k, v] = tf.split(byHead, 3, 0).map((part) => tf.reshape(part, [rows, heads, time, size])) as [
      tf.Tensor,
      tf.Tensor,
      tf.Tensor,
    ];
    const drop = (weights: tf.Tensor) => this.dropper.call(weights, { training }) as tf.Tensor;
    const joined = tf.transpose(attend(q, k, v, this.addend(rows, time, mask), drop), [0, 2, 1, 3]);
    const flat = tf.reshape(joined, [rows * time, heads * size]);
    return tf.reshape(plus(tf.matMul(flat, outputKernel as tf.Tensor), outputBias), [rows, time, features]);
  }

  /** Returns what is added to the scores, so that no position sees later steps (if causal) or omitted ones. */
  private addend(rows: number, time: number, mask: tf.Tensor | undefined): tf.Tensor | undefined {
    const later = this.later && tf.tensor(this.later, [time, time]);
    // TensorFlow.js also passes masks to layers that do not support them, and earlier masks after layers that drop them.
    if (mask === undefined || mask.size !== rows * time) return later;
    const omitted = tf.mul(tf.sub(1, tf.cast(mask, "float32")), hiddenScore);
    const byKey = tf.reshape(omitted, [rows, 1, 1, time]);
    return later ? tf.add(byKey, later) : byKey;
  }

  override getConfig() {
    const { heads, keySize = null, causal, useBias, dropout } = this;
    return { ...super.getConfig(), heads, keySize, causal, useBias, dropout };
  }
}

/**
 * With P = softmax(q·kᵀ / √size + mask), o = d(P)·v and dW = do·vᵀ, the gradient by S is d(P) ∘ dW − P ∘ Σ(do ∘ o): the
 * sum needs only o (Dao et al., 2022, FlashAttention, appendix B.2).
 */
function attend(
  q: tf.Tensor,
  k: tf.Tensor,
  v: tf.Tensor,
  mask: tf.Tensor | undefined,
  drop: (weights: tf.Tensor) => tf.Tensor,
): tf.Tensor {
  // The factor is applied to q: TensorFlow fuses product, factor and mask to an operation that is 1,000 times slower.
  const factor = 1 / Math.sqrt(q.shape[3] as number);
  const compute = tf.customGrad((...given) => {
    const [queries, keys, values] = given as [tf.Tensor, tf.Tensor, tf.Tensor];
    const save = given.at(-1) as unknown as (tensors: tf.Tensor[]) => void;
    const scaled = tf.mul(queries, factor);
    const products = tf.matMul(scaled, keys, false, true);
    const weights = tf.softmax(mask ? tf.add(products, mask) : products);
    const dropped = drop(weights);
    const value = tf.matMul(dropped, values);
    save([scaled, keys, values, weights, dropped, value]);
    const gradFunc = (dy: tf.Tensor, saved: tf.Tensor[]): tf.Tensor[] => {
      const [savedQ, savedK, savedV, p, kept, o] = saved as Six<tf.Tensor>;
      const byWeights = tf.matMul(dy, savedV, false, true);
      const along = tf.sum(tf.mul(dy, o), -1, true);
      const byScores = tf.sub(tf.mul(kept, byWeights), tf.mul(p, along));
      return [
        tf.mul(tf.matMul(byScores, savedK), factor),
        tf.matMul(byScores, savedQ, true),
        tf.matMul(kept, dy, true),
      ];
    };
    return { value, gradFunc };
  });
  return compute(q, k, v);
}

export interface PositionalEncodingOptions extends LayerOptions {
  /** Wavelength of the slowest sine, over 2π. Default: 10,000. */
  readonly maxWavelength?: number;
}

/** Adds sines and cosines of the position (Vaswani et al., 2017) to `[rows, time, features]`. No weights. */
export class PositionalEncoding extends OwnLayer {
  static readonly className = "PositionalEncoding";
  private readonly maxWavelength: number;
  private table: Float32Array | undefined;

  constructor(options: PositionalEncodingOptions = {}) {
    super(options);
    this.supportsMasking = true;
    this.maxWavelength = options.maxWavelength ?? 10_000;
    const holds = Number.isFinite(this.maxWavelength) && this.maxWavelength > 1;
    this.require(holds, `maxWavelength is ${shown(options.maxWavelength)}, but must be a number above 1`);
  }

  override build(shape: Shape | Shape[]): void {
    this.table = sinusoidalPositions(...this.sequenceOf(shape), this.maxWavelength);
    this.built = true;
  }

  protected override compute(x: tf.Tensor): tf.Tensor {
    return tf.add(x, tf.tensor(this.table as Float32Array, x.shape.slice(1)));
  }

  override getConfig() {
    return { ...super.getConfig(), maxWavelength: this.maxWavelength };
  }
}

/** Adds a learned vector for each position to `[rows, time, features]`. */
export class PositionalEmbedding extends OwnLayer {
  static readonly className = "PositionalEmbedding";
  private embeddings: Variable | undefined;

  constructor(options: LayerOptions = {}) {
    super(options);
    this.supportsMasking = true;
  }

  override build(shape: Shape | Shape[]): void {
    const initializer = initializers.randomUniform({ minval: -0.05, maxval: 0.05 });
    this.embeddings = this.addWeight("embeddings", [...this.sequenceOf(shape)], "float32", initializer);
    this.built = true;
  }

  protected override compute(x: tf.Tensor): tf.Tensor {
    return tf.add(x, (this.embeddings as Variable).read());
  }
}
