const digitBits = 12;
const digits = 1 << digitBits;

/**
 * Returns the places of whole numbers in ascending order; equal ones keep theirs. A radix sort by digits of 12 bits from
 * the lowest on, as many as the range of the numbers has: three for the milliseconds of a year.
 */
export function ascendingOrder(numbers: Float64Array): Uint32Array {
  const count = numbers.length;
  const [first, last] = rangeOf(numbers);
  let [keys, nextKeys] = [new Float64Array(count), new Float64Array(count)];
  let [order, nextOrder] = [new Uint32Array(count), new Uint32Array(count)];
  for (let at = 0; at < count; at += 1) {
    keys[at] = numbers[at]! - first;
    order[at] = at;
  }
  for (let unit = 1; unit <= last - first; unit *= digits) {
    sortByDigit(unit, keys, order, nextKeys, nextOrder);
    [keys, nextKeys, order, nextOrder] = [nextKeys, keys, nextOrder, order];
  }
  return order;
}

function sortByDigit(
  unit: number,
  keys: Float64Array,
  order: Uint32Array,
  toKeys: Float64Array,
  toOrder: Uint32Array,
): void {
  const places = new Uint32Array(digits);
  for (let at = 0; at < keys.length; at += 1) places[digitOf(keys[at]!, unit)]! += 1;
  for (let digit = 0, sum = 0; digit < digits; digit += 1) {
    sum += places[digit]!;
    places[digit] = sum - places[digit]!;
  }
  for (let at = 0; at < keys.length; at += 1) {
    const digit = digitOf(keys[at]!, unit);
    const to = places[digit]!;
    places[digit] = to + 1;
    toKeys[to] = keys[at]!;
    toOrder[to] = order[at]!;
  }
}

function rangeOf(numbers: Float64Array): readonly [number, number] {
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const number of numbers) {
    if (number < first) first = number;
    if (number > last) last = number;
  }
  return [first, last];
}

/** A difference of times is below 2^53, and so is exact. The conversion to 32 bits keeps the low bits. */
function digitOf(key: number, unit: number): number {
  return Math.floor(key / unit) & (digits - 1);
}
