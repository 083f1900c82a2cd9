import { normalDraw, quantile, uniformDraws } from "../draws";
import type { GroupStatistic } from "./statistics";

/**
 * Intervals that hold together for all groups, and for all differences between two groups: 95 % for the whole table,
 * not for each line. Of twenty groups without a difference one looks bad by chance, and a gate on the worst group must
 * allow for that.
 *
 * Rows are drawn with replacement within each group. Each number's deviation from its estimate is divided by its
 * standard error. The 95 % quantile c of the largest of these over all numbers, for each resample, gives the intervals
 * estimate ± c · error (the studentised maximum: Romano and Wolf, "Exact and Approximate Stepdown Methods for Multiple
 * Hypothesis Testing", JASA 2005, section 4). The largest difference therefore needs no correction for its selection.
 *
 * A bootstrap of 20 correct predictions out of 20 has no variance. The standard error of a share of n rows is therefore
 * at least that of n + 2 of n + 4 (Agresti and Coull, 1998): ± 2.9 / n at c = 2, compared with 3 / n by the rule of
 * three. Below that, a normal draw replaces the resamples.
 */
export interface GroupDraws {
  readonly groups: number;
  readonly components: number;
  /** `[groups, components]`; NaN if undefined. */
  readonly estimates: Float64Array;
  readonly errors: Float64Array;
  /** `[resamples, groups, components]`: deviations from the estimates. */
  readonly deviations: Float64Array;
  readonly resamples: number;
}

export const confidence = 0.95;
const maxResamples = 2_000;
const minResamples = 400;
/** Total number of drawn rows: about a second of one processor. */
const drawBudget = 60_000_000;
/** Total number of comparisons over all resamples. */
const comparisonBudget = 400_000_000;

/** Returns the number of resamples that the budgets allow, within fixed limits. */
export function resamplesOf(rows: number, comparisons: number): number {
  const affordable = Math.min(drawBudget / rows, comparisonBudget / comparisons);
  return Math.max(minResamples, Math.min(maxResamples, Math.floor(affordable)));
}

export function drawGroups(
  statistic: GroupStatistic,
  groups: readonly Uint32Array[],
  resamples: number,
  seed: number,
): GroupDraws {
  const { components } = statistic;
  const width = groups.length * components;
  const estimates = new Float64Array(width);
  const errors = new Float64Array(width);
  const deviations = new Float64Array(resamples * width);
  const values = new Float64Array(components);
  const draw = uniformDraws(seed);
  for (const [group, rows] of groups.entries()) {
    const measure = statistic.of(rows);
    const weights = new Uint32Array(rows.length).fill(1);
    measure(weights, values);
    estimates.set(values, group * components);
    const scale = rows.length / 4_294_967_296;
    for (let resample = 0; resample < resamples; resample += 1) {
      weights.fill(0);
      for (let at = 0; at < rows.length; at += 1) weights[(draw() * scale) | 0]! += 1;
      measure(weights, values);
      const to = resample * width + group * components;
      for (let index = 0; index < components; index += 1) {
        const deviation = values[index]! - estimates[group * components + index]!;
        // A resample without rows for a number has no information about it.
        deviations[to + index] = deviation || 0;
      }
    }
    for (let index = 0; index < components; index += 1) {
      const at = group * components + index;
      const error = Math.sqrt(meanSquare(deviations, at, width));
      const least = statistic.bounded ? minError(statistic.trials(rows, index)) : 0;
      errors[at] = Math.max(error, least);
      if (error >= least) continue;
      for (let to = at; to < deviations.length; to += width) deviations[to] = least * normalDraw(draw);
    }
  }
  return { groups: groups.length, components, estimates, errors, deviations, resamples };
}

function meanSquare(values: Float64Array, from: number, step: number): number {
  let sum = 0;
  let count = 0;
  for (let at = from; at < values.length; at += step) {
    sum += values[at]! ** 2;
    count += 1;
  }
  return sum / count;
}

function minError(trials: number): number {
  const share = (trials + 2) / (trials + 4);
  return Math.sqrt((share * (1 - share)) / (trials + 4));
}

/** Returns c for the groups' own intervals. */
export function criticalOfGroups({ estimates, errors, deviations, resamples }: GroupDraws): number {
  const width = estimates.length;
  const largest = new Float64Array(resamples);
  for (let at = 0; at < width; at += 1) {
    if (Number.isNaN(estimates[at]!) || errors[at] === 0) continue;
    for (let resample = 0; resample < resamples; resample += 1) {
      const deviation = deviations[resample * width + at]!;
      const t = (deviation < 0 ? -deviation : deviation) / errors[at]!;
      if (t > largest[resample]!) largest[resample] = t;
    }
  }
  return quantile(largest.sort(), confidence);
}

/** A difference between two groups in one component; the group with the greater value comes first. */
export interface GroupDifference {
  readonly component: number;
  readonly pair: readonly [number, number];
  readonly estimate: number;
  readonly lower: number;
  readonly upper: number;
}

/**
 * Returns the largest difference between two groups, with its bounds; `undefined` if no component is defined for two
 * groups.
 */
export function largestDifference(draws: GroupDraws): GroupDifference | undefined {
  const { groups, components, estimates, errors, deviations, resamples } = draws;
  const width = groups * components;
  const largest = new Float64Array(resamples);
  const pairs: { readonly a: number; readonly b: number; readonly error: number }[] = [];
  for (let a = 0; a < width; a += 1) {
    for (let b = a + components; b < width; b += components) {
      if (Number.isNaN(estimates[a]! + estimates[b]!)) continue;
      const error = Math.hypot(errors[a]!, errors[b]!);
      pairs.push({ a, b, error });
      if (error === 0) continue;
      for (let resample = 0; resample < resamples; resample += 1) {
        const to = resample * width;
        const difference = deviations[to + a]! - deviations[to + b]!;
        const t = (difference < 0 ? -difference : difference) / error;
        if (t > largest[resample]!) largest[resample] = t;
      }
    }
  }
  if (pairs.length === 0) return undefined;
  const critical = quantile(largest.sort(), confidence);
  let widest = { a: 0, b: 0, estimate: -1 };
  let lower = 0;
  let upper = 0;
  for (const { a, b, error } of pairs) {
    const estimate = Math.abs(estimates[a]! - estimates[b]!);
    if (estimate > widest.estimate) widest = { a, b, estimate };
    lower = Math.max(lower, estimate - critical * error);
    upper = Math.max(upper, estimate + critical * error);
  }
  const [high, low] = estimates[widest.a]! >= estimates[widest.b]! ? [widest.a, widest.b] : [widest.b, widest.a];
  return {
    component: widest.a % components,
    pair: [Math.floor(high / components), Math.floor(low / components)],
    estimate: widest.estimate,
    lower,
    upper,
  };
}
