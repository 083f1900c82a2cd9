/** Returns the median; for an even number of values, the mean of the middle two. @throws RangeError without values */
export function median(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError("the median of no values is undefined");
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Returns the maximum of each element: the time of a collective is that of its slowest rank. */
export function slowest(byRank: readonly (readonly number[])[]): number[] {
  return byRank[0]!.map((_, i) => Math.max(...byRank.map((times) => times[i]!)));
}
