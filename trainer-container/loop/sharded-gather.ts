import type { Parcel } from "../collective/messages";
import { type Generation, gangSignals } from "../gang/gang";
import { clip, copiedBy, lengthOf, type Span, shardSegment } from "../sharding/segments";
import type { ShardedReplica } from "./sharded-replica";

/**
 * Which rank gets all slots after a step whose ranks raised these signals: the leader where it wants a checkpoint, or where all go; where some
 * go, the first that stays, for two neighbours that go at once would take a segment with them. Undefined: none.
 */
export function gatheringRank(signalsByRank: readonly number[]): number | undefined {
  const has = (signals: number, bit: number) => (signals & bit) !== 0;
  const all = signalsByRank.reduce((bits, signals) => bits | signals, 0);
  if (has(all, gangSignals.leaving)) {
    return Math.max(
      0,
      signalsByRank.findIndex((signals) => !has(signals, gangSignals.leaving)),
    );
  }
  return has(all, gangSignals.checkpoint | gangSignals.stop) ? 0 : undefined;
}

/** Brings all slots of the present step to one rank, whose replica is whole then. Each owner sends its segment. @throws GenerationLostError */
export async function gatherSlots(replica: ShardedReplica, generation: Generation, to: number): Promise<void> {
  const { parameterCount, slotElements, slotNames, finishedSteps, shards } = replica;
  const { rank, worldSize } = generation;
  const spanOf = (owner: number): Span => clip(shardSegment(parameterCount, worldSize, owner), slotElements);
  const sends: Parcel[] = [];
  const receives: Parcel[] = [];
  if (rank === to) {
    const state = Object.fromEntries(slotNames.map((name) => [name, new Float32Array(slotElements)]));
    for (const { slots, state: mine } of shards) {
      for (const name of slotNames) state[name]!.set(mine[name]!, slots.start);
    }
    for (let owner = 0; owner < worldSize; owner += 1) {
      if (owner === rank || owner === copiedBy(worldSize, rank)) continue;
      const { start, end } = spanOf(owner);
      for (const [number, name] of slotNames.entries()) {
        receives.push({ rank: owner, number, values: state[name]!.subarray(start, end) });
      }
    }
    await generation.exchange({ sends, receives, finishedSteps });
    replica.setGathered(state);
    return;
  }
  if (rank !== copiedBy(worldSize, to) && lengthOf(spanOf(rank)) > 0) {
    for (const [number, name] of slotNames.entries()) {
      sends.push({ rank: to, number, values: shards[0]!.state[name]! });
    }
  }
  await generation.exchange({ sends, receives, finishedSteps });
}
