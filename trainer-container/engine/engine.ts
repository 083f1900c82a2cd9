/**
 * The engine's port: what the training loop knows of TensorFlow. Weights and gradients cross it as flat float32 buffers,
 * one microshard at a time, always at the same shape, so that a microshard's gradient has the same bits whoever computes it.
 */
import type { SparseInputs } from "../../core/features/sparse";
import type { ModelDefinition } from "../../core/runs/model-definition";
import type { BackendName, NumericsRecord } from "../../core/runs/numerics";

/** Where one weight lies in the flat buffers. `offset` and `size` count float32 elements. */
export interface ParameterSlot {
  readonly name: string;
  readonly shape: readonly number[];
  readonly offset: number;
  readonly size: number;
  /**
   * False for running statistics (batch normalisation's moving mean and variance). Their part of a gradient is
   * `weight × (before − after)`, so that the mean over all rows, subtracted with rate 1, is the mean of the microshards'
   * updates: independent of order and of who computed which. Statistics lie after all trainable slots.
   */
  readonly trainable: boolean;
}

/** One microshard. Its `rows` must be the same at every call of a run, or the promise of equal bits is void. */
export interface Batch {
  /** `[rows, ...inputShape]`, row-major. */
  readonly inputs: Float32Array;
  /** The rows, in the place of `inputs`, which are then empty: for the gradients of a model that `takesSparse`. */
  readonly sparse?: SparseInputs;
  /** Class index (classification), 0 or 1 (binary): `[rows]`. Values (regression): `[rows, outputs]`. */
  readonly labels: Int32Array | Float32Array;
  readonly rows: number;
  /** Weight of each row `[rows]`; 0 masks a padding row. Default: all 1. */
  readonly weights?: Float32Array;
}

/** Sums over a batch's rows: add them over microshards, then divide by the sum of `weight`. */
export interface BatchResult {
  readonly loss: number;
  /** Σ of the rows' weights: `rows` without weights. */
  readonly weight: number;
  /** Weighted count of rows predicted right; classification and binary only. */
  readonly correct?: number;
  /** User metrics, each times `weight`. */
  readonly metrics?: Readonly<Record<string, number>>;
}

/** Elements [start, end) of the gradient being computed are in their place and final. Must not throw. */
export type OnFinal = (start: number, end: number) => void;

export interface TrainableModel {
  /** All weights in the order of the flat buffers: trainable ones, then statistics. */
  readonly layout: readonly ParameterSlot[];
  /** Elements of the flat buffers. */
  readonly parameterCount: number;
  /** Elements `[0, trainableCount)` take the optimizer's step; the rest are statistics (see `ParameterSlot.trainable`). */
  readonly trainableCount: number;
  /**
   * Whether gradients can be computed from sparse rows, in less time and with other bits than from dense ones: a part of what the model
   * is, so the same on every worker with these numerics.
   */
  readonly takesSparse?: boolean;
  readWeights(into: Float32Array): void;
  writeWeights(from: Float32Array): void;
  /**
   * Asks the model to compute with these weights where they lie, as far as it can, and not with a copy: `writeWeights` from the same memory has less
   * to do then. Between a change and that call the model may see either.
   */
  shareWeights?(weights: Float32Array): void;
  /**
   * Gradient of the *sum* over the batch's rows of weight × loss (plus `weight` × the model's regularisation). The global
   * batch's mean gradient is Σ over microshards of these, divided by Σ `weight`.
   *
   * @param randomKey seeds dropout and any random draw of this call, e.g. `"step 12 microshard 3"`; with equal key,
   *   weights and batch the result has equal bits, on any worker.
   * @param onFinal called while the backward pass goes on, where the model can tell: parts need not be told.
   */
  gradients(batch: Batch, randomKey: string, into: Float32Array, onFinal?: OnFinal): BatchResult;
  /** Loss and metrics without training behaviour (no dropout) and without gradients. */
  evaluate(batch: Batch): BatchResult;
  /** Probabilities `[rows, outputs]` (binary: `[rows]`), or values (regression). */
  predict(inputs: Float32Array, rows: number): Float32Array;
  /** JSON from which `adapters/tfjs` rebuilds the model for inference, without user code. */
  topology(): string;
  dispose(): void;
}

export interface Engine {
  readonly backend: BackendName;
  numerics(): NumericsRecord;
  /** @throws ModelError when the definition cannot be built, trained or exported. */
  createModel(definition: ModelDefinition, seed: number): Promise<TrainableModel>;
}

export interface EngineOptions {
  /** `auto`: native where its binding loads, else WebAssembly. `native` throws where it does not. Default `auto`. */
  readonly preferred?: BackendName | "auto";
  /** Threads of one kernel. Part of the numerics record. */
  readonly threads: number;
  /** Index of the GPU to run on; undefined: the CPU. Asserted, never silently the CPU. */
  readonly gpu?: number;
  /** Lets NVIDIA's libraries round the factors of float32 products to TF32. Needs `gpu`. Default false. */
  readonly tf32?: boolean;
  /** Told why `auto` did not get the native backend. */
  readonly onFallback?: (reason: Error) => void;
}
