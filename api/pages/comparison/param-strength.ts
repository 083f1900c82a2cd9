import type { Row } from "../../compare/comparison";

export function isNumber(text: string): boolean {
  return text.trim() !== "" && Number.isFinite(Number(text));
}

/** Sorts rows by the share of the metric that they explain. Omits rows with fewer than two values. */
export function byStrength(rows: readonly Row[], metric: readonly number[]): readonly Row[] {
  return rows
    .filter(({ values }) => new Set(values.filter((value) => value !== null)).size > 1)
    .map((row) => ({ row, strength: paramStrength(row.values, metric) }))
    .sort((a, b) => b.strength - a.strength || (a.row.name < b.row.name ? -1 : 1))
    .map(({ row }) => row);
}

/**
 * Estimates the share of a metric's variance, by ranks, that a param explains: Spearman's rank correlation squared, or
 * ε² between groups (Kelley, 1935) if that is greater or the values are texts.
 */
export function paramStrength(values: readonly (string | null)[], metric: readonly number[]): number {
  const pairs = values.flatMap((value, run) =>
    value !== null && Number.isFinite(metric[run]) ? [{ value, metric: metric[run] ?? Number.NaN }] : [],
  );
  const ranks = ranksOf(pairs.map((one) => one.metric));
  const between = epsilonSquared(
    pairs.map(({ value }) => (isNumber(value) ? String(Number(value)) : value)),
    ranks,
  );
  if (!pairs.every(({ value }) => isNumber(value))) return between;
  return Math.max(between, squaredCorrelation(ranksOf(pairs.map(({ value }) => Number(value))), ranks));
}

/** Returns ranks from 0; equal values share the mean of their ranks. */
function ranksOf(values: readonly number[]): readonly number[] {
  const order = values.map((value, at) => ({ value, at })).sort((a, b) => a.value - b.value);
  const ranks = new Array<number>(values.length).fill(0);
  for (let from = 0; from < order.length; ) {
    let to = from;
    while (to < order.length && order[to]?.value === order[from]?.value) to += 1;
    for (const { at } of order.slice(from, to)) ranks[at] = (from + to - 1) / 2;
    from = to;
  }
  return ranks;
}

function squaredCorrelation(a: readonly number[], b: readonly number[]): number {
  const [da, db] = [a, b].map(deviations) as [readonly number[], readonly number[]];
  const both = sumOfSquares(da) * sumOfSquares(db);
  const product = da.reduce((sum, value, at) => sum + value * (db[at] ?? 0), 0);
  return both === 0 ? 0 : product ** 2 / both;
}

function epsilonSquared(groups: readonly string[], values: readonly number[]): number {
  const members = new Map<string, number[]>();
  for (const [at, group] of groups.entries()) {
    const samples = members.get(group) ?? [];
    samples.push(values[at] ?? 0);
    members.set(group, samples);
  }
  const total = sumOfSquares(deviations(values));
  const degrees = values.length - members.size;
  if (total === 0 || degrees <= 0) return 0;
  const within = [...members.values()].reduce((sum, group) => sum + sumOfSquares(deviations(group)), 0);
  return Math.max(0, 1 - ((within / total) * (values.length - 1)) / degrees);
}

function deviations(values: readonly number[]): readonly number[] {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return values.map((value) => value - mean);
}

function sumOfSquares(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value * value, 0);
}
