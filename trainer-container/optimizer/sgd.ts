import { javascriptGround, type Optimizer, type OptimizerGround, type StepOptions } from "./optimizer";

export interface SgdOptions {
  /** L2 penalty λ, added to the gradient as λ·w. Default 0. */
  readonly weightDecay?: number;
}

/** Creates w ← w − η·(g + λ·w). */
export function sgd({ weightDecay = 0 }: SgdOptions = {}, { updates }: OptimizerGround = javascriptGround): Optimizer {
  return {
    type: "sgd",
    state: {},
    step(weights: Float32Array, gradients: Float32Array, { learningRate, scale = 1 }: StepOptions): void {
      updates.sgd(weights, gradients, { scale, learningRate, weightDecay });
    },
  };
}
