import { quantile, uniformDraws } from "./draws";
import type { Predictions } from "./metrics";
import type { PairedInterval } from "./shapes";
import { type GroupStatistic, metricStatistic } from "./slices/statistics";

const confidence = 0.95;
/**
 * Maximum number of resamples. The 2.5 % quantile of 2,000 resamples has 50 of them below it; it varies by about 6 % of
 * the interval's width.
 */
const maxResamples = 2_000;
const minResamples = 400;
/** Total number of draws: some seconds of one processor. */
const drawBudget = 200_000_000;

/** Returns the number of resamples that the budget allows, within fixed limits. */
export function resamplesOf(rows: number): number {
  return Math.max(minResamples, Math.min(maxResamples, Math.floor(drawBudget / rows)));
}

export interface PairedValues extends PairedInterval {
  readonly candidateValue: number;
  readonly championValue: number;
}

/**
 * Computes the paired bootstrap interval of a metric's difference between two models. Each resample draws the same rows
 * for both. Resamples in which the metric is undefined for one of them (no row of a class) are left out.
 *
 * @param rows number of rows of both models
 * @param seed makes the interval a function of its arguments
 * @returns `undefined` if the metric is undefined for one of the models
 */
export function pairedBootstrap(
  candidate: GroupStatistic,
  champion: GroupStatistic,
  rows: number,
  seed: number,
): PairedValues | undefined {
  const all = Uint32Array.from({ length: rows }, (_, row) => row);
  const measures = [candidate.of(all), champion.of(all)] as const;
  const estimates = new Float64Array(1);
  const weights = new Uint32Array(rows).fill(1);
  const measured = (measure: (typeof measures)[number]): number => {
    measure(weights, estimates);
    return estimates[0] as number;
  };
  const [candidateValue, championValue] = [measured(measures[0]), measured(measures[1])];
  if (!Number.isFinite(candidateValue) || !Number.isFinite(championValue)) return undefined;

  const draw = uniformDraws(seed);
  const scale = rows / 4_294_967_296;
  const differences: number[] = [];
  for (let left = resamplesOf(rows); left > 0; left -= 1) {
    weights.fill(0);
    for (let drawn = 0; drawn < rows; drawn += 1) weights[Math.floor(draw() * scale)]! += 1;
    const difference = measured(measures[0]) - measured(measures[1]);
    if (Number.isFinite(difference)) differences.push(difference);
  }
  if (differences.length === 0) return undefined;
  const sorted = Float64Array.from(differences).sort();
  const tail = (1 - confidence) / 2;
  return {
    candidateValue,
    championValue,
    difference: candidateValue - championValue,
    lower: quantile(sorted, tail),
    upper: quantile(sorted, 1 - tail),
    confidence,
    rows,
    resamples: sorted.length,
    seed,
  };
}

/** Compares two models by a metric of the evaluation. @returns `undefined` if it is undefined for one of them */
export function pairedMetric(
  metric: string,
  candidate: Predictions,
  champion: Predictions,
  seed: number,
): PairedValues | undefined {
  const rows = candidate.labels.length;
  if (champion.labels.length !== rows)
    throw new RangeError(`a paired comparison needs the same rows, not ${rows} and ${champion.labels.length}`);
  // Each model decides by its own threshold; both are measured on the candidate's positive class.
  const { positive = 1 } = candidate;
  const [ours, theirs] = [metricStatistic(metric, candidate), metricStatistic(metric, { ...champion, positive })];
  // A class that the champion does not know has the label -1, for which only accuracy is defined.
  const isUnknown = (label: number): boolean => label < 0;
  if (!ours || !theirs || rows === 0 || (metric !== "accuracy" && champion.labels.some(isUnknown))) return undefined;
  return pairedBootstrap(ours, theirs, rows, seed);
}
