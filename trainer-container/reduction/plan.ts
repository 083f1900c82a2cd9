/**
 * The canonical tree: the order in which V leaves are added. A node [first, end) splits at the largest power of two
 * below its size, so 2^k aligned leaves are one subtree. A sum is stored in the *slot* of its first leaf; the root ends
 * in slot 0.
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

/** Half-open range of leaves, `[first, end)`. */
export interface LeafRange {
  readonly first: number;
  readonly end: number;
}

/** The additions and partial sums of one rank before anything is sent. */
interface RankPlan {
  /** The leaves that it computes. */
  readonly leaves: LeafRange;
  /** Nodes whose leaves are all its own, in order. */
  readonly additions: readonly Addition[];
  /** Slots of its partial sums after the additions: one for each maximal complete subtree, ascending. */
  readonly partials: readonly number[];
}

/** The additions of each rank: for every W, the same tree from the same children, so the sum has the same bits. */
export interface ReductionPlan {
  readonly leafCount: number;
  readonly worldSize: number;
  readonly ranks: readonly RankPlan[];
  /** Nodes whose leaves are on more than one rank, in order. The owner of a segment adds them from all ranks' partials. */
  readonly combine: readonly Addition[];
}

/** Returns the leaves of a rank: `[⌊rV/W⌋, ⌊(r+1)V/W⌋)`. */
export function leafRange(leafCount: number, worldSize: number, rank: number): LeafRange {
  return {
    first: Math.floor((rank * leafCount) / worldSize),
    end: Math.floor(((rank + 1) * leafCount) / worldSize),
  };
}

/** Cache of the last plan: every generation of a size has the same one. */
let last: ReductionPlan | undefined;

/** Plans the sum of `leafCount` leaves over `worldSize` ranks: leaves, own additions and the rest. @throws RangeError */
export function planReduction(leafCount: number, worldSize: number): ReductionPlan {
  if (last?.leafCount === leafCount && last.worldSize === worldSize) return last;
  if (!Number.isInteger(worldSize) || worldSize < 1 || worldSize > leafCount) {
    throw new RangeError(`world size is ${worldSize}, but must be an integer from 1 to the leaf count (${leafCount})`);
  }
  const tree = canonicalAdditions(leafCount);
  const ranks = Array.from({ length: worldSize }, (_, rank) => planRank(tree, leafRange(leafCount, worldSize, rank)));
  const local = new Set(ranks.flatMap((rank) => rank.additions));
  last = { leafCount, worldSize, ranks, combine: tree.filter((addition) => !local.has(addition)) };
  return last;
}

function planRank(tree: readonly Addition[], leaves: LeafRange): RankPlan {
  const additions = tree.filter(({ into, end }) => into >= leaves.first && end <= leaves.end);
  const absorbed = new Set(additions.map(({ from }) => from));
  const partials: number[] = [];
  for (let leaf = leaves.first; leaf < leaves.end; leaf++) if (!absorbed.has(leaf)) partials.push(leaf);
  return { leaves, additions, partials };
}
