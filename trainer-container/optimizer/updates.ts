/**
 * One step's arithmetic: every operation rounds to float32 in the written order, as SIMD does. This and the trainer's
 * kernels have the same bits. Arrays count from the weights' first element.
 */

interface SgdConstants {
  /** Multiplies each gradient. */
  readonly scale: number;
  readonly learningRate: number;
  readonly weightDecay: number;
}

interface MomentumConstants extends SgdConstants {
  readonly momentum: number;
  readonly nesterov: boolean;
}

interface AdamConstants {
  readonly scale: number;
  /** 1 − β₁. */
  readonly keep1: number;
  /** 1 − β₂. */
  readonly keep2: number;
  /** 1 / √(1 − β₂ᵗ). */
  readonly root: number;
  readonly epsilon: number;
  /** η / (1 − β₁ᵗ). */
  readonly rate: number;
  /** η·λ of a decoupled decay. */
  readonly decay: number;
  /** λ of an L2 penalty. */
  readonly penalty: number;
}

export interface Updates {
  sgd(weights: Float32Array, gradients: Float32Array, constants: SgdConstants): void;
  momentum(weights: Float32Array, gradients: Float32Array, velocity: Float32Array, constants: MomentumConstants): void;
  adam(
    weights: Float32Array,
    gradients: Float32Array,
    m: Float32Array,
    v: Float32Array,
    constants: AdamConstants,
  ): void;
}

const f = Math.fround;

export const javascriptUpdates: Updates = {
  /** g ← s·g + λ·w; w ← w − η·g. */
  sgd(weights, gradients, constants) {
    const [scale, learningRate, decay] = [f(constants.scale), f(constants.learningRate), f(constants.weightDecay)];
    for (let i = 0; i < weights.length; i++) {
      const w = weights[i]!;
      const g = f(f(gradients[i]! * scale) + f(decay * w));
      weights[i] = f(w - f(learningRate * g));
    }
  },

  /** g ← s·g + λ·w; v ← μ·v + g; w ← w − η·v, or with Nesterov's look ahead w ← w − η·(g + μ·v). */
  momentum(weights, gradients, velocity, constants) {
    const [scale, learningRate, decay] = [f(constants.scale), f(constants.learningRate), f(constants.weightDecay)];
    const mu = f(constants.momentum);
    const { nesterov } = constants;
    for (let i = 0; i < weights.length; i++) {
      const w = weights[i]!;
      const g = f(f(gradients[i]! * scale) + f(decay * w));
      const v = f(f(mu * velocity[i]!) + g);
      velocity[i] = v;
      weights[i] = f(w - f(learningRate * (nesterov ? f(g + f(mu * v)) : v)));
    }
  },

  /**
   * g ← s·g (L2: + λ·w); m ← m + (1 − β₁)(g − m); v ← v + (1 − β₂)(g² − v); w ← w − (η·λ·w + rate·m / (√v·root + ε)).
   * Increments keep the roundings of a small 1 − β₂ small.
   */
  adam(weights, gradients, m, v, constants) {
    const [scale, keep1, keep2] = [f(constants.scale), f(constants.keep1), f(constants.keep2)];
    const [root, epsilon] = [f(constants.root), f(constants.epsilon)];
    const [rate, decay, penalty] = [f(constants.rate), f(constants.decay), f(constants.penalty)];
    for (let i = 0; i < weights.length; i++) {
      const w = weights[i]!;
      const scaled = f(gradients[i]! * scale);
      const g = penalty === 0 ? scaled : f(scaled + f(penalty * w));
      const mean = f(m[i]! + f(keep1 * f(g - m[i]!)));
      const square = f(v[i]! + f(keep2 * f(f(g * g) - v[i]!)));
      m[i] = mean;
      v[i] = square;
      const move = f(f(rate * mean) / f(f(f(Math.sqrt(square)) * root) + epsilon));
      weights[i] = f(w - f(f(decay * w) + move));
    }
  },
};

/**
 * Applies statistics' part of a sum, `weight × (before − after)` each: one subtraction at rate 1, without clipping.
 * @param scale 1 / Σ weight; `from`: the model's `trainableCount`
 */
export function applyStatistics(weights: Float32Array, gradients: Float32Array, from: number, scale: number): void {
  for (let i = from; i < weights.length; i++) {
    weights[i] = (weights[i] as number) - (gradients[i] as number) * scale;
  }
}
