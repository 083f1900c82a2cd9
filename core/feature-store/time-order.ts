import { sharedNumbers, sharedPlaces } from "./shared-arrays";

const digitBits = 12;
const digits = 1 << digitBits;

/** Numbers in ascending order, and the place that each had before. The arrays are in shared memory. */
export interface Ascending {
  readonly numbers: Float64Array;
  readonly places: Uint32Array;
}

/**
 * Sorts whole numbers; equal ones keep their order. A radix sort by digits of 12 bits from the lowest on, as many as the
 * range of the numbers has: three for the milliseconds of a year.
 */
export function sortAscending(numbers: Float64Array): Ascending {
  const count = numbers.length;
  const [first, last] = rangeOf(numbers);
  let sorted = { numbers: sharedNumbers(count), places: sharedPlaces(count) };
  let next = { numbers: sharedNumbers(count), places: sharedPlaces(count) };
  sorted.numbers.set(numbers);
  for (let at = 0; at < count; at += 1) sorted.places[at] = at;
  for (let unit = 1; unit <= last - first; unit *= digits) {
    sortByDigit(first, 1 / unit, sorted, next);
    [sorted, next] = [next, sorted];
  }
  return sorted;
}

/** @param perUnit a power of two, so products with it are exact, and take less time than quotients */
function sortByDigit(first: number, perUnit: number, from: Ascending, to: Ascending): void {
  const { numbers, places } = from;
  const { numbers: toNumbers, places: toPlaces } = to;
  const ends = new Uint32Array(digits);
  for (let at = 0; at < numbers.length; at += 1) ends[digitOf(numbers[at]! - first, perUnit)]! += 1;
  for (let digit = 0, sum = 0; digit < digits; digit += 1) {
    sum += ends[digit]!;
    ends[digit] = sum - ends[digit]!;
  }
  for (let at = 0; at < numbers.length; at += 1) {
    const digit = digitOf(numbers[at]! - first, perUnit);
    const place = ends[digit]!;
    ends[digit] = place + 1;
    toNumbers[place] = numbers[at]!;
    toPlaces[place] = places[at]!;
  }
}

function rangeOf(numbers: Float64Array): readonly [number, number] {
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let at = 0; at < numbers.length; at += 1) {
    if (numbers[at]! < first) first = numbers[at]!;
    if (numbers[at]! > last) last = numbers[at]!;
  }
  return [first, last];
}

/** A difference of times is below 2^53, and so is exact. The conversion to 32 bits keeps the low bits. */
function digitOf(key: number, perUnit: number): number {
  return Math.floor(key * perUnit) & (digits - 1);
}
