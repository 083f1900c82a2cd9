/** An optimizer whose step the engine takes, in its own memory: the weights and slots need not leave it between steps. */
import type { OptimizerConfig } from "../optimizer/optimizer";
import type { Batch, BatchResult } from "./engine";

export interface OptimizerSettings {
  readonly config: OptimizerConfig;
  /** See `clipFactor`. */
  readonly clipNorm?: number | undefined;
}

/** JavaScript's memory of the weights and of the optimizer's slots, by name. */
export interface OptimizerMemory {
  readonly weights: Float32Array;
  readonly slots: Readonly<Record<string, Float32Array>>;
}

/** The numbers of one step. */
export interface StepUpdate {
  /** Number of the step from 1, for Adam's bias correction. */
  readonly step: number;
  readonly learningRate: number;
  /** 1 / Σ weight. */
  readonly mean: number;
  /** `mean`, divided by the loss scale if there is one. */
  readonly unscaled: number;
}

/** A step that computes its gradients in the same call. It has no row weights. */
export interface EngineStep {
  /** Takes the next microshard, as `TrainableModel.gradients` does. The arrays may be reused. */
  add(batch: Batch, randomKey: string): void;
  /** Takes the step, as `EngineOptimizer.apply` does. Its bits are those of the sum and `apply`. */
  finish(update: StepUpdate): { readonly results: readonly BatchResult[]; readonly gradientNorm: number };
}

export interface EngineOptimizer {
  /**
   * Whether the engine takes the steps. It does once a microshard's gradients were computed as a graph, which depends on the
   * model alone, so it is the same on every worker.
   */
  readonly active: boolean;
  /**
   * Updates weights, slots and statistics with the sum of all microshards' gradients.
   *
   * @returns the norm of the mean gradient before clipping. If it is not finite, nothing was changed.
   */
  apply(sum: Float32Array, update: StepUpdate): number;
  /** Begins a step with at most `TrainableModel.maxSum` microshards. One step at a time. */
  beginStep(microshards: number): EngineStep;
  /** Copies weights and slots to JavaScript's memory, if the engine's are newer. `writeWeights` makes that memory newer. */
  read(): void;
}
