/** Recursive halving and doubling, and the choice between it and direct sums. */
import type { Addition, ReductionPlan } from "./plan";

export type Algorithm = "direct" | "halving-doubling";

interface Reduction {
  readonly worldSize: number;
  readonly microBatches: number;
  readonly elements: number;
}

/** Largest world in which every rank is connected to every other. */
export const fullMeshWorkers = 64;
/** From this world size on, many small messages cost more than several latencies: docs/scale.md has the numbers. */
const manyRanks = 16;
/** Segment size in bytes from which the overlap of the direct exchange outweighs the fixed cost of messages. */
const largeSegmentBytes = 32 * 1024;

/**
 * All ranks choose alike, by these arguments alone; the bits are the same. The direct exchange takes two latencies but
 * W − 1 messages and connections. Halving and doubling takes 2·log2 W and needs a balanced tree (V a power of two); for
 * W no power of two it sends up to twice the bytes.
 */
export function chooseAlgorithm({ worldSize, microBatches, elements }: Reduction): Algorithm {
  if (!isPowerOfTwo(microBatches) || worldSize < manyRanks) return "direct";
  if (worldSize > fullMeshWorkers) return "halving-doubling";
  return elements * 4 <= worldSize * largeSegmentBytes ? "halving-doubling" : "direct";
}

function isPowerOfTwo(value: number): boolean {
  return value > 0 && (value & (value - 1)) === 0;
}

/**
 * The roles. P is the largest power of two ≤ W. A *host* is the rank that computes the first leaf (or last:
 * `planHalving`) of one of P subtrees of V / P leaves, and sums it; hosts then halve with the distances 1, 2, 4, … in
 * the tree's own order. A *guest* is any other rank.
 */
export interface HalvingPlan {
  /** By position; P hosts, ascending. */
  readonly hosts: readonly number[];
  /** By rank. */
  readonly roles: readonly HalvingRole[];
}

/** A partial sum, by its slot, that one rank sends to another. */
interface PartialTransfer {
  readonly slot: number;
  readonly rank: number;
}

export interface HalvingRole {
  /** Position among the hosts; `undefined` for a guest. */
  readonly position: number | undefined;
  /** Own partial sums that belong to other hosts' subtrees. */
  readonly gives: readonly PartialTransfer[];
  /** Other ranks' partial sums of the own subtree. */
  readonly takes: readonly PartialTransfer[];
  /** Nodes of the own subtree whose leaves are on more than one rank, children first. */
  readonly additions: readonly Addition[];
  /** Guests that get the result from this host. */
  readonly guests: readonly number[];
  /** Host that sends the result to a guest. */
  readonly server: number | undefined;
}

/**
 * Hosts compute their subtree's first leaf, or its last: the guests of one plan are hosts in the other. Equal if W is a
 * power of two.
 */
export interface HalvingPlans {
  readonly first: HalvingPlan;
  readonly last: HalvingPlan;
}

const plans = new WeakMap<ReductionPlan, HalvingPlans | undefined>();

/** Plans halving; `undefined` if it would not add in the canonical order: V is no power of two, or W is 1. */
export function planHalving(plan: ReductionPlan): HalvingPlans | undefined {
  if (!plans.has(plan)) plans.set(plan, makePlans(plan));
  return plans.get(plan);
}

function makePlans(plan: ReductionPlan): HalvingPlans | undefined {
  const { leafCount, worldSize } = plan;
  if (worldSize < 2 || !isPowerOfTwo(leafCount)) return undefined;
  const first = makePlan(plan, 0);
  return { first, last: isPowerOfTwo(worldSize) ? first : makePlan(plan, 1) };
}

/** @param side 0: hosts compute the first leaf of their subtree; 1: the last. */
function makePlan({ leafCount, worldSize, ranks, combine }: ReductionPlan, side: 0 | 1): HalvingPlan {
  const hostCount = 2 ** (31 - Math.clz32(worldSize));
  const subtree = leafCount / hostCount;
  // No rank computes more leaves than a subtree has (W >= P), so no rank owns the first leaves of two, or the last.
  const hosts: number[] = [];
  const shift = side * (subtree - 1);
  ranks.forEach(({ leaves }, rank) => {
    const firstMark = Math.ceil((leaves.first - shift) / subtree) * subtree + shift;
    if (firstMark < leaves.end) hosts.push(rank);
  });
  const positionOf = new Map(hosts.map((rank, position) => [rank, position]));
  const hostOf = (slot: number): number => hosts[Math.floor(slot / subtree)]!;

  const takes = hosts.map((): PartialTransfer[] => []);
  const guests = hosts.map((): number[] => []);
  const gives = ranks.map(({ partials }, rank) => partials.flatMap((slot) => giving(slot, hostOf(slot), rank)));
  gives.forEach((entries, rank) => {
    for (const { slot, rank: host } of entries) takes[positionOf.get(host)!]!.push({ slot, rank });
    if (!positionOf.has(rank)) guests[positionOf.get(entries[0]!.rank)!]!.push(rank);
  });
  const additions = hosts.map((): Addition[] => []);
  for (const addition of combine) {
    if (addition.end - addition.into <= subtree) additions[Math.floor(addition.into / subtree)]!.push(addition);
  }
  const roles = ranks.map((_, rank): HalvingRole => {
    const position = positionOf.get(rank);
    if (position === undefined) {
      return { position, gives: gives[rank]!, takes: [], additions: [], guests: [], server: gives[rank]![0]!.rank };
    }
    return {
      position,
      gives: gives[rank]!,
      takes: takes[position]!,
      additions: additions[position]!,
      guests: guests[position]!,
      server: undefined,
    };
  });
  return { hosts, roles };
}

function giving(slot: number, host: number, rank: number): readonly PartialTransfer[] {
  return host === rank ? [] : [{ slot, rank: host }];
}
