import { clipFactor, globalNorm } from "../../core/training/optimizer/clip";
import { learningRateAt } from "../../core/training/optimizer/learning-rate";
import { applyStatistics } from "../../core/training/optimizer/statistics";
import type { TrainableModel } from "../engine/engine";
import { simdBlockSquare } from "../kernels/norm";
import { TrainingHaltedError } from "./errors";
import type { TrainingPlan } from "./plan";
import type { Replica } from "./replica";
import { type Score, type ScoreLayout, scoreOf } from "./score";

/** What a finished step was like; the same on every rank. */
export interface StepOutcome {
  /** Finished steps, this one included. */
  readonly step: number;
  readonly epoch: number;
  readonly score: Score;
  /** Before clipping. */
  readonly gradientNorm: number;
  readonly learningRate: number;
}

/**
 * Takes one optimizer step with the sum of all leaves: mean gradient, clipped by its global norm, then the update of weights and running
 * statistics. Synchronous: a replica is never seen half-way.
 *
 * @throws TrainingHaltedError where loss or gradient is not finite. Every rank holds the same sum, so none applies it.
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
  const mean = 1 / score.weight;
  const gradientNorm = globalNorm(reduced, model.trainableCount, simdBlockSquare) * mean;
  requireFinite("loss", score.loss, finished);
  requireFinite("gradient", gradientNorm, finished);

  const learningRate = learningRateAt(plan.learningRate, finished + 1, plan.totalSteps);
  replica.optimizer.step(replica.weights.subarray(0, model.trainableCount), reduced, {
    step: finished + 1,
    learningRate,
    scale: mean * clipFactor(gradientNorm, plan.clipNorm),
  });
  applyStatistics(replica.weights, reduced, model.trainableCount, mean);
  model.writeWeights(replica.weights);

  const { epoch, stepInEpoch } = plan.sampler.position(finished);
  if (stepInEpoch === 0) replica.epochScore.fill(0);
  for (let i = 0; i < layout.length; i += 1) replica.epochScore[i]! += sums[i]!;
  replica.finishedSteps = finished + 1;
  return { step: replica.finishedSteps, epoch, score, gradientNorm, learningRate };
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
