import type { Category } from "../datasets/profile";
import type { FeatureOutput } from "./shapes";

/** The fields of a one-hot that map values to positions. */
type Codes = Pick<Extract<FeatureOutput, { readonly kind: "one-hot" }>, "vocabulary" | "other" | "buckets">;

/** Returns the position of a category in its one-hot; -1 if the value is missing, or unknown without a place for others. */
export function codeLookup({ vocabulary, other, buckets }: Codes): (value: Category | undefined) => number {
  if (buckets !== undefined) return (value) => (value === undefined ? -1 : murmurHash3(String(value)) % buckets);
  const codes = new Map(vocabulary.map((value, code) => [value, code]));
  const unknown = other ? vocabulary.length : -1;
  return (value) => (value === undefined ? -1 : (codes.get(value) ?? unknown));
}

const utf8 = new TextEncoder();
const [first, second] = [0xcc9e2d51, 0x1b873593];

/** Returns MurmurHash3 (A. Appleby), x86, 32 bits, seed 0, of the text in UTF-8: a whole number below 2³². */
export function murmurHash3(text: string): number {
  const bytes = utf8.encode(text);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const whole = bytes.length & ~3;
  let hash = 0;
  for (let i = 0; i < whole; i += 4) {
    hash = rotate(hash ^ mixed(view.getUint32(i, true)), 13);
    hash = (Math.imul(hash, 5) + 0xe6546b64) | 0;
  }
  let tail = 0;
  for (let i = bytes.length - 1; i >= whole; i -= 1) tail = (tail << 8) | bytes[i]!;
  if (bytes.length > whole) hash ^= mixed(tail);
  hash ^= bytes.length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function mixed(block: number): number {
  return Math.imul(rotate(Math.imul(block, first), 15), second);
}

function rotate(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}
