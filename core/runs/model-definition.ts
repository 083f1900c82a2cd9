/**
 * The model of a run: one of the built-in models, or a user's module. Every definition becomes one layers model whose
 * output is *logits* (classification, binary) or values (regression). The loss is computed from logits; the final
 * softmax or sigmoid is applied only at prediction.
 */

/** `classification`: one of `outputs` classes. `binary`: one logit per row. `regression`: `outputs` real values. */
export type Task = "classification" | "binary" | "regression";

export type Activation = "relu" | "relu6" | "elu" | "selu" | "tanh" | "sigmoid" | "linear";

interface ModelShape {
  /** Shape of one row, without the batch dimension: `[784]`, `[28, 28, 1]`. */
  readonly inputShape: readonly number[];
  /** Classes (classification), 1 (binary), or values per row (regression). */
  readonly outputs: number;
  readonly task: Task;
  /** Factor of a row's loss in gradients, by class index. Default: all 1. */
  readonly classWeights?: readonly number[];
  /**
   * Regression: the layers before the last compute (value − mean) / deviation, and the loss is that of standardised
   * labels. Default: 0 and 1.
   */
  readonly label?: LabelScale;
}

export interface LabelScale {
  readonly mean: number;
  readonly deviation: number;
}

/** Dense layers; an input of higher rank is flattened. */
export interface MlpDefinition extends ModelShape {
  readonly type: "mlp";
  /** Units of each hidden layer; empty for a linear model. */
  readonly hidden: readonly number[];
  /** Default `relu`. */
  readonly activation?: Activation;
  /** Share of each hidden layer's units that are dropped in training, in [0, 1). Default 0. */
  readonly dropout?: number;
}

/**
 * Blocks of convolution (stride 1, `same` padding), activation and 2×2 max-pooling, then dense layers. `inputShape` is
 * `[height, width]` (one channel) or `[height, width, channels]`.
 */
export interface CnnDefinition extends ModelShape {
  readonly type: "cnn";
  readonly filters: readonly number[];
  /** Side of the square kernel, odd. Default 3. */
  readonly kernelSize?: number;
  readonly hidden: readonly number[];
  readonly activation?: Activation;
  /** Applied after each hidden dense layer. */
  readonly dropout?: number;
}

/**
 * A user's module. Its functions are opaque to core, which has no tensors; the engine checks their results. They must
 * be synchronous: the seeded `Math.random` is valid for one uninterrupted call.
 */
export interface ModuleDefinition extends ModelShape {
  readonly type: "module";
  /** Called with a `ModelContext`; returns a `tf.LayersModel`. */
  readonly factory: (context: never) => unknown;
  /**
   * `(labels, outputs)` → mean loss (scalar) or loss of each row (`[rows]`), of standardised values if `label` is set.
   * Default: depends on the task.
   */
  readonly loss?: (labels: never, outputs: never) => unknown;
  /** Name → `(labels, outputs)` → mean over the rows (scalar). */
  readonly metrics?: Readonly<Record<string, (labels: never, outputs: never) => unknown>>;
  readonly hyperparameters?: Readonly<Record<string, unknown>>;
  /** See `Training.graph`. */
  readonly graph?: boolean;
  /** See `Training.rematerialise`. */
  readonly rematerialise?: Rematerialise;
}

/** See `Training.rematerialise`. */
export type Rematerialise = "auto" | "none" | readonly string[];

export type ModelDefinition = MlpDefinition | CnnDefinition | ModuleDefinition;
