import { mulberry32 } from "../../core/datasets/split";

/** Returns numbers in [0, 1) from a seed, so that a failed trial can be repeated. */
export type Random = () => number;

export function seededRandom(seed: number): Random {
  return mulberry32(Math.imul(seed, 0x9e3779b1)); // so that neighbouring seeds differ much
}

export function integerBelow(random: Random, end: number): number {
  return Math.floor(random() * end);
}

export function oneOf<T>(random: Random, values: readonly T[]): T {
  return values[integerBelow(random, values.length)]!;
}

export function someOf<T>(random: Random, values: readonly T[], count: number): readonly T[] {
  const rest = [...values];
  return Array.from(
    { length: Math.min(count, rest.length) },
    () => rest.splice(integerBelow(random, rest.length), 1)[0]!,
  );
}
