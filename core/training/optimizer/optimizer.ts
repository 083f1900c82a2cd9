/**
 * Optimizers on flat float32 buffers. The arithmetic of one element is done in double precision and rounded once per
 * stored value (a `Float32Array` rounds to nearest even on each store), in an order fixed by the code: the result has
 * the same bits on every machine that follows IEEE 754, whatever the backend.
 */

export type OptimizerConfig =
  | { readonly type: "sgd"; readonly weightDecay?: number }
  | {
      readonly type: "momentum";
      readonly momentum?: number;
      readonly nesterov?: boolean;
      readonly weightDecay?: number;
    }
  | { readonly type: "adam"; readonly beta1?: number; readonly beta2?: number; readonly epsilon?: number }
  | {
      readonly type: "adamw";
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
