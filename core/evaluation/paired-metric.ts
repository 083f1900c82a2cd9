import { quantile, uniformDraws } from "./draws";
import type { Predictions } from "./metrics";
import { resamplesOf } from "./paired-bootstrap";
import type { PairedInterval } from "./shapes";
import { metricStatistic } from "./slices/statistics";

const confidence = 0.95;

/**
 * Computes the paired bootstrap interval of the difference of any metric between two models on the same rows. Each
 * resample draws the same rows for both. Resamples in which the metric is undefined for one of them (no row of a class)
 * are left out.
 *
 * @param seed makes the interval a function of its arguments
 * @returns `undefined` if the metric is undefined for one of the models
 */
export function pairedMetric(
  metric: string,
  candidate: Predictions,
  champion: Predictions,
  seed: number,
): (PairedInterval & { readonly candidateValue: number; readonly championValue: number }) | undefined {
  // Each model decides by its own threshold; both are measured on the candidate's positive class.
  const { positive = 1 } = candidate;
  const [ours, theirs] = [metricStatistic(metric, candidate), metricStatistic(metric, { ...champion, positive })];
  const count = candidate.labels.length;
  // A class that the champion does not know has the label -1, for which only accuracy is defined.
  if (!ours || !theirs || count === 0 || (metric !== "accuracy" && champion.labels.some(isUnknown))) return undefined;
  const rows = Uint32Array.from({ length: count }, (_, row) => row);
  const measures = [ours.of(rows), theirs.of(rows)] as const;
  const found = new Float64Array(1);
  const measured = (measure: (typeof measures)[number], weights: Uint32Array): number => {
    measure(weights, found);
    return found[0] as number;
  };
  const weights = new Uint32Array(count).fill(1);
  const [candidateValue, championValue] = [measured(measures[0], weights), measured(measures[1], weights)];
  if (!Number.isFinite(candidateValue) || !Number.isFinite(championValue)) return undefined;

  const draw = uniformDraws(seed);
  const scale = count / 4_294_967_296;
  const resamples = resamplesOf(count);
  const differences: number[] = [];
  for (let at = 0; at < resamples; at += 1) {
    weights.fill(0);
    for (let drawn = 0; drawn < count; drawn += 1) weights[Math.floor(draw() * scale)]! += 1;
    const difference = measured(measures[0], weights) - measured(measures[1], weights);
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
    rows: count,
    resamples: sorted.length,
    seed,
  };
}

const isUnknown = (label: number): boolean => label < 0;
