/** Returns numbers in [0, 1) from a seed (mulberry32), so that a failed trial can be repeated. */
export type Random = () => number;

export function seededRandom(seed: number): Random {
  let state = Math.imul(seed, 0x9e3779b1) >>> 0; // so that neighbouring seeds differ much
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function integerBelow(random: Random, end: number): number {
  return Math.floor(random() * end);
}

export function oneOf<T>(random: Random, values: readonly T[]): T {
  return values[integerBelow(random, values.length)]!;
}

/** Returns `count` different values in random order. */
export function someOf<T>(random: Random, values: readonly T[], count: number): readonly T[] {
  const rest = [...values];
  return Array.from(
    { length: Math.min(count, rest.length) },
    () => rest.splice(integerBelow(random, rest.length), 1)[0]!,
  );
}
