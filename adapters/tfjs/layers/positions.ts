import * as tf from "@tensorflow/tfjs-core";
import { initializers } from "@tensorflow/tfjs-layers";
import { type LayerOptions, OwnLayer, type Shape, shown } from "./own-layer";
import { sinusoidalPositions } from "./sequence-constants";

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

type Variable = ReturnType<OwnLayer["addWeight"]>;

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
