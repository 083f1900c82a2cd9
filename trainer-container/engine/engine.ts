/** The engine's port. Weights and gradients are flat float32 buffers, one micro-batch of fixed shape at a time. */
import type { SparseInputs } from "../../core/features/sparse";
import type { NarrowPrecision } from "../../core/runs/hyperparameters";
import type { ModelDefinition } from "../../core/runs/model-definition";
import type { BackendName, NumericsRecord } from "../../core/runs/shapes";
import type { OptimizerConfig } from "../optimizer/optimizer";

/** Position of one weight in the flat buffers. `offset` and `size` count float32 elements. */
export interface ParameterSlot {
  readonly name: string;
  readonly shape: readonly number[];
  readonly offset: number;
  readonly size: number;
  /**
   * False for running statistics, which follow all trainable slots. Their part of a gradient is `weight × (before −
   * after)`, so the mean over all rows, subtracted at rate 1, is the mean of the updates.
   */
  readonly trainable: boolean;
}

/** One micro-batch. Its `rows` must be the same in every call of a run, otherwise equal bits are not guaranteed. */
export interface Batch {
  /** `[rows, ...inputShape]`, row-major. */
  readonly inputs: Float32Array;
  /** Replaces `inputs`, which are then empty, for the gradients of a model that `takesSparse`. */
  readonly sparse?: SparseInputs;
  /** Class index (classification), 0 or 1 (binary): `[rows]`. Values (regression): `[rows, outputs]`. */
  readonly labels: Int32Array | Float32Array;
  readonly rows: number;
  /** Weight of each row `[rows]`; 0 masks a padding row. Default: all 1. */
  readonly weights?: Float32Array;
}

/** Sums over a batch's rows. Add them over micro-batches, then divide by the sum of `weight`. */
export interface BatchResult {
  readonly loss: number;
  /** Sum of the rows' weights: `rows` without weights. */
  readonly weight: number;
  /** Weighted number of correctly predicted rows; classification and binary only. */
  readonly correct?: number;
  /** User metrics, each times `weight`. */
  readonly metrics?: Readonly<Record<string, number>>;
}

/** Reports that elements [start, end) of the current gradient are written and final. Must not throw. */
export type OnFinal = (start: number, end: number) => void;

/** The micro-batches of one call. Gradients are added as in the canonical tree, with the bits of single additions. */
export interface EnginePass {
  /** Takes the next micro-batch. Several have no row weights; their arrays may be reused, those of a single one may not. */
  add(batch: Batch, randomKey: string): void;
  /**
   * Computes the gradient of the *sum* over all rows of weight × loss (plus `weight` × the model's regularisation).
   * @param onFinal called during the backward pass, if the model supports it; it may omit parts
   */
  gradients(into: Float32Array, onFinal?: OnFinal): readonly BatchResult[];
}

export interface StepTaken {
  /** The results of a pass by micro-batch; none of a sum. */
  readonly results: readonly BatchResult[];
  /** The norm of the mean gradient before clipping. If it is not finite, nothing was changed. */
  readonly gradientNorm: number;
}

/** Returns a pass of one micro-batch, whose gradient `compute` returns. */
export function passOfOne(
  compute: (batch: Batch, randomKey: string, into: Float32Array, onFinal?: OnFinal) => BatchResult,
): EnginePass {
  let only: { readonly batch: Batch; readonly randomKey: string } | undefined;
  return {
    add(batch, randomKey) {
      if (only) throw new RangeError("this model adds no gradients, but a second micro-batch was added");
      only = { batch, randomKey };
    },
    gradients(into, onFinal) {
      if (only === undefined) throw new RangeError("the pass has no micro-batch");
      return [compute(only.batch, only.randomKey, into, onFinal)];
    },
  };
}

export interface NonFinite {
  /** A sentence. */
  readonly description: string;
  /** Has the stack of that place. */
  readonly place: Error;
}

export interface OptimizerSettings {
  readonly config: OptimizerConfig;
  /** See `clipFactor`. */
  readonly clipNorm?: number | undefined;
}

export interface StepUpdate {
  /** Number of the step from 1, for Adam's bias correction. */
  readonly step: number;
  readonly learningRate: number;
  /** 1 / Σ weight. */
  readonly mean: number;
  /** `mean`, divided by the factor of the gradients, see `TrainableModel.scaleLoss`. */
  readonly unscaled: number;
}

/** Takes a model's steps. Between steps, weights and slots may be in the engine's memory. */
export interface ModelOptimizer {
  /** Buffers by name, each of `trainableCount` elements. They have the state until the first step, and after `read`. */
  readonly slots: Readonly<Record<string, Float32Array>>;
  /** Whether `step` takes a pass: once gradients were computed as a graph. The same on every worker. */
  readonly takesPasses: boolean;
  /**
   * @param gradient the sum over the step's rows, statistics included; or the model's pass over them, whose gradients are
   *   computed in the same call with the same bits
   */
  step(gradient: Float32Array | EnginePass, update: StepUpdate): StepTaken;
  /** Copies weights and slots to JavaScript's memory, if the engine's are newer. `writeWeights` makes that memory newer. */
  read(): void;
}

