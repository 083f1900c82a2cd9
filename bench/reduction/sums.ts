import type { NarrowFormat } from "../../core/training/narrow-format";
import { add } from "../../trainer-container/collective/add";
import { allocateSum } from "../../trainer-container/collective/sum-memory";
import { addPacked, pack, unpack } from "../../trainer-container/kernels/narrow";
import { canonicalAdditions } from "../../trainer-container/reduction/tree";
import { exactKernel } from "./exact-kernels";

/** One method to sum V leaves of the same length. */
export interface SumMethod {
  readonly name: string;
  /** Bytes per element on the wire. */
  readonly bytesPerElement: number;
  /** Bytes per element of a preceding agreement. */
  readonly exponentBytesPerElement: number;
  /** Sums leaves without changing them. @param key key of stochastic rounding: the step */
  sum(leaves: readonly Float32Array[], out: Float32Array, key: number): void;
}

/** Keeps buffers, because allocation is not part of a sum. */
function keeper(): (name: string, length: number) => Float32Array {
  const kept = new Map<string, Float32Array>();
  return (name, length) => {
    const present = kept.get(name);
    if (present?.length === length) return present;
    const made = allocateSum(length);
    kept.set(name, made);
    return made;
  };
}

const whole = (out: Float32Array, a: Float32Array, b: Float32Array) => add(out, 0, a, 0, b, 0, out.length);

/** Sums in the canonical tree. Additions write into kept slots, because the leaves are reused. */
export function treeSum(): SumMethod {
  const keep = keeper();
  return {
    name: "canonical tree",
    bytesPerElement: 4,
    exponentBytesPerElement: 0,
    sum(leaves, out) {
      const slots: Float32Array[] = [...leaves];
      for (const { into, from, end } of canonicalAdditions(leaves.length)) {
        const target = end - into === leaves.length ? out : keep(`slot ${into}`, out.length);
        whole(target, slots[into] as Float32Array, slots[from] as Float32Array);
        slots[into] = target;
      }
    },
  };
}

export const plainSum: SumMethod = {
  name: "left to right",
  bytesPerElement: 4,
  exponentBytesPerElement: 0,
  sum(leaves, out) {
    const [first, second, ...rest] = leaves as readonly [Float32Array, Float32Array, ...Float32Array[]];
    whole(out, first, second);
    for (const leaf of rest) whole(out, out, leaf);
  },
};

/** Sums with a shared exponent for each block of elements. Lengths are multiples of the block. */
export function exactSum(width: 32 | 64, blockElements: number): SumMethod {
  const keep = keeper();
  const type = width === 32 ? "int32" : "int64";
  return {
    name: `exact ${type}, blocks of ${blockElements}`,
    bytesPerElement: width / 8,
    exponentBytesPerElement: 1 / blockElements,
    sum(leaves, out) {
      const blocks = out.length / blockElements;
      const headroom = Math.ceil(Math.log2(leaves.length));
      const greatest = keep("greatest", blocks).fill(0);
      for (const leaf of leaves) exactKernel("greatest")(leaf.byteOffset, greatest.byteOffset, blocks, blockElements);
      const [up, down] = scalesOf(greatest, width === 32 ? 31 - headroom : 49, width, keep);
      const sums = keep("sums", (out.length * width) / 32).fill(0);
      for (const leaf of leaves) {
        exactKernel(`add ${type}`)(leaf.byteOffset, sums.byteOffset, up.byteOffset, blocks, blockElements);
      }
      exactKernel(`take ${type}`)(sums.byteOffset, out.byteOffset, down.byteOffset, blocks, blockElements);
    },
  };
}

/** Returns powers of two that bring a block's greatest magnitude just below 2^`fractionBits`, and back. */
function scalesOf(
  greatest: Float32Array,
  fractionBits: number,
  width: 32 | 64,
  keep: (name: string, length: number) => Float32Array,
): readonly [Float32Array, Float32Array] {
  const [upWords, downWords] = [
    keep("up", (greatest.length * width) / 32),
    keep("down", (greatest.length * width) / 32),
  ];
  const view = (words: Float32Array) =>
    width === 32 ? words : new Float64Array(words.buffer, words.byteOffset, greatest.length);
  const [up, down] = [view(upWords), view(downWords)];
  const bits = new Uint32Array(greatest.buffer, greatest.byteOffset, greatest.length);
  for (let block = 0; block < greatest.length; block++) {
    const exponent = ((bits[block] as number) >>> 23) - 126;
    const shift = Math.min(126, fractionBits - exponent);
    up[block] = 2 ** shift;
    down[block] = 2 ** -shift;
  }
  return [upWords, downWords];
}

/** Sums in the tree with every node rounded to nearest even, leaves included. */
export function narrowSum(format: NarrowFormat, scale = 1): SumMethod {
  const keep = keeper();
  return {
    name: `tree in ${format}`,
    bytesPerElement: 2,
    exponentBytesPerElement: 0,
    sum(leaves, out) {
      const words = Math.ceil(out.length / 2);
      const slots = leaves.map((leaf, slot) => {
        const packed = keep(`slot ${slot}`, words);
        pack(format, leaf, scale, packed);
        return packed;
      });
      for (const { into, from } of canonicalAdditions(leaves.length)) {
        addPacked(format, slots[into] as Float32Array, slots[into] as Float32Array, slots[from] as Float32Array);
      }
      unpack(format, slots[0] as Float32Array, out);
      if (scale !== 1) for (let i = 0; i < out.length; i++) out[i] = (out[i] as number) / scale;
    },
  };
}

/** Computes a hash of 32 bits (lowbias32 by Ellis). */
function hash(value: number): number {
  let x = value | 0;
  x = Math.imul(x ^ (x >>> 16), 0x7feb_352d);
  x = Math.imul(x ^ (x >>> 15), 0x846c_a68b);
  return (x ^ (x >>> 16)) >>> 0;
}

/**
 * Sums in the tree with every node rounded stochastically to bfloat16: up or down with a probability in proportion to the
 * distance, drawn from (step, node, element) only. Unbiased and stateless. In JavaScript, because only its error is measured.
 */
export function stochasticSum(): SumMethod {
  const keep = keeper();
  let elementHashes = new Uint32Array(0);
  const round = (values: Float32Array, key: number) => {
    const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
    for (let i = 0; i < bits.length; i++) {
      const chance = hash((elementHashes[i] as number) ^ key) & 0xffff;
      bits[i] = ((bits[i] as number) + chance) & 0xffff_0000;
    }
  };
  return {
    name: "tree in bfloat16, stochastic",
    bytesPerElement: 2,
    exponentBytesPerElement: 0,
    sum(leaves, out, step) {
      if (elementHashes.length !== out.length) elementHashes = Uint32Array.from(out, (_, i) => hash(i));
      const slots = leaves.map((leaf, slot) => {
        const values = keep(`slot ${slot}`, leaf.length);
        values.set(leaf);
        round(values, hash(step * 4_096 + slot));
        return values;
      });
      for (const { into, from, end } of canonicalAdditions(leaves.length)) {
        const target = slots[into] as Float32Array;
        whole(target, target, slots[from] as Float32Array);
        round(target, hash(step * 4_096 + leaves.length + into * 64 + end));
      }
      out.set(slots[0] as Float32Array);
    },
  };
}
