import type { Optimizer, StepOptions } from "./optimizer";

export interface SgdOptions {
  /** L2 penalty λ, added to the gradient as λ·w. Default 0. */
  readonly weightDecay?: number;
}

/** w ← w − η·(g + λ·w). */
export function sgd({ weightDecay = 0 }: SgdOptions = {}): Optimizer {
  return {
    type: "sgd",
    state: {},
    step(weights: Float32Array, gradients: Float32Array, { learningRate, scale = 1 }: StepOptions): void {
      for (let i = 0; i < weights.length; i++) {
        const w = weights[i] as number;
        weights[i] = w - learningRate * ((gradients[i] as number) * scale + weightDecay * w);
      }
    },
  };
}
