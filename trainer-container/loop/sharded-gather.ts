import type { Message } from "../collective/messages";
import { type Generation, gangSignals } from "../gang/gang";
import { clip, copiedBy, lengthOf, type Span, shardSegment } from "../sharding/segments";
import type { ShardedReplica } from "./sharded-replica";

/**
 * Returns the rank that gets all slots after a step whose ranks raised these signals. It is the leader if it wants a
 * checkpoint, or if all leave. If some leave, it is the first remaining rank, because two neighbours that leave at once would
 * take a segment with them. Undefined: none.
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

/** Sends all slots of the current step to one rank, whose replica is then whole. Each owner sends its segment. @throws GenerationLostError */
export async function gatherSlots(replica: ShardedReplica, generation: Generation, to: number): Promise<void> {
  const { parameterCount, slotElements, slotNames, finishedSteps, shards } = replica;
  const { rank, worldSize } = generation;
  const spanOf = (owner: number): Span => clip(shardSegment(parameterCount, worldSize, owner), slotElements);
  const sends: Message[] = [];
  const receives: Message[] = [];
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
