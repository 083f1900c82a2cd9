import type * as tfCore from "@tensorflow/tfjs-core";
import type * as tfLayers from "@tensorflow/tfjs-layers";
import type { Rematerialise, Task } from "../../core/runs/model-definition";
import type { OwnLayers } from "../tfjs/layers/register";

/**
 * The TensorFlow.js that the engine runs: the core's operations, and `layers`, `initializers`, `regularizers`,
 * `constraints`, `sequential`, `model` and `input`. `layers` also has the platform's own (`OwnLayers`). Build models with it:
 * another copy could be another instance.
 */
export type TensorFlow = Omit<typeof tfCore, keyof typeof tfLayers> &
  Omit<typeof tfLayers, "layers"> & { readonly layers: typeof tfLayers.layers & OwnLayers };

export interface ModelContext {
  readonly tf: TensorFlow;
  readonly inputShape: readonly number[];
  readonly outputs: number;
  readonly task: Task;
  readonly seed: number;
  readonly hyperparameters: Readonly<Record<string, unknown>>;
}

/** `labels`: `[rows]` class indices (int32), `[rows]` 0 or 1, or `[rows, outputs]` values; `outputs`: `[rows, outputs]`. */
export type LossFunction = (labels: tfCore.Tensor, outputs: tfCore.Tensor) => tfCore.Tensor;

export interface Training {
  /**
   * Builds the model from layers of `tf.layers` only (the artifact must load without this code). Its single output is
   * `[rows, outputs]`: logits for classification and binary tasks, values for regression. Synchronous.
   */
  readonly model: (context: ModelContext) => tfLayers.LayersModel;
  /**
   * Mean loss of the rows (scalar) or the loss of each row (`[rows]`), of standardised labels and outputs if the job has
   * `features.standardizeLabel`. Default: by task, from logits.
   */
  readonly loss?: LossFunction;
  /** Means over the rows, by name. */
  readonly metrics?: Readonly<Record<string, LossFunction>>;
  /**
   * False: compute operation by operation. By default native TensorFlow records the operations of model, loss and metrics
   * once and repeats them as one graph, so their code runs only a few times.
   */
  readonly graph?: boolean;
  /**
   * Saves memory in graphs: values of the forward pass are computed again in the backward pass, with the same bits. A list
   * names layers whose outputs are kept; values between them are computed again. `auto` chooses layers if a pass would need
   * more than half of the process's memory. Default: `none`.
   */
  readonly rematerialise?: Rematerialise;
}

/**
 * Declares a user's training. The module's default export must be its result.
 *
 * ```ts
 * export default defineTraining({
 *   model: ({ tf, inputShape, outputs }) =>
 *     tf.sequential({ layers: [tf.layers.dense({ units: outputs, inputShape: [...inputShape] })] }),
 * });
 * ```
 */
export function defineTraining(training: Training): Training {
  if (typeof training.model !== "function") throw new TypeError("defineTraining: 'model' must be a function.");
  return training;
}
