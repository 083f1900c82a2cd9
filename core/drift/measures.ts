import { chiSquareTail, fisherTail, kolmogorovTail } from "./distributions";

/** A statistic and the probability of one at least as large if both samples are of one distribution. */
export interface TestResult {
  readonly statistic: number;
  readonly pValue: number;
}

/** Distances of two distributions over the same bins. */
export interface BinDistances {
  /** Population stability index: Σ (q − p) ln(q / p). */
  readonly psi: number;
  /** Kullback-Leibler divergence of the current rows from the baseline: Σ q ln(q / p), in nats. */
  readonly kl: number;
  /** Jensen-Shannon distance: the root of the divergence in nats, from 0 to √(ln 2). */
  readonly js: number;
}

/**
 * Returns the shares of counts, with half a row more in each bin: an empty bin would make the distances infinite.
 *
 * @see Jeffreys (1946)
 */
export function sharesOf(counts: readonly number[]): readonly number[] {
  const total = counts.reduce((sum, rows) => sum + rows + 0.5, 0);
  return counts.map((rows) => (rows + 0.5) / total);
}

/** Measures the distances between the counts of the same bins in the baseline and in the current rows. */
export function binDistances(baseline: readonly number[], current: readonly number[]): BinDistances {
  const [p, q] = [sharesOf(baseline), sharesOf(current)];
  let [psi, kl, js] = [0, 0, 0];
  for (const [bin, before] of p.entries()) {
    const now = q[bin]!;
    const middle = (before + now) / 2;
    const ratio = Math.log(now / before);
    psi += (now - before) * ratio;
    kl += now * ratio;
    js += (before * Math.log(before / middle) + now * Math.log(now / middle)) / 2;
  }
  return { psi, kl, js: Math.sqrt(Math.max(0, js)) };
}

/**
 * Tests whether two columns of counts have the same distribution over categories: Pearson's χ² of the 2 × k table, without
 * a correction. Categories without rows are omitted.
 */
export function chiSquare(baseline: readonly number[], current: readonly number[]): TestResult {
  const [rows, others] = [baseline, current].map((counts) => counts.reduce((sum, one) => sum + one, 0)) as [
    number,
    number,
  ];
  const total = rows + others;
  if (rows === 0 || others === 0) return { statistic: 0, pValue: 1 };
  let statistic = 0;
  let categories = 0;
  for (const [category, count] of baseline.entries()) {
    const both = count + current[category]!;
    if (both === 0) continue;
    categories += 1;
    const expected = [(both * rows) / total, (both * others) / total] as const;
    statistic += (count - expected[0]) ** 2 / expected[0] + (current[category]! - expected[1]) ** 2 / expected[1];
  }
  return { statistic, pValue: chiSquareTail(statistic, Math.max(0, categories - 1)) };
}

/** The χ² distribution is a good approximation if as many rows of a category are expected in the smaller sample. */
const minExpected = 5;

/**
 * Tests as {@link chiSquare}, with a p-value that is valid for few rows. Rare categories are joined, from the most frequent
 * one on, until 5 rows of each group are expected in the smaller sample. The rest, with fewer, is compared with all others
 * by Fisher's exact test. If there is no such division, the most frequent category is compared with all others. Groups
 * depend on the rows of both samples together, so they do not favour a difference.
 *
 * @returns the statistic of all categories, and the p-value of the groups
 */
export function categoryTest(baseline: readonly number[], current: readonly number[]): TestResult {
  const plain = chiSquare(baseline, current);
  const [rows, others] = [baseline, current].map((counts) => counts.reduce((sum, one) => sum + one, 0));
  if (rows === 0 || others === 0) return plain;
  const all = rows! + others!;
  const expected = ([one, other]: Pair) => ((one + other) * Math.min(rows!, others!)) / all;
  const pairs = baseline
    .map((count, category): Pair => [count, current[category]!])
    .filter(([one, other]) => one + other > 0)
    .sort(([one, other], [next, last]) => next + last - one - other);
  const groups: Pair[] = [];
  let rest: Pair = [0, 0];
  for (const [one, other] of pairs) {
    rest = [rest[0] + one, rest[1] + other];
    if (expected(rest) < minExpected) continue;
    groups.push(rest);
    rest = [0, 0];
  }
  if (groups.length === pairs.length) return plain;
  const exact = ([one, other]: Pair) =>
    rows! < others! ? fisherTail(one, rows!, one + other, all) : fisherTail(other, others!, one + other, all);
  const hasRest = rest[0] + rest[1] > 0;
  if (groups.length < 2) return { ...plain, pValue: exact(hasRest && groups.length === 1 ? rest : pairs[0]!) };
  const { pValue } = chiSquare(...columnsOf(groups));
  // Two tests: Bonferroni's correction.
  return { ...plain, pValue: hasRest ? Math.min(1, 2 * Math.min(pValue, exact(rest))) : pValue };
}

type Pair = readonly [baseline: number, current: number];

const columnsOf = (pairs: readonly Pair[]) => [pairs.map(([one]) => one), pairs.map(([, other]) => other)] as const;

/** Visits the distinct values of two sorted samples, with the number of values of each that are at most as large. */
function eachValue(
  baseline: Float64Array,
  current: Float64Array,
  visit: (value: number, inBaseline: number, inCurrent: number) => void,
): void {
  let [i, j] = [0, 0];
  while (i < baseline.length || j < current.length) {
    const value = Math.min(baseline[i] ?? Number.POSITIVE_INFINITY, current[j] ?? Number.POSITIVE_INFINITY);
    while (i < baseline.length && baseline[i]! <= value) i += 1;
    while (j < current.length && current[j]! <= value) j += 1;
    visit(value, i, j);
  }
}

/**
 * Tests whether two samples are of the same continuous distribution: the largest distance of their distribution
 * functions. Two-sided.
 *
 * @param baseline sorted, finite
 * @param current sorted, finite
 */
export function kolmogorovSmirnov(baseline: Float64Array, current: Float64Array): TestResult {
  if (baseline.length === 0 || current.length === 0) return { statistic: 0, pValue: 1 };
  let statistic = 0;
  eachValue(baseline, current, (_value, i, j) => {
    statistic = Math.max(statistic, Math.abs(i / baseline.length - j / current.length));
  });
  return { statistic, pValue: kolmogorovTail(statistic, baseline.length, current.length) };
}

/**
 * Returns the Wasserstein distance of two samples, in the unit of their values: the area between their distribution
 * functions.
 *
 * @param baseline sorted, finite
 * @param current sorted, finite
 */
export function wasserstein(baseline: Float64Array, current: Float64Array): number {
  if (baseline.length === 0 || current.length === 0) return 0;
  let area = 0;
  let last = Number.NaN;
  let height = 0;
  eachValue(baseline, current, (value, i, j) => {
    if (height > 0) area += height * (value - last);
    last = value;
    height = Math.abs(i / baseline.length - j / current.length);
  });
  return area;
}

/**
 * Adjusts the p-values of several tests so that those below a level have, on average, at most that share of false ones:
 * Benjamini and Hochberg (1995).
 */
export function adjustedPValues(pValues: readonly number[]): readonly number[] {
  const order = pValues.map((_value, index) => index).sort((a, b) => pValues[b]! - pValues[a]!);
  const adjusted = [...pValues];
  let least = 1;
  for (const [place, index] of order.entries()) {
    least = Math.min(least, (pValues[index]! * pValues.length) / (pValues.length - place));
    adjusted[index] = least;
  }
  return adjusted;
}
