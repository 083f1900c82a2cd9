import type { StepUpdate } from "../engine/engine";
import { learningRateAt } from "../optimizer/learning-rate";
import { TrainingHaltedError } from "./errors";
import { addScores, type BegunPass } from "./gradients";
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
 * Takes one optimizer step. Synchronous, so a replica is never seen in between.
 * @param gradient the sum of all leaves, times the replica's loss scale or gradient scale; or the pass over all leaves
 * @throws TrainingHaltedError if loss or gradient is not finite, on every rank
 */
export function applyStep(
  replica: Replica,
  gradient: Float32Array | BegunPass,
  plan: TrainingPlan,
  layout: ScoreLayout,
): StepOutcome {
  const { optimizer, finishedSteps } = replica;
  if (optimizer === undefined) throw new Error("the shards of this replica take its steps");
  if (gradient instanceof Float32Array) {
    const sums = gradient.subarray(gradient.length - layout.length);
    const score = scoreOf(layout, sums);
    requireFinite("loss", score.loss, finishedSteps);
    const update = updateOf(replica, plan, score.weight);
    const { gradientNorm } = optimizer.step(gradient, update);
    return finishStep(replica, plan, layout, sums, update, gradientNorm);
  }
  const update = updateOf(replica, plan, gradient.rows);
  const { results, gradientNorm } = optimizer.step(gradient.pass, update);
  const sums = new Float32Array(layout.length);
  addScores(layout, results, sums);
  requireFinite("loss", scoreOf(layout, sums).loss, finishedSteps);
  return finishStep(replica, plan, layout, sums, update, gradientNorm);
}

/** Returns the numbers of the replica's next step. @param weight sum of all rows' weights */
function updateOf(
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
