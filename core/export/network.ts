/**
 * A network for exporters: layers in the order of computation, with nested models expanded, each with its shapes and
 * weights. The last layer's output is logits or values.
 */
export interface Network {
  /** Shape of one row of the input. */
  readonly inputShape: readonly number[];
  readonly input: string;
  readonly output: string;
  readonly layers: readonly NetworkLayer[];
}

export interface NetworkLayer {
  /** Id of this application of the layer. A layer that is applied twice appears twice. */
  readonly id: string;
  readonly name: string;
  /** TensorFlow.js's class name: `Conv2D`. */
  readonly className: string;
  /** TensorFlow.js's configuration, in camel case. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Ids of layers, or the network's input. */
  readonly inputs: readonly string[];
  /** Shape of one row. */
  readonly outputShape: readonly number[];
  /** Weights by the last part of their names: `kernel`, `moving_mean`. */
  readonly weights: Readonly<Record<string, NetworkWeight>>;
}

export interface NetworkWeight {
  /** Name in the whole model: `dense_1/kernel`. */
  readonly name: string;
  readonly shape: readonly number[];
  readonly data: Float32Array;
}
