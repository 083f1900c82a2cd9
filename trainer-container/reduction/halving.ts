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
 * Chooses the algorithm for a vector. All ranks must choose alike, so the choice depends only on these arguments. The bits
 * are the same for both.
 *
 * - The direct exchange takes two message latencies, but W − 1 messages in each direction and W − 1 connections: best for
 *   few ranks.
 * - Halving and doubling takes 2·log2 W latencies, as many messages, and log2 W connections. V must be a power of two,
 *   because only then is the top of the canonical tree balanced. If W is no power of two, whole partial sums are sent
 *   before and whole results after, up to twice the bytes.
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
 * The roles in recursive halving and doubling. Every node of the canonical tree is still added from the same two children.
 *
 * Let P be the largest power of two ≤ W, and V a power of two. The top of the tree is the balanced tree over P subtrees of
 * V / P leaves. A *host* is the rank that computes a subtree's first leaf (or its last: see `planHalving`); it sums that
 * subtree. The hosts then halve with the distances 1, 2, 4, …: pairs of neighbouring subtrees, then pairs of pairs, in the
 * tree's own order. A *guest* is any other rank: it sends its partial sums to the hosts of their subtrees, and gets the
 * result from one of them. If W is a power of two, there are no guests.
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
 * Two plans with the same sums: hosts compute the first leaf of their subtree, or the last. The guests of one plan are
 * hosts in the other. If each plan sums one half of a vector, all ranks send about as much. The plans are equal if W is a
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
