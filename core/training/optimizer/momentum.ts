import type { Optimizer, StepOptions } from "./optimizer";

export interface MomentumOptions {
  /** μ in [0, 1). Default 0.9. */
  readonly momentum?: number;
  /** Look ahead by one step (Nesterov 1983, as in Sutskever et al. 2013). Default false. */
  readonly nesterov?: boolean;
  /** L2 penalty λ, added to the gradient. Default 0. */
  readonly weightDecay?: number;
}

/** v ← μ·v + g; w ← w − η·v (Nesterov: w ← w − η·(g + μ·v)), with v = 0 before the first step, as PyTorch has it. */
export function momentum(size: number, options: MomentumOptions = {}): Optimizer {
  const { momentum: mu = 0.9, nesterov = false, weightDecay = 0 } = options;
  const velocity = new Float32Array(size);
  return {
    type: "momentum",
    state: { velocity },
    step(weights: Float32Array, gradients: Float32Array, { learningRate, scale = 1 }: StepOptions): void {
      const look = nesterov ? mu : 1;
      const own = nesterov ? 1 : 0;
      for (let i = 0; i < weights.length; i++) {
        const w = weights[i] as number;
        const g = (gradients[i] as number) * scale + weightDecay * w;
        const v = Math.fround(mu * (velocity[i] as number) + g);
        velocity[i] = v;
        weights[i] = w - learningRate * (own * g + look * v);
      }
    },
  };
}
