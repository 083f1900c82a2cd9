import { quantile, uniformDraws } from "./draws";
import type { Predictions } from "./metrics";
import type { PairedInterval } from "./shapes";
import { metricStatistic } from "./slices/statistics";

/** The aggregate of the rows' outcomes: their mean (accuracy, of 0 and 1), or its root (RMSE, of squared errors). */
export type OutcomeMetric = "mean" | "root-mean";

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

/**
 * Computes the bootstrap interval of the difference between two models on the same rows.
 *
 * @param candidate one outcome for each row, in the rows' order
 * @param champion outcomes of the same rows
 * @param seed makes the interval a function of its arguments
 */
export function pairedBootstrap(
  candidate: ArrayLike<number>,
  champion: ArrayLike<number>,
  metric: OutcomeMetric,
  seed: number,
): PairedInterval {
  const rows = candidate.length;
  if (rows === 0 || champion.length !== rows) {
    throw new RangeError(
      `a paired comparison needs the same rows of both models, not ${rows} and ${champion.length} rows`,
    );
  }
  const resamples = resamplesOf(rows);
  const of = metric === "mean" ? (sum: number) => sum / rows : (sum: number) => Math.sqrt(sum / rows);
  const differences = new Float64Array(resamples);
  const ours = new Float64Array(resamples);
  const theirs = new Float64Array(resamples);
  resample(Float64Array.from(candidate), Float64Array.from(champion), seed, ours, theirs);
  for (let at = 0; at < resamples; at += 1) differences[at] = of(ours[at]!) - of(theirs[at]!);
  differences.sort();
  const tail = (1 - confidence) / 2;
  return {
    difference: of(sumOf(candidate)) - of(sumOf(champion)),
    lower: quantile(differences, tail),
    upper: quantile(differences, 1 - tail),
    confidence,
    rows,
    resamples,
    seed,
  };
}

function sumOf(values: ArrayLike<number>): number {
  let sum = 0;
  for (let row = 0; row < values.length; row += 1) sum += values[row]!;
  return sum;
}

/**
 * Fills in the sums of each resample's outcomes. Rows are drawn by sfc32 (Doty-Humphrey, PractRand), with a period of
 * about 2^127, as `floor(draw / 2^32 * rows)`; rows is below 2^31. The generator's state is in local variables, so that
 * the engine keeps it in registers.
 */
function resample(
  candidate: Float64Array,
  champion: Float64Array,
  seed: number,
  ours: Float64Array,
  theirs: Float64Array,
): void {
  const rows = candidate.length;
  const scale = rows / 4_294_967_296;
  let a = 0;
  let b = 0x1e3779b9;
  let c = seed | 0;
  let counter = 1;
  for (let at = -1; at < ours.length; at += 1) {
    let sum = 0;
    let other = 0;
    // The first round only mixes in the seed.
    const draws = at < 0 ? 12 : rows;
    for (let draw = 0; draw < draws; draw += 1) {
      const out = (((a + b) | 0) + counter) | 0;
      counter = (counter + 1) | 0;
      a = b ^ (b >>> 9);
      b = (c + (c << 3)) | 0;
      c = (((c << 21) | (c >>> 11)) + out) | 0;
      const row = ((out >>> 0) * scale) | 0;
      sum += candidate[row]!;
      other += champion[row]!;
    }
    if (at < 0) continue;
    ours[at] = sum;
    theirs[at] = other;
  }
}

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
