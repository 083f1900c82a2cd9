import { kernelFor } from "./sum-memory";

/**
 * How two parts of vectors are added: `out[outAt + i] = a[aAt + i] + b[bAt + i]` for `i` in `[0, count)`, whatever a word of them stands for.
 * `out` may be `a` at the same place. `at` is where the part lies in the whole vector.
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
 * The add kernel: `out[outAt + i] = a[aAt + i] + b[bAt + i]` for `i` in `[0, count)`. `out` may be `a` at the same place.
 *
 * WebAssembly SIMD where all three lie in its memory (`allocateSum`), else JavaScript; the bits are the same. JavaScript adds in float64
 * and rounds once on the store, which for two float32 equals a float32 addition exactly (double rounding is innocuous where the wide
 * format has 2p + 2 bits or more: 53 >= 50).
 *
 * @throws RangeError where a range does not lie within its array.
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

/** The kernel knows addresses only: whoever passes a wrong one would overwrite another buffer. */
function requireWithin(values: Float32Array, at: number, count: number): void {
  if (!(Number.isInteger(at) && Number.isInteger(count) && at >= 0 && count >= 0 && at + count <= values.length)) {
    throw new RangeError(`[${at}, ${at + count}) is asked for, but the array has ${values.length} elements`);
  }
}

/** Views of equal length and four additions a turn: half the time of the plain loop (V8 drops most bounds checks). */
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