export interface ModelLayer {
  readonly name: string;
  readonly slots: readonly ParameterSlot[];
}

export interface TrainableModel {
  /** The layers that have weights, in the model's order, whether they are trained or frozen. */
  readonly layers: readonly ModelLayer[];
  /** All weights in the order of the flat buffers: trainable ones, then statistics. */
  readonly layout: readonly ParameterSlot[];
  readonly parameterCount: number;
  /** The optimizer updates elements `[0, trainableCount)`. The rest are statistics (see `ParameterSlot.trainable`). */
  readonly trainableCount: number;
  /** Whether sparse rows give gradients faster, with other bits than dense ones. The same on every worker. */
  readonly takesSparse: boolean;
  readWeights(into: Float32Array): void;
  writeWeights(from: Float32Array): void;
  /** Lets the model use these weights in place. Between a change and `writeWeights` it may see either version. */
  shareWeights(weights: Float32Array): void;
  /** Number of micro-batches that `begin` may take, at least 1. It grows as the model learns how long they take. */
  readonly maxSum: number;
  /**
   * Begins a pass over at most `maxSum` micro-batches. Each one's key seeds its draws, e.g. `"step 12 micro-batch 3"`.
   */
  begin(microBatches: number): EnginePass;
  /**
   * Creates the optimizer of the model's steps. Call it once, before the first gradient.
   * @param weights has the weights until the first step, and again after `writeWeights`
   */
  attachOptimizer(settings: OptimizerSettings, weights: Float32Array): ModelOptimizer;
  /** Sets the factor of the loss in gradients, a power of two; not of statistics. Only with graphs. Default 1. */
  scaleLoss?(scale: number): void;
  /** Finds where the loss or a gradient of a batch stops being finite, from the first value on. */
  explainNonFinite(batch: Batch, randomKey: string): NonFinite | undefined;
  /** Computes loss and metrics without training behaviour (no dropout) and without gradients. */
  evaluate(batch: Batch): BatchResult;
  /** Returns probabilities `[rows, outputs]` (binary: `[rows]`), or values (regression). */
  predict(inputs: Float32Array, rows: number): Float32Array;
  /** Returns JSON from which `trainer-container/tfjs` rebuilds the model for inference, without user code. */
  topology(): string;
  dispose(): void;
}

export interface Engine {
  readonly backend: BackendName;
  numerics(): NumericsRecord;
  /** @throws ModelError if the definition cannot be built, trained or exported */
  createModel(definition: ModelDefinition, seed: number): Promise<TrainableModel>;
}

export interface EngineOptions {
  /** `auto`: native if its binding loads, otherwise WebAssembly. `native` throws if it does not load. Default `auto`. */
  readonly preferred?: BackendName | "auto";
  /** Threads of one kernel. Part of the numerics record. */
  readonly threads: number;
  /** Index of the GPU; undefined: the CPU. There is no fallback from the GPU to the CPU. */
  readonly gpu?: number;
  /** Lets NVIDIA's libraries round the factors of float32 products to TF32. Needs `gpu`. Default false. */
  readonly tf32?: boolean;
  /** Format of the factors and results of products in gradients. Needs the native engine and a graph. Default: none. */
  readonly precision?: NarrowPrecision;
  /** Called with the reason if `auto` falls back to WebAssembly. */
  readonly onFallback?: (reason: Error) => void;
  /** Called when a model's pass is first computed. Must not throw. */
  readonly onExecution?: (execution: Execution) => void;
  /** Called when a user's model gives other gradients for the same rows, weights and draws: it depends on a changing state. */
  readonly onChangingModel?: () => void;
  /** Called when a loss or metrics leave tensors behind in each call, with their names. */
  readonly onKeptTensors?: (functions: readonly string[]) => void;
}

/** Reports how the engine computes a pass of a user's model. */
export type Execution =
  | {
      readonly pass: "gradients" | "evaluation";
      /** All operations as one TensorFlow graph. */
      readonly engine: "graph";
      readonly operations: number;
      /** 0: none, because the bits would differ. Undefined: not requested, or memory suffices. */
      readonly rematerialised?: number;
      /** Time to record, load and check it. */
      readonly ms: number;
    }
  | {
      readonly pass: "gradients" | "evaluation";
      /** Operation by operation. */
      readonly engine: "tape";
      /** Its stack names the user's code that prevents a graph, if there is such a place. */
      readonly reason: Error;
      /** Whether the user's code declines a graph. */
      readonly declined?: boolean;
    };
