/** Learning-rate schedules: pure functions of the step, so a resumed run needs no state for them. */

export type DecayConfig =
  | { readonly type: "constant" }
  /** Half a cosine from `learningRate` down to `minimum` (default 0) at the last step (Loshchilov and Hutter 2017). */
  | { readonly type: "cosine"; readonly minimum?: number }
  /** Multiplied by `factor` (default 0.1) after every `every` steps. */
  | { readonly type: "step"; readonly every: number; readonly factor?: number };

export interface LearningRateConfig {
  readonly learningRate: number;
  /** Default constant. */
  readonly decay?: DecayConfig;
  /** Steps of a linear rise from learningRate / warmupSteps to learningRate; the decay starts after them. Default 0. */
  readonly warmupSteps?: number;
}

/** @param step number of the next step, from 1 @param totalSteps steps of the run; only the cosine needs it */
export function learningRateAt(config: LearningRateConfig, step: number, totalSteps: number): number {
  const { learningRate, decay = { type: "constant" }, warmupSteps = 0 } = config;
  if (step <= warmupSteps) return (learningRate * step) / warmupSteps;
  const done = step - warmupSteps - 1;
  switch (decay.type) {
    case "constant":
      return learningRate;
    case "step":
      return learningRate * (decay.factor ?? 0.1) ** Math.floor(done / decay.every);
    case "cosine": {
      const minimum = decay.minimum ?? 0;
      const progress = Math.min(1, done / Math.max(1, totalSteps - warmupSteps - 1));
      return minimum + ((learningRate - minimum) * (1 + Math.cos(Math.PI * progress))) / 2;
    }
  }
}
