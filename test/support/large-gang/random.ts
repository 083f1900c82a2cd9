/** Draws log-normally with this median; `spread` is the standard deviation of the logarithm. */
export function logNormal(random: () => number, median: number, spread: number): number {
  const angle = 2 * Math.PI * random();
  return median * Math.exp(spread * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(angle));
}

export function shuffle<T>(values: T[], random: () => number): T[] {
  for (let i = values.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [values[i], values[j]] = [values[j] as T, values[i] as T];
  }
  return values;
}
