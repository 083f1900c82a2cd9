import { createOptimizer } from "../../core/training/optimizer/create-optimizer";
import type { Optimizer } from "../../core/training/optimizer/optimizer";
import { allocateSum } from "../collective/sum-memory";
import type { TrainableModel } from "../engine/engine";
import { simdGround } from "../kernels/updates";
import type { TrainingPlan } from "./plan";
import type { ScoreLayout } from "./score";

/**
 * This worker's copy of the training's state, in the memory where the optimizer's kernels work as long as there is room. After the
 * same number of finished steps, every replica has the same bits.
 */
export interface Replica {
  finishedSteps: number;
  /** All of the model's parameters: trainable ones, then statistics. */
  readonly weights: Float32Array;
  readonly optimizer: Optimizer;
  /** Sums of the training score since the epoch began (see `ScoreLayout`). */
  readonly epochScore: Float64Array;
  /** All of the above but the count, as what a gang's `synchronize` sends; views of the same memory. */
  readonly buffers: readonly Float32Array[];
  /** Back to step 0. */
  reset(): void;
}

export function createReplica(model: TrainableModel, plan: TrainingPlan, layout: ScoreLayout): Replica {
  const initial = new Float32Array(model.parameterCount);
  model.readWeights(initial);
  const weights = allocateSum(initial.length);
  weights.set(initial);
  const optimizer = createOptimizer(plan.optimizer, model.trainableCount, simdGround);
  const slots = Object.keys(optimizer.state)
    .sort()
    .map((name) => optimizer.state[name]!);
  const epochScore = new Float64Array(layout.length);
  return {
    finishedSteps: 0,
    weights,
    optimizer,
    epochScore,
    buffers: [weights, ...slots, new Float32Array(epochScore.buffer)],
    reset() {
      this.finishedSteps = 0;
      weights.set(initial);
      for (const slot of slots) slot.fill(0);
      epochScore.fill(0);
    },
  };
}
