import { type Addition, canonicalAdditions } from "./tree";

/** Half-open range of leaves, `[first, end)`. */
export interface LeafRange {
  readonly first: number;
  readonly end: number;
}

/** What one rank adds and sends before anything crosses the wire. */
export interface RankPlan {
  /** The leaves that it computes. */
  readonly leaves: LeafRange;
  /** Nodes whose leaves are all its own, in order. */
  readonly additions: readonly Addition[];
  /** Slots that hold its partial sums afterwards: one for each maximal whole subtree, ascending. */
  readonly partials: readonly number[];
}

/**
 * Who adds what, for V leaves on W ranks. Whatever W, every node of the canonical tree is added exactly once, from the same two children, so
 * that the sum has the same bits.
 */
export interface ReductionPlan {
  readonly leafCount: number;
  readonly worldSize: number;
  readonly ranks: readonly RankPlan[];
  /** Nodes whose leaves lie on more than one rank, in order: what the owner of a segment adds, over all ranks' partials. */
  readonly combine: readonly Addition[];
}

/** Contiguous and balanced within one: rank r of W has `[⌊rV/W⌋, ⌊(r+1)V/W⌋)`. */
export function leafRange(leafCount: number, worldSize: number, rank: number): LeafRange {
  return {
    first: Math.floor((rank * leafCount) / worldSize),
    end: Math.floor(((rank + 1) * leafCount) / worldSize),
  };
}

/** Every generation of a size has the same plan; the last one is kept. */
let last: ReductionPlan | undefined;

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
