import { kernelFor } from "./sum-memory";

/**
 * Adds parts of two vectors: `out[outAt + i] = a[aAt + i] + b[bAt + i]` for `i` in `[0, count)`, for any kind of words.
 * `out` may be `a` at the same position. `at` is the part's position in the whole vector.
 */
export type Add = (
  out: Float32Array,
  outAt: number,
  a: Float32Array,
  aAt: number,
  b: Float32Array,
  bAt: number,
  count: number,
  at: number,
) => void;

/**
 * Adds float32 parts: `out[outAt + i] = a[aAt + i] + b[bAt + i]` for `i` in `[0, count)`. `out` may be `a` at the same
 * position.
 *
 * Uses WebAssembly SIMD if all three arrays are in its memory (`allocateSum`), otherwise JavaScript. The bits are the
 * same: JavaScript adds in float64 and rounds once on the store, which for two float32 equals a float32 addition exactly
 * (double rounding is innocuous if the wide format has 2p + 2 bits or more: 53 >= 50).
 *
 * @throws RangeError if a range is not within its array
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
  requireWithin(out, outAt, count);
  requireWithin(a, aAt, count);
  requireWithin(b, bAt, count);
  const kernel = kernelFor(out, a, b);
  if (kernel) kernel(out.byteOffset + outAt * 4, a.byteOffset + aAt * 4, b.byteOffset + bAt * 4, count);
  else addInJavaScript(out.subarray(outAt, outAt + count), a.subarray(aAt, aAt + count), b.subarray(bAt, bAt + count));
}

/** The kernel knows only addresses: a wrong range would overwrite another buffer. */
function requireWithin(values: Float32Array, at: number, count: number): void {
  if (!(Number.isInteger(at) && Number.isInteger(count) && at >= 0 && count >= 0 && at + count <= values.length)) {
    throw new RangeError(`[${at}, ${at + count}) was requested, but the array has ${values.length} elements`);
  }
}

/** Adds views of equal length, four elements per iteration: half the time of the plain loop (V8 drops most bounds checks). */
function addInJavaScript(to: Float32Array, left: Float32Array, right: Float32Array): void {
  const count = to.length;
  let i = 0;
  for (; i + 3 < count; i += 4) {
    to[i] = left[i]! + right[i]!;
    to[i + 1] = left[i + 1]! + right[i + 1]!;
    to[i + 2] = left[i + 2]! + right[i + 2]!;
    to[i + 3] = left[i + 3]! + right[i + 3]!;
  }
  for (; i < count; i++) to[i] = left[i]! + right[i]!;
}
