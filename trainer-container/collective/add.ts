/**
 * The add kernel: `out[outAt + i] = a[aAt + i] + b[bAt + i]` for `i` in `[0, count)`. `out` may be `a` at the same place.
 *
 * JavaScript adds in float64 and rounds once on the store. For two float32 that equals a float32 addition exactly (double rounding is
 * innocuous where the wide format has 2p + 2 bits or more: 53 >= 50), so that a SIMD kernel may replace this one bit for bit.
 */
export function add(
  out: Float32Array,
  outAt: number,
  a: Float32Array,
  aAt: number,
  b: Float32Array,
  bAt: number,
  count: number,
): void {
  // Views of equal length and four additions a turn: half the time of the plain loop (V8 drops most bounds checks).
  const to = out.subarray(outAt, outAt + count);
  const left = a.subarray(aAt, aAt + count);
  const right = b.subarray(bAt, bAt + count);
  let i = 0;
  for (; i + 3 < count; i += 4) {
    to[i] = left[i] + right[i];
    to[i + 1] = left[i + 1] + right[i + 1];
    to[i + 2] = left[i + 2] + right[i + 2];
    to[i + 3] = left[i + 3] + right[i + 3];
  }
  for (; i < count; i++) to[i] = left[i] + right[i];
}
