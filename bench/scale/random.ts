/** Mulberry32: uniform in [0, 1), the same for the same seed. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Draws log-normally with this median; `spread` is the standard deviation of the logarithm. */
export function logNormal(random: () => number, median: number, spread: number): number {
  const angle = 2 * Math.PI * random();
  return median * Math.exp(spread * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(angle));
}

/** Shuffles in place (Fisher-Yates). */
export function shuffle<T>(values: T[], random: () => number): T[] {
  for (let i = values.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [values[i], values[j]] = [values[j] as T, values[i] as T];
  }
  return values;
}
