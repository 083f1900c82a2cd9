/**
 * A network as exporters see it: layers in the order in which they are computed, nested models unfolded, each with the shapes and weights that the framework
 * gave it. What its last layer gives is logits or values.
 */
export interface Network {
  /** Shape of one row of the input. */
  readonly inputShape: readonly number[];
  readonly input: string;
  readonly output: string;
  readonly layers: readonly NetworkLayer[];
}

export interface NetworkLayer {
  /** Of this application of the layer: one that is used twice is there twice. */
  readonly id: string;
  readonly name: string;
  /** TensorFlow.js's: `Conv2D`. */
  readonly className: string;
  /** TensorFlow.js's, in camel case. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Ids of layers, or the network's input. */
  readonly inputs: readonly string[];
  /** Of one row. */
  readonly outputShape: readonly number[];
  /** By the last part of their names: `kernel`, `moving_mean`. */
  readonly weights: Readonly<Record<string, NetworkWeight>>;
}

export interface NetworkWeight {
  /** As a whole model names it: `dense_1/kernel`. */
  readonly name: string;
  readonly shape: readonly number[];
  readonly data: Float32Array;
}
