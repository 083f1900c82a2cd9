import type { Optimizer, StepOptions } from "./optimizer";

export interface AdamOptions {
  /** Decay of the mean of gradients. Default 0.9. */
  readonly beta1?: number;
  /** Decay of the mean of squared gradients. Default 0.999. */
  readonly beta2?: number;
  /** Added to the root. Default 1e-8. */
  readonly epsilon?: number;
}

/**
 * Adam (Kingma and Ba 2015), one fused pass:
 * m ← β₁m + (1 − β₁)g; v ← β₂v + (1 − β₂)g²; w ← w − η·(m / (1 − β₁ᵗ)) / (√(v / (1 − β₂ᵗ)) + ε).
 */
export function adam(size: number, options: AdamOptions = {}): Optimizer {
  return adamWithDecay("adam", size, { ...options, weightDecay: 0 });
}

/**
 * The loop shared with AdamW: decoupled decay multiplies the weight by 1 − η·λ first. The bias corrections are taken out
 * of the loop: η·m̂ / (√v̂ + ε) = rate·m / (√v·root + ε) with rate = η / (1 − β₁ᵗ), root = 1 / √(1 − β₂ᵗ).
 */
export function adamWithDecay(
  type: "adam" | "adamw",
  size: number,
  { beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weightDecay }: AdamOptions & { readonly weightDecay: number },
): Optimizer {
  const m = new Float32Array(size);
  const v = new Float32Array(size);
  const keep1 = 1 - beta1;
  const keep2 = 1 - beta2;
  return {
    type,
    state: { m, v },
    step(weights: Float32Array, gradients: Float32Array, { step, learningRate, scale = 1 }: StepOptions): void {
      const rate = learningRate / (1 - beta1 ** step);
      const root = 1 / Math.sqrt(1 - beta2 ** step);
      const shrink = 1 - learningRate * weightDecay;
      for (let i = 0; i < weights.length; i++) {
        const g = (gradients[i] as number) * scale;
        const mean = Math.fround(beta1 * (m[i] as number) + keep1 * g);
        const square = Math.fround(beta2 * (v[i] as number) + keep2 * g * g);
        m[i] = mean;
        v[i] = square;
        weights[i] = (weights[i] as number) * shrink - (rate * mean) / (Math.sqrt(square) * root + epsilon);
      }
    },
  };
}
