import { javascriptGround, type Optimizer, type OptimizerGround, type StepOptions } from "./optimizer";

interface SgdOptions {
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

interface MomentumOptions {
  /** μ in [0, 1). Default 0.9. */
  readonly momentum?: number;
  /** Look ahead by one step (Nesterov 1983, as in Sutskever et al. 2013). Default false. */
  readonly nesterov?: boolean;
  /** L2 penalty λ, added to the gradient. Default 0. */
  readonly weightDecay?: number;
}

/** Creates v ← μ·v + g; w ← w − η·v (Nesterov: w ← w − η·(g + μ·v)), with v = 0 before the first step, as in PyTorch. */
export function momentum(
  size: number,
  { momentum: mu = 0.9, nesterov = false, weightDecay = 0 }: MomentumOptions = {},
  { allocate, updates }: OptimizerGround = javascriptGround,
): Optimizer {
  const velocity = allocate(size);
  return {
    type: "momentum",
    state: { velocity },
    step(weights: Float32Array, gradients: Float32Array, { learningRate, scale = 1 }: StepOptions): void {
      updates.momentum(weights, gradients, velocity, { scale, learningRate, weightDecay, momentum: mu, nesterov });
    },
  };
}
