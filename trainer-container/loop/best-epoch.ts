import type { EarlyStopping } from "../../core/runs/early-stopping";
import { improves, stoppingMetricName, stoppingMetricProblem } from "../../core/training/early-stopping";
import type { TrainableModel } from "../engine/engine";
import { TrainingHaltedError } from "./errors";
import { type Score, type ScoreLayout, scoreOf } from "./score";

/**
 * The best epoch so far, a part of the replica's state: stopping follows from the finished steps alone, on every rank.
 */
export interface BestEpoch {
  /** Number of the epoch (0: none yet), sums of its training score, sums of its validation score; see `ScoreLayout`. */
  readonly numbers: Float64Array;
  /** All of the model's parameters at its end. */
  readonly weights: Float32Array;
}

/** Allocates the state of early stopping, with no epoch yet. */
export function createBestEpoch({ parameterCount }: Pick<TrainableModel, "parameterCount">, layout: ScoreLayout) {
  const best: BestEpoch = {
    numbers: new Float64Array(1 + 2 * layout.length),
    weights: new Float32Array(parameterCount),
  };
  return best;
}

/** The epoch whose weights are the training's result. */
export interface FoundBest {
  readonly epoch: number;
  readonly train: Score;
  readonly validation: Score;
  /** Value of the rule's metric. */
  readonly value: number;
  readonly weights: Float32Array;
}

/** Returns the best epoch; `undefined` if no epoch has had a finite value. */
export function findBest({ numbers, weights }: BestEpoch, rule: EarlyStopping, layout: ScoreLayout) {
  const [epoch = 0] = numbers;
  if (epoch === 0) return undefined;
  const train = scoreOf(layout, numbers.subarray(1, 1 + layout.length));
  const validation = scoreOf(layout, numbers.subarray(1 + layout.length));
  const candidate: FoundBest = { epoch, train, validation, value: metricOf(validation, rule), weights };
  return candidate;
}

interface EpochEnd {
  readonly epoch: number;
  readonly trainSums: Float64Array;
  readonly validationSums: Float32Array;
  readonly weights: Float32Array;
}

/** Idempotent: a lost generation repeats the end of an epoch. @returns whether training stops here */
export function recordEpoch(best: BestEpoch, rule: EarlyStopping, layout: ScoreLayout, end: EpochEnd): boolean {
  const { epoch, trainSums, validationSums, weights } = end;
  const value = metricOf(scoreOf(layout, validationSums), rule);
  if (improves(rule, value, findBest(best, rule, layout)?.value)) {
    best.numbers[0] = epoch;
    best.numbers.set(trainSums.subarray(0, layout.length), 1);
    best.numbers.set(validationSums, 1 + layout.length);
    best.weights.set(weights);
  }
  return epoch - best.numbers[0]! >= rule.patience;
}

function metricOf({ loss, accuracy, metrics }: Score, rule: EarlyStopping): number {
  const name = stoppingMetricName(rule);
  if (name === "loss") return loss;
  return (name === "accuracy" ? accuracy : metrics[name]) ?? Number.NaN;
}

/** @throws TrainingHaltedError `BAD_TASK` if validation does not record the rule's metric */
export function requireStoppingMetric(
  rule: EarlyStopping | undefined,
  { metrics }: ScoreLayout,
  validation: { readonly count: number },
  hasClasses: boolean,
): void {
  if (rule === undefined) return;
  const problem = stoppingMetricProblem(rule, hasClasses, metrics);
  if (problem) {
    const message = `earlyStopping.${problem.field} ${problem.rule}; earlyStopping.metric is ${rule.metric}`;
    throw new TrainingHaltedError("BAD_TASK", message);
  }
  if (validation.count === 0) {
    const message = "earlyStopping needs a validation split with rows; push a dataset with one, or leave it out";
    throw new TrainingHaltedError("EMPTY_SPLIT", message);
  }
}

/** @throws TrainingHaltedError if no epoch has had a finite value of the metric */
export function requireBest(best: BestEpoch, rule: EarlyStopping, layout: ScoreLayout, finishedSteps: number) {
  const newBest = findBest(best, rule, layout);
  if (newBest) return newBest;
  const message = `${rule.metric} was not a finite number after any epoch, so there is no best epoch. Choose another earlyStopping.metric.`;
  throw new TrainingHaltedError("NON_FINITE_METRIC", message, finishedSteps);
}
