/**
 * Optimizers on float32 buffers, rounded at every operation in the order of `updates.ts`: the same bits in JavaScript
 * and SIMD. A step's constants are computed in double precision first.
 */
import { javascriptUpdates, type Updates } from "./updates";

export type OptimizerConfig =
  | { readonly type: "sgd"; readonly weightDecay?: number }
  | {
      readonly type: "momentum";
      readonly momentum?: number;
      readonly nesterov?: boolean;
      readonly weightDecay?: number;
    }
  | {
      readonly type: "adam" | "adamw";
      readonly beta1?: number;
      readonly beta2?: number;
      readonly epsilon?: number;
      readonly weightDecay?: number;
    };

export interface StepOptions {
  /** Number of this step in the run, from 1 (Adam's bias correction). */
  readonly step: number;
  readonly learningRate: number;
  /** Multiplies each gradient as it is read: 1 / Σ weight, times the clipping factor. Default 1. */
  readonly scale?: number;
}

export interface Optimizer {
  readonly type: OptimizerConfig["type"];
  /** Live state buffers by name, each as long as the weights: write them to checkpoints, copy into them to restore. */
  readonly state: Readonly<Record<string, Float32Array>>;
  /** Updates `weights` in place. `gradients` may be longer than `weights` (statistics follow) and is not changed. */
  step(weights: Float32Array, gradients: Float32Array, options: StepOptions): void;
}

/** Memory and arithmetic of an optimizer. The bits do not depend on either. */
export interface OptimizerGround {
  /** Returns zeros. Default: on the heap. */
  readonly allocate: (length: number) => Float32Array;
  /** Default: JavaScript. */
  readonly updates: Updates;
}

export const javascriptGround: OptimizerGround = {
  allocate: (length) => new Float32Array(length),
  updates: javascriptUpdates,
};
