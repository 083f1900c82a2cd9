import type { TrainableModel } from "../engine/engine";
import { simdBlockSquare } from "../kernels/norm";
import { clipFactor, globalNorm } from "../optimizer/clip";
import { learningRateAt } from "../optimizer/learning-rate";
import { applyStatistics } from "../optimizer/statistics";
import { TrainingHaltedError } from "./errors";
import { nextLossScale } from "./loss-scale";
import type { TrainingPlan } from "./plan";
import type { Replica } from "./replica";
import { type Score, type ScoreLayout, scoreOf } from "./score";

/** The result of a finished step; the same on every rank. */
export interface StepOutcome {
  /** Finished steps, this one included. */
  readonly step: number;
  readonly epoch: number;
  readonly score: Score;
  /** Before clipping. Not finite if the step was skipped. */
  readonly gradientNorm: number;
  readonly learningRate: number;
  /** Scale of the step's gradients, if they are float16. */
  readonly lossScale?: number;
  /** The gradients overflowed float16: the step counts as finished, but changed nothing. The next one has half the scale. */
  readonly skipped?: true;
}

/**
 * Takes one optimizer step with the sum of all leaves: mean gradient, clipped by its global norm, then the update of weights
 * and running statistics. Synchronous, so a replica is never seen in between.
 *
 * @param reduced the gradient's elements, times the replica's loss scale if there is one
 * @throws TrainingHaltedError if loss or gradient is not finite. Every rank holds the same sum, so none applies it.
 */
export function applyStep(
  replica: Replica,
  reduced: Float32Array,
  model: TrainableModel,
  plan: TrainingPlan,
  layout: ScoreLayout,
): StepOutcome {
  const finished = replica.finishedSteps;
  const sums = reduced.subarray(model.parameterCount);
  const score = scoreOf(layout, sums);
  const { lossScale } = replica;
  const mean = 1 / score.weight;
  const unscaled = mean / (lossScale?.scale ?? 1);
  const gradientNorm = globalNorm(reduced, model.trainableCount, simdBlockSquare) * unscaled;
  requireFinite("loss", score.loss, finished);
  const next = lossScale && nextLossScale(lossScale, Number.isFinite(gradientNorm));
  const skipped = next !== undefined && next.skipped > lossScale!.skipped;
  if (!skipped) requireFinite("gradient", gradientNorm, finished);

  const learningRate = learningRateAt(plan.learningRate, finished + 1, plan.totalSteps);
  if (!skipped) {
    replica.optimizer.step(replica.weights.subarray(0, model.trainableCount), reduced, {
      step: finished + 1 - (lossScale?.skipped ?? 0),
      learningRate,
      scale: unscaled * clipFactor(gradientNorm, plan.clipNorm),
    });
    applyStatistics(replica.weights, reduced, model.trainableCount, mean);
  }
  if (next !== undefined) replica.lossScale = next;
  model.writeWeights(replica.weights);

  const { epoch, stepInEpoch } = plan.sampler.position(finished);
  if (stepInEpoch === 0) replica.epochScore.fill(0, 0, layout.length);
  for (let i = 0; i < layout.length; i += 1) replica.epochScore[i]! += sums[i]!;
  replica.finishedSteps = finished + 1;
  return {
    step: replica.finishedSteps,
    epoch,
    score,
    gradientNorm,
    learningRate,
    ...(lossScale && { lossScale: lossScale.scale }),
    ...(skipped && { skipped }),
  };
}

export function requireFinite(what: "loss" | "gradient", value: number, finished: number): void {
  if (Number.isFinite(value)) return;
  throw new TrainingHaltedError(
    what === "loss" ? "NON_FINITE_LOSS" : "NON_FINITE_GRADIENT",
    `the ${what} of step ${finished + 1} is ${value}: training diverged and the step was not applied. ` +
      "Lower hyperparameters.learningRate, set hyperparameters.clipNorm, or look for extreme values in the features.",
    finished,
  );
}
