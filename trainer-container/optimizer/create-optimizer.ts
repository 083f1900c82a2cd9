import {
  javascriptGround,
  type Optimizer,
  type OptimizerConfig,
  type OptimizerGround,
  type StepOptions,
} from "./optimizer";

interface SgdOptions {
  /** L2 penalty λ, added to the gradient as λ·w. Default 0. */
  readonly weightDecay?: number;
}

/** Creates w ← w − η·(g + λ·w). */
function sgd({ weightDecay = 0 }: SgdOptions = {}, { updates }: OptimizerGround = javascriptGround): Optimizer {
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
function momentum(
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

interface AdamOptions {
  /** Decay of the mean of gradients. Default 0.9. */
  readonly beta1?: number;
  /** Decay of the mean of squared gradients. Default 0.999. */
  readonly beta2?: number;
  /** Added to the root. Default 1e-8. */
  readonly epsilon?: number;
  /** L2 penalty λ, added to the gradient as λ·w before the moments, as in `torch.optim.Adam`. Default 0. */
  readonly weightDecay?: number;
}

/**
 * Creates Adam (Kingma and Ba 2015) in one fused pass, with g ← g + λ·w for an L2 penalty:
 * m ← β₁m + (1 − β₁)g; v ← β₂v + (1 − β₂)g²; w ← w − η·(m / (1 − β₁ᵗ)) / (√(v / (1 − β₂ᵗ)) + ε).
 */
function adam(
  size: number,
  { weightDecay = 0, ...options }: AdamOptions = {},
  ground: OptimizerGround = javascriptGround,
): Optimizer {
  return adamWithDecay("adam", size, { ...options, penalty: weightDecay, decoupledDecay: 0 }, ground);
}

interface Decays {
  /** L2: λ·w is part of the gradient. */
  readonly penalty: number;
  /** Decoupled: η·λ·w is subtracted from the weight. */
  readonly decoupledDecay: number;
}

/** η·m̂ / (√v̂ + ε) = rate·m / (√v·root + ε) with rate = η / (1 − β₁ᵗ), root = 1 / √(1 − β₂ᵗ). */
function adamWithDecay(
  type: "adam" | "adamw",
  size: number,
  { beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, penalty, decoupledDecay }: Omit<AdamOptions, "weightDecay"> & Decays,
  { allocate, updates }: OptimizerGround,
): Optimizer {
  const m = allocate(size);
  const v = allocate(size);
  return {
    type,
    state: { m, v },
    step(weights: Float32Array, gradients: Float32Array, { step, learningRate, scale = 1 }: StepOptions): void {
      updates.adam(weights, gradients, m, v, {
        scale,
        keep1: 1 - beta1,
        keep2: 1 - beta2,
        root: 1 / Math.sqrt(1 - beta2 ** step),
        epsilon,
        rate: learningRate / (1 - beta1 ** step),
        decay: learningRate * decoupledDecay,
        penalty,
      });
    },
  };
}

interface AdamWOptions extends Omit<AdamOptions, "weightDecay"> {
  /** Decoupled decay λ. Default 0.01. */
  readonly weightDecay?: number;
}

/** Creates Adam with decoupled weight decay (Loshchilov and Hutter 2019): also w ← w − η·λ·w. It decays every weight. */
function adamw(
  size: number,
  { weightDecay = 0.01, ...options }: AdamWOptions = {},
  ground: OptimizerGround = javascriptGround,
): Optimizer {
  return adamWithDecay("adamw", size, { ...options, penalty: 0, decoupledDecay: weightDecay }, ground);
}

/** Creates an optimizer with fresh state for `size` weights: all of them, or one rank's part. */
export function createOptimizer(
  config: OptimizerConfig,
  size: number,
  ground: OptimizerGround = javascriptGround,
): Optimizer {
  switch (config.type) {
    case "sgd":
      return sgd(config, ground);
    case "momentum":
      return momentum(size, config, ground);
    case "adam":
      return adam(size, config, ground);
    case "adamw":
      return adamw(size, config, ground);
  }
}
