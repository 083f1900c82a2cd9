import { GenerationLostError } from "../collective/errors";
import type { Message } from "../collective/messages";
import type { Generation } from "../gang/gang";
import {
  agree,
  decodeRankState,
  encodeRankState,
  heldSegments,
  lengthOf,
  planTransfers,
  type RankState,
  shardSegment,
  slotSpans,
  type Transfer,
} from "../sharding/sharding";
import type { BestEpoch } from "./best-epoch";
import { type HeldSlots, Shard, type ShardedReplica } from "./sharded-replica";

/** First wait before a generation with missing slots is abandoned; doubled each time. 6.3 s in all, for busy survivors. */
const firstWaitMs = 100;

export interface Recovery {
  /** Fills a whole replica from the newest checkpoint, after a segment was lost with both its holders. */
  readonly restore: () => Promise<void>;
  readonly sleep: (ms: number) => Promise<unknown>;
}

/**
 * Brings all ranks of a new generation to one step and to its layout. They exchange lists of their holdings, agree on the most
 * advanced step, and a rank without its weights or slots gets them from a holder. Until every rank has its part, each keeps its
 * holdings of that step.
 *
 * @throws GenerationLostError with a replica that is still of one step; also to wait for a late member
 */
export async function synchronizeShards(
  replica: ShardedReplica,
  generation: Generation,
  { restore, sleep }: Recovery,
): Promise<void> {
  for (;;) {
    const rankStates = await shareRankStates(generation, replica.rankState());
    const agreement = agree(rankStates, (step) => (isLast(replica, step) ? 0 : replica.slotElements));
    if (agreement.kind === "go-on") {
      await takeOver(replica, generation, rankStates, agreement);
      await generation.exchange({ sends: [], receives: [], finishedSteps: agreement.step });
      replica.forget();
      return;
    }
    if (agreement.kind === "wait") {
      await sleep(firstWaitMs * 2 ** agreement.waited);
      replica.waited = agreement.waited + 1;
      const reason = `no member has some slots of step ${agreement.step}: forming again, because their holders may be late`;
      throw new GenerationLostError(generation.number, undefined, reason);
    }
    if (agreement.ranks.includes(generation.rank)) {
      replica.makeWhole();
      await restore();
    }
  }
}

/** Whether this is the last step. Then no rank needs slots: a rank with the weights has the result, even if others have left. */
function isLast({ plan }: ShardedReplica, step: number): boolean {
  return step === plan.totalSteps;
}

/** Returns the number of gradient elements of a segment: the score's sums follow the last one. */
export function gradientElements(replica: ShardedReplica, worldSize: number, owner: number): number {
  const segment = lengthOf(shardSegment(replica.parameterCount, worldSize, owner));
  return owner === worldSize - 1 ? segment + replica.epochScore.length : segment;
}

async function takeOver(
  replica: ShardedReplica,
  generation: Generation,
  rankStates: readonly RankState[],
  { step, source, behind }: Extract<ReturnType<typeof agree>, { kind: "go-on" }>,
): Promise<void> {
  const { rank, worldSize } = generation;
  const { parameterCount, trainableCount, slotNames } = replica;
  const last = isLast(replica, step);
  const slotElements = last ? 0 : replica.slotElements;
  const targets = rankStates.map((_, to) => slotSpans(parameterCount, slotElements, worldSize, to));
  const transfers = planTransfers(rankStates, step, targets);
  const held = replica.slotsAt(step);
  const shards = (last ? [] : heldSegments(worldSize, rank)).map(
    (owner) =>
      new Shard(
        replica.plan.optimizer,
        shardSegment(parameterCount, worldSize, owner),
        trainableCount,
        gradientElements(replica, worldSize, owner),
      ),
  );
  const into = shards.map((shard): HeldSlots => ({ ...shard.slots, step, state: shard.state }));

  const sends: Message[] = [];
  const receives: Message[] = [];
  transfers.forEach((transfer, index) => {
    slotNames.forEach((name, place) => {
      const number = index * slotNames.length + place;
      if (transfer.to === rank && transfer.from === rank) view(into, name, transfer).set(view(held, name, transfer));
      else if (transfer.to === rank) receives.push({ rank: transfer.from, number, values: view(into, name, transfer) });
      else if (transfer.from === rank) sends.push({ rank: transfer.to, number, values: view(held, name, transfer) });
    });
  });

  const late = behind.includes(rank);
  const epochScore = late ? new Float64Array(replica.epochScore.length) : replica.epochScore;
  const best = replica.best && (late ? copyOf(replica.best) : replica.best);
  const number = transfers.length * slotNames.length;
  const weights = late ? replica.next : replica.weights;
  const rest = (other: number): readonly Message[] => [
    { rank: other, number, values: weights },
    { rank: other, number: number + 1, values: asFloats(epochScore) },
    ...(best
      ? [
          { rank: other, number: number + 2, values: best.weights },
          { rank: other, number: number + 3, values: asFloats(best.numbers) },
        ]
      : []),
  ];
  if (late) receives.push(...rest(source));
  if (rank === source) sends.push(...behind.flatMap(rest));

  try {
    await generation.exchange({ sends, receives, finishedSteps: step });
  } catch (error) {
    for (const shard of shards) shard.release();
    throw error;
  }
  if (late) {
    replica.epochScore.set(epochScore);
    if (best) replica.best?.weights.set(best.weights);
    if (best) replica.best?.numbers.set(best.numbers);
  }
  replica.adopt(step, shards, held, late);
}

function copyOf({ weights, numbers }: BestEpoch): BestEpoch {
  return { weights: weights.slice(), numbers: numbers.slice() };
}

/** Returns the part of a slot that a transfer concerns, from the piece that holds it. */
function view(pieces: readonly HeldSlots[], name: string, { start, end }: Transfer): Float32Array {
  const piece = pieces.find((one) => one.start <= start && one.end >= end);
  if (piece === undefined) throw new RangeError(`slots [${start}, ${end}) are not held here`);
  return piece.state[name]!.subarray(start - piece.start, end - piece.start);
}

/** Exchanges all ranks' states, by rank. Their lengths are sent first, because they differ. */
async function shareRankStates(generation: Generation, mine: RankState): Promise<readonly RankState[]> {
  const { rank, worldSize } = generation;
  const encoded = encodeRankState(mine);
  const lengths = Array.from({ length: worldSize }, (_, other) => Float64Array.of(other === rank ? encoded.length : 0));
  await share(generation, lengths);
  const rankStates = lengths.map(([length], other) => (other === rank ? encoded : new Float64Array(length!)));
  await share(generation, rankStates);
  return rankStates.map(decodeRankState);
}

/** Receives all other ranks' entries. */
async function share(generation: Generation, byRank: readonly Float64Array[]): Promise<void> {
  const others = byRank.map((_, other) => other).filter((other) => other !== generation.rank);
  const mine = asFloats(byRank[generation.rank]!);
  await generation.exchange({
    sends: others.map((rank) => ({ rank, number: 0, values: mine })),
    receives: others.map((rank) => ({ rank, number: 0, values: asFloats(byRank[rank]!) })),
    finishedSteps: 0,
  });
}

function asFloats(numbers: Float64Array): Float32Array {
  return new Float32Array(numbers.buffer, numbers.byteOffset, numbers.length * 2);
}
