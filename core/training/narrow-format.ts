/**
 * Gradients in 16 bits on the wire. A *packed* vector has the narrow elements first, two in a 32-bit word (the first in
 * the low half), then *exact* elements as float32, one in a word: running statistics and the score's sums, which
 * contain counts. Code that moves words need not distinguish them.
 *
 * Every node of the canonical tree, leaves included, is rounded to the format: node = round(a + b). Each partial sum is
 * therefore exactly representable in 16 bits, and the sum does not depend on which of them was sent.
 */

export type NarrowFormat = "bfloat16" | "float16";
export type GradientFormat = "float32" | NarrowFormat;

export interface PackedLayout {
  /** Number of elements in 16 bits. */
  readonly narrow: number;
  /** Number of elements in 32 bits after them. */
  readonly exact: number;
  /** First word of the exact elements. */
  readonly exactFrom: number;
  readonly words: number;
}

export function packedLayout(narrow: number, exact: number): PackedLayout {
  const exactFrom = Math.ceil(narrow / 2);
  return { narrow, exact, exactFrom, words: exactFrom + exact };
}

/** Rounding of a format: to nearest even; overflow gives infinity, and every NaN becomes the same one. */
export interface Rounding {
  /** Returns the 16 bits of a float32. */
  encode(value: number): number;
  decode(half: number): number;
}

const float = new Float32Array(1);
const word = new Uint32Array(float.buffer);

function bitsOf(value: number): number {
  float[0] = value;
  return word[0]!;
}

function floatOf(bits: number): number {
  word[0] = bits;
  return float[0]!;
}

const infinity = 0x7f80_0000;

const bfloat16: Rounding = {
  encode(value) {
    const bits = bitsOf(value);
    if ((bits & 0x7fff_ffff) > infinity) return 0x7fc0;
    return ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16) & 0xffff;
  },
  decode: (half) => floatOf(half << 16),
};

/** Float32's bits of 2¹⁶, from which everything rounds to infinity, and of 2⁻¹⁴, below which float16 is subnormal. */
const [tooLarge, minNormal] = [0x4780_0000, 0x3880_0000];

const float16: Rounding = {
  encode(value) {
    const bits = bitsOf(value);
    const sign = (bits >>> 16) & 0x8000;
    const magnitude = bits & 0x7fff_ffff;
    if (magnitude > infinity) return 0x7e00;
    if (magnitude >= tooLarge) return sign | 0x7c00;
    // The last bit of one half has the value of float16's smallest subnormal, so adding one half rounds there.
    if (magnitude < minNormal) return sign | (bitsOf(floatOf(magnitude) + 0.5) - 0x3f00_0000);
    return sign | ((magnitude - (112 << 23) + 0xfff + ((magnitude >>> 13) & 1)) >>> 13);
  },
  decode(half) {
    const magnitude = (half & 0x7fff) << 13;
    const bits = magnitude >= 0x0f80_0000 ? magnitude | infinity : bitsOf(floatOf(magnitude) * 2 ** 112);
    return floatOf(bits | ((half & 0x8000) << 16));
  },
};

export const roundings: Readonly<Record<NarrowFormat, Rounding>> = { bfloat16, float16 };

const halvesOf = (words: Float32Array) => new Uint16Array(words.buffer, words.byteOffset, words.length * 2);

/** Computes `into[i] = round(values[i] · scale)` for all of `values`; an unused last half word is zero. */
export function packInJavaScript(format: NarrowFormat, values: Float32Array, scale: number, into: Float32Array): void {
  const { encode } = roundings[format];
  const halves = halvesOf(into);
  for (let i = 0; i < values.length; i++) halves[i] = encode(Math.fround(values[i]! * scale));
  if (values.length % 2 === 1) halves[values.length] = 0;
}

/** Fills `into` from its elements' 16 bits. */
export function unpackInJavaScript(format: NarrowFormat, words: Float32Array, into: Float32Array): void {
  const { decode } = roundings[format];
  const halves = halvesOf(words);
  for (let i = 0; i < into.length; i++) into[i] = decode(halves[i]!);
}

/** Computes `out[i] = round(a[i] + b[i])` for both elements of each word; `out` may be `a`. */
export function addPackedInJavaScript(format: NarrowFormat, out: Float32Array, a: Float32Array, b: Float32Array): void {
  const { encode, decode } = roundings[format];
  const [to, left, right] = [halvesOf(out), halvesOf(a), halvesOf(b)];
  for (let i = 0; i < to.length; i++) to[i] = encode(Math.fround(decode(left[i]!) + decode(right[i]!)));
}
