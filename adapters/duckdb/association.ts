/** Strength of the relation of two columns, 0 (none) to 1 (one determines the other). */

export interface Group {
  readonly rows: number;
  /** Mean of the numbers of the group. */
  readonly mean: number;
}

/**
 * Returns the correlation ratio η of numbers in groups: the root of the share of their variance that the groups explain.
 * With two groups it is the absolute value of Pearson's correlation.
 *
 * @param variance population variance of all numbers
 */
export function correlationRatio(groups: readonly Group[], variance: number): number | undefined {
  const rows = groups.reduce((sum, group) => sum + group.rows, 0);
  if (rows === 0 || !(variance > 0)) return undefined;
  const mean = groups.reduce((sum, group) => sum + group.rows * group.mean, 0) / rows;
  const between = groups.reduce((sum, group) => sum + group.rows * (group.mean - mean) ** 2, 0) / rows;
  return Math.min(1, Math.sqrt(between / variance));
}

/** Returns Cramér's V of two categorical columns, from the rows of each pair of values. */
export function cramersV(
  cells: readonly { readonly one: string; readonly other: string; readonly rows: number }[],
): number | undefined {
  const [ones, others] = [new Map<string, number>(), new Map<string, number>()];
  let total = 0;
  for (const { one, other, rows } of cells) {
    ones.set(one, (ones.get(one) ?? 0) + rows);
    others.set(other, (others.get(other) ?? 0) + rows);
    total += rows;
  }
  const degrees = Math.min(ones.size, others.size) - 1;
  if (degrees < 1) return undefined;
  const sum = cells.reduce((all, { one, other, rows }) => all + rows ** 2 / (ones.get(one)! * others.get(other)!), 0);
  return Math.sqrt(Math.min(1, Math.max(0, sum - 1) / degrees)) * (total > 0 ? 1 : 0);
}
