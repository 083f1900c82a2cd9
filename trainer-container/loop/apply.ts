import type { StepUpdate, TrainableModel } from "../engine/engine";
import { simdBlockSquare } from "../kernels/norm";
import { clipFactor, globalNorm } from "../optimizer/clip";
import { learningRateAt } from "../optimizer/learning-rate";
import { applyStatistics } from "../optimizer/updates";
import { TrainingHaltedError } from "./errors";
import type { TakenStep } from "./gradients";
import type { TrainingPlan } from "./plan";
import { nextLossScale, type Replica } from "./replica";
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
  /** Number of skipped steps of the run so far, if gradients are float16. */
  readonly skippedSteps?: number;
  /** The gradients overflowed float16: the step counts as finished, but changed nothing. The next one has half the scale. */
  readonly skipped?: true;
}

/**
 * Takes one optimizer step with the sum of all leaves. Synchronous, so a replica is never seen in between.
 * @param reduced the gradient's elements, times the replica's loss scale or gradient scale
 * @throws TrainingHaltedError if loss or gradient is not finite, on every rank
 */
export function applyStep(
  replica: Replica,
  reduced: Float32Array,
  model: TrainableModel,
  plan: TrainingPlan,
  layout: ScoreLayout,
): StepOutcome {
  const sums = reduced.subarray(model.parameterCount);
  const score = scoreOf(layout, sums);
  requireFinite("loss", score.loss, replica.finishedSteps);
  const update = updateOf(replica, plan, score.weight);
  const { engineOptimizer } = replica;
  const gradientNorm = engineOptimizer?.active
    ? engineOptimizer.apply(reduced, update)
    : applyHere(replica, reduced, model, plan, update);
  return finishStep(replica, plan, layout, sums, update, gradientNorm);
}

/** Returns the numbers of the replica's next step. @param weight sum of all rows' weights */
export function updateOf(
  { finishedSteps, lossScale, gradientScale }: Replica,
  plan: TrainingPlan,
  weight: number,
): StepUpdate {
  const mean = 1 / weight;
  return {
    step: finishedSteps + 1 - (lossScale?.skipped ?? 0),
    learningRate: learningRateAt(plan.learningRate, finishedSteps + 1, plan.totalSteps),
    mean,
    unscaled: mean / (lossScale?.scale ?? gradientScale ?? 1),
  };
}

/** Updates the replica in JavaScript's memory. @returns the norm; if it is not finite, nothing was changed */
function applyHere(
  replica: Replica,
  reduced: Float32Array,
  model: TrainableModel,
  plan: TrainingPlan,
  { step, learningRate, mean, unscaled }: StepUpdate,
): number {
  const norm = globalNorm(reduced, model.trainableCount, simdBlockSquare) * unscaled;
  if (!Number.isFinite(norm)) return norm;
  const { weights } = replica;
  replica.optimizer.step(weights.subarray(0, model.trainableCount), reduced, {
    step,
    learningRate,
    scale: unscaled * clipFactor(norm, plan.clipNorm),
  });
  applyStatistics(weights, reduced, model.trainableCount, mean);
  model.writeWeights(weights);
  return norm;
}

/** Counts a step that the engine has taken. @throws TrainingHaltedError if loss or gradient is not finite */
export function finishTaken(
  replica: Replica,
  { sums, update, gradientNorm }: TakenStep,
  plan: TrainingPlan,
  layout: ScoreLayout,
): StepOutcome {
  requireFinite("loss", scoreOf(layout, sums).loss, replica.finishedSteps);
  return finishStep(replica, plan, layout, sums, update, gradientNorm);
}

/**
 * Counts a step whose update was applied. `sums`: of the training score.
 * @throws TrainingHaltedError if the gradient is not finite, and not because of float16
 */
function finishStep(
  replica: Replica,
  plan: TrainingPlan,
  layout: ScoreLayout,
  sums: Float32Array,
  { learningRate }: StepUpdate,
  gradientNorm: number,
): StepOutcome {
  const finished = replica.finishedSteps;
  const { lossScale } = replica;
  const next = lossScale && nextLossScale(lossScale, Number.isFinite(gradientNorm));
  const skipped = next !== undefined && next.skipped > lossScale!.skipped;
  if (!skipped) requireFinite("gradient", gradientNorm, finished);
  if (next !== undefined) replica.lossScale = next;

  const { epoch, stepInEpoch } = plan.sampler.position(finished);
  if (stepInEpoch === 0) replica.epochScore.fill(0, 0, layout.length);
  for (let i = 0; i < layout.length; i += 1) replica.epochScore[i]! += sums[i]!;
  replica.finishedSteps = finished + 1;
  return {
    step: replica.finishedSteps,
    epoch,
    score: scoreOf(layout, sums),
    gradientNorm,
    learningRate,
    ...(lossScale && { lossScale: lossScale.scale, skippedSteps: next?.skipped ?? lossScale.skipped }),
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
