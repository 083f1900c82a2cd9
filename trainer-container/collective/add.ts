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
  for (let i = 0; i < count; i++) out[outAt + i] = a[aAt + i] + b[bAt + i];
}
