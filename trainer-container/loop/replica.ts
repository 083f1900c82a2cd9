import type { ModelOptimizer, TrainableModel } from "../engine/engine";
import { allocateSum } from "../kernels/sum-memory";
import { type BestEpoch, createBestEpoch } from "./best-epoch";
import type { TrainingPlan } from "./plan";
import type { ScoreLayout } from "./score";

/**
 * Dynamic loss scaling (Micikevicius et al. 2018): gradients are multiplied by a power of two before they are rounded to
 * float16, so that small ones do not become zero. With `precision: float16` the loss's gradient is multiplied in the graph.
 * Otherwise only the gradients' copies on the wire are multiplied, exactly. The reported loss does not change.
 *
 * The state is a function of the previous steps, so all ranks and all world sizes agree. A step whose sum overflowed is
 * skipped and halves the scale. `goodSteps` others in a row double it.
 */
export interface LossScale {
  readonly scale: number;
  /** Steps since the scale last changed. */
  readonly goodSteps: number;
  /** Steps that were skipped in the whole run. They count as finished, but not for Adam's bias correction. */
  readonly skipped: number;
}

export const initialLossScale: LossScale = { scale: 2 ** 10, goodSteps: 0, skipped: 0 };

/** Interval at which a higher scale is tried: an overflow then costs one of this many steps. */
export const goodStepsToDouble = 500;
/** Float16's maximum is just below 2¹⁶. If a sum of gradients exceeds 2³², the format is not the reason. */
export const minLossScale = 2 ** -16;
export const maxLossScale = 2 ** 24;

/** @returns undefined if a smaller scale would not help: the gradient itself is not finite */
export function nextLossScale({ scale, goodSteps, skipped }: LossScale, finite: boolean): LossScale | undefined {
  if (!finite) {
    return scale <= minLossScale ? undefined : { scale: scale / 2, goodSteps: 0, skipped: skipped + 1 };
  }
  if (goodSteps + 1 < goodStepsToDouble) return { scale, goodSteps: goodSteps + 1, skipped };
  return { scale: Math.min(maxLossScale, scale * 2), goodSteps: 0, skipped };
}

/** This worker's copy of the training's state. After equal numbers of steps, every replica has the same bits. */
export interface Replica {
  finishedSteps: number;
  /** All of the model's parameters: trainable ones, then statistics. */
  readonly weights: Float32Array;
  /** The optimizer's state by name. */
  readonly slots: Readonly<Record<string, Float32Array>>;
  /** Takes the steps; absent: shards do. Weights and slots are copied from it when they are read. */
  readonly optimizer?: ModelOptimizer | undefined;
  /** Sums of the training score since the epoch began (see `ScoreLayout`), then the numbers of `lossScale`, if there is one. */
  readonly epochScore: Float64Array;
  /** Present if gradients are sent or computed in float16. It is a view of `epochScore`, so every copy of the state contains it. */
  lossScale?: LossScale | undefined;
  /** Constant factor of the gradients that the model computes, see `TrainableModel.scaleLoss`. Absent: 1. */
  readonly gradientScale?: number;
  readonly best?: BestEpoch | undefined;
  /** All of the above except the count, as a gang's `synchronize` sends it; views of the same memory. */
  readonly buffers: readonly Float32Array[];
  reset(): void;
}

/** Creates this worker's state at step 0, with the model's initial weights. */
export function createReplica(model: TrainableModel, plan: TrainingPlan, layout: ScoreLayout): Replica {
  const initial = new Float32Array(model.parameterCount);
  model.readWeights(initial);
  const weights = allocateSum(initial.length);
  weights.set(initial);
  model.shareWeights(weights);
  const optimizer = model.attachOptimizer({ config: plan.optimizer, clipNorm: plan.clipNorm }, weights);
  const newest = <T>(memory: T): T => {
    optimizer.read();
    return memory;
  };
  const slots = Object.keys(optimizer.slots)
    .sort()
    .map((name) => optimizer.slots[name]!);
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
    get slots() {
      return newest(optimizer.slots);
    },
    optimizer,
    epochScore,
    gradientScale,
    get buffers() {
      const ofBest = best ? [best.weights, new Float32Array(best.numbers.buffer)] : [];
      return newest([weights, ...slots, new Float32Array(epochScore.buffer), ...ofBest]);
    },
    reset() {
      optimizer.read();
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
