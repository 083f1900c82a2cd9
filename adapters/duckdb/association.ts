/** Strength of the relation of two columns, 0 (none) to 1 (one determines the other). */

export interface Group {
  readonly rows: number;
  /** Mean of the numbers of the group. */
  readonly mean: number;
}

/**
 * Returns the correlation ratio of numbers in groups: the root of the share of their variance that the groups explain.
 * The share is corrected for the number of groups (ε², Kelley 1935), because many small groups explain much by chance.
 * Groups of one row each explain nothing.
 *
 * @param variance population variance of all numbers
 */
export function correlationRatio(groups: readonly Group[], variance: number): number | undefined {
  const rows = groups.reduce((sum, group) => sum + group.rows, 0);
  if (rows === 0 || !(variance > 0)) return undefined;
  if (groups.length >= rows) return 0;
  const mean = groups.reduce((sum, group) => sum + group.rows * group.mean, 0) / rows;
  const between = groups.reduce((sum, group) => sum + group.rows * (group.mean - mean) ** 2, 0) / rows;
  const unexplained = Math.max(0, 1 - between / variance);
  return Math.sqrt(Math.max(0, 1 - (unexplained * (rows - 1)) / (rows - groups.length)));
}

/**
 * Returns Cramér's V of two categorical columns, from the rows of each pair of values. It is corrected for the number of
 * values (Bergsma 2013, "A bias-correction for Cramér's V and Tschuprow's T"), because each value of an id has one
 * label. An id has 0; `undefined`: one of the columns is constant.
 */
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
  const [r, c] = [ones.size - 1, others.size - 1];
  if (Math.min(r, c) < 1) return undefined;
  const sum = cells.reduce((all, { one, other, rows }) => all + rows ** 2 / (ones.get(one)! * others.get(other)!), 0);
  // φ² = χ² / n, less its expected value where the columns are independent; r̃ and c̃ of the paper, each less 1.
  const phi2 = Math.max(0, sum - 1 - (r * c) / (total - 1));
  const degrees = Math.min(r - r ** 2 / (total - 1), c - c ** 2 / (total - 1));
  // Rounding leaves a rest of an id's degrees, which are 0.
  return degrees < 1e-9 ? 0 : Math.sqrt(Math.min(1, phi2 / degrees));
}
