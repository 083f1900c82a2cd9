/**
 * The canonical binary tree: the one order in which the V leaves (micro-batch gradients) of a global batch are added.
 *
 * A node covers the leaves [first, end). With more than one leaf it splits at the largest power of two below its size. So
 * complete subtrees start at multiples of their (power-of-two) size, and a worker with 2^k aligned leaves owns one subtree.
 * Every sum is stored in the *slot* of its node's first leaf: an inner node adds the slot of its right child to the slot of
 * its left one, and the root ends in slot 0.
 */

/** One inner node: `slot[into] += slot[from]`, after which `slot[into]` is the sum of the leaves `[into, end)`. */
export interface Addition {
  readonly into: number;
  readonly from: number;
  /** One past the node's last leaf. */
  readonly end: number;
}

/** Lists the V − 1 additions, children before parents, left before right. */
export function canonicalAdditions(leafCount: number): readonly Addition[] {
  if (!Number.isInteger(leafCount) || leafCount < 1) {
    throw new RangeError(`leaf count is ${leafCount}, but must be an integer >= 1`);
  }
  const additions: Addition[] = [];
  visit(0, leafCount, additions);
  return additions;
}

function visit(first: number, end: number, additions: Addition[]): void {
  const size = end - first;
  if (size === 1) return;
  const split = first + largestPowerOfTwoBelow(size);
  visit(first, split, additions);
  visit(split, end, additions);
  additions.push({ into: first, from: split, end });
}

function largestPowerOfTwoBelow(size: number): number {
  return 2 ** (31 - Math.clz32(size - 1));
}
