import { type AdamOptions, adamWithDecay } from "./adam";
import { javascriptGround, type Optimizer, type OptimizerGround } from "./optimizer";

export interface AdamWOptions extends Omit<AdamOptions, "weightDecay"> {
  /** Decoupled decay λ. Default 0.01. */
  readonly weightDecay?: number;
}

/** Creates Adam with decoupled weight decay (Loshchilov and Hutter 2019): also w ← w − η·λ·w. It decays every weight. */
export function adamw(
  size: number,
  { weightDecay = 0.01, ...options }: AdamWOptions = {},
  ground: OptimizerGround = javascriptGround,
): Optimizer {
  return adamWithDecay("adamw", size, { ...options, penalty: 0, decoupledDecay: weightDecay }, ground);
}
