import { allocateSum } from "../collective/sum-memory";
import type { EngineOptimizer, TrainableModel } from "../engine/engine";
import { simdGround } from "../kernels/updates";
import { createOptimizer } from "../optimizer/create-optimizer";
import type { Optimizer } from "../optimizer/optimizer";
import { type BestEpoch, createBestEpoch } from "./best-epoch";
import { initialLossScale, type LossScale } from "./loss-scale";
import type { TrainingPlan } from "./plan";
import type { ScoreLayout } from "./score";

/**
 * This worker's copy of the training's state, in the memory of the optimizer's kernels if there is room. After the same number
 * of finished steps, every replica has the same bits.
 */
export interface Replica {
  finishedSteps: number;
  /** All of the model's parameters: trainable ones, then statistics. */
  readonly weights: Float32Array;
  readonly optimizer: Optimizer;
  /** Takes the steps instead of `optimizer` while it is active. Weights and state are copied from it when they are read. */
  readonly engineOptimizer?: EngineOptimizer | undefined;
  /** Sums of the training score since the epoch began (see `ScoreLayout`), then the numbers of `lossScale`, if there is one. */
  readonly epochScore: Float64Array;
  /** Present if gradients are sent or computed in float16. It is a view of `epochScore`, so every copy of the state contains it. */
  lossScale?: LossScale | undefined;
  /** Constant factor of the gradients that the model computes, see `TrainableModel.scaleLoss`. Absent: 1. */
  readonly gradientScale?: number;
  /** Present with early stopping. */
  readonly best?: BestEpoch | undefined;
  /** All of the above except the count, as a gang's `synchronize` sends it; views of the same memory. */
  readonly buffers: readonly Float32Array[];
  /** Returns to step 0. */
  reset(): void;
}

/** Creates this worker's state at step 0, with the model's initial weights. */
export function createReplica(model: TrainableModel, plan: TrainingPlan, layout: ScoreLayout): Replica {
  const initial = new Float32Array(model.parameterCount);
  model.readWeights(initial);
  const weights = allocateSum(initial.length);
  weights.set(initial);
  model.shareWeights(weights);
  const optimizer = createOptimizer(plan.optimizer, model.trainableCount, simdGround);
  const settings = { config: plan.optimizer, clipNorm: plan.clipNorm };
  const engineOptimizer = model.attachOptimizer(settings, { weights, slots: optimizer.state });
  const newest = <T>(memory: T): T => {
    engineOptimizer?.read();
    return memory;
  };
  const slots = Object.keys(optimizer.state)
    .sort()
    .map((name) => optimizer.state[name]!);
  const scaled = plan.gradientFormat === "float16" || plan.precision === "float16";
  // A mean over a full batch whose rows are a power of two then needs no pass over the gradient.
  const gradientScale = scaled || !model.scaleLoss ? 1 : 2 ** -Math.round(Math.log2(plan.batchSize));
  model.scaleLoss?.(gradientScale);
  const epochScore = new Float64Array(layout.length + (scaled ? lossScaleNumbers : 0));
  const best = plan.earlyStopping && createBestEpoch(model, layout);
  const replica: Replica = {
    finishedSteps: 0,
    best,
    get weights() {
      return newest(weights);
    },
    optimizer: {
      ...optimizer,
      get state() {
        return newest(optimizer.state);
      },
    },
    engineOptimizer,
    epochScore,
    gradientScale,
    get buffers() {
      const ofBest = best ? [best.weights, new Float32Array(best.numbers.buffer)] : [];
      return newest([weights, ...slots, new Float32Array(epochScore.buffer), ...ofBest]);
    },
    reset() {
      engineOptimizer?.read();
      this.finishedSteps = 0;
      weights.set(initial);
      for (const slot of slots) slot.fill(0);
      epochScore.fill(0);
      best?.numbers.fill(0);
      if (scaled) this.lossScale = initialLossScale;
    },
  };
  return scaled ? withLossScale(replica, epochScore.subarray(layout.length)) : replica;
}

const lossScaleNumbers = 3;

function withLossScale(replica: Replica, numbers: Float64Array): Replica {
  Object.defineProperty(replica, "lossScale", {
    get: (): LossScale => ({ scale: numbers[0]!, goodSteps: numbers[1]!, skipped: numbers[2]! }),
    set: ({ scale, goodSteps, skipped }: LossScale) => numbers.set([scale, goodSteps, skipped]),
  });
  replica.lossScale = initialLossScale;
  return replica;
}
