import { type AdamOptions, adamWithDecay } from "./adam";
import type { Optimizer } from "./optimizer";

export interface AdamWOptions extends AdamOptions {
  /** Decoupled decay λ. Default 0.01. */
  readonly weightDecay?: number;
}

/** Adam with decoupled weight decay (Loshchilov and Hutter 2019): w ← w − η·λ·w, then Adam's step. Decays every weight. */
export function adamw(size: number, { weightDecay = 0.01, ...options }: AdamWOptions = {}): Optimizer {
  return adamWithDecay("adamw", size, { ...options, weightDecay });
}
