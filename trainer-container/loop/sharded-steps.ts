import type { Message } from "../collective/messages";
import type { TrainableModel } from "../engine/engine";
import { type Generation, gangSignals } from "../gang/gang";
import { simdBlockSquare } from "../kernels/norm";
import { blockSquares, clipFactor, normBlockCount, normOfBlocks } from "../optimizer/clip";
import { learningRateAt } from "../optimizer/learning-rate";
import { clip, copiedBy, lengthOf, neighbourOf, type Span, shardSegment } from "../sharding/sharding";
import { requireFinite, type StepOutcome } from "./apply";
import { type ScoreLayout, scoreOf } from "./score";
import type { ShardedReplica } from "./sharded-replica";
import { synchronizeShards } from "./sharded-synchronize";
import type { Steps } from "./steps";
import type { Sharding, Training } from "./training";

/**
 * The rank that gets all slots: a leader that wants a checkpoint or if all leave, otherwise, if some leave, the first
 * that remains: two neighbours that leave would take a segment with them.
 */
function gatheringRank(signalsByRank: readonly number[]): number | undefined {
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
async function gatherSlots(replica: ShardedReplica, generation: Generation, to: number): Promise<void> {
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

interface ShardedStepResult {
  readonly outcome: StepOutcome;
  readonly signalsByRank: readonly number[];
}

/**
 * Takes one optimizer step on all ranks in four operations. (1) The two holders of each segment get its gradient sum. (2) All
 * ranks get the blocks' squares and the score, so all know norm and loss. (3) All other ranks get a segment's new weights from
 * its owner. By beginning (3), a rank announces that it can advance its shards. When (3) completes, the rank knows that all
 * ranks can. Only then does the step count: for any later loss, two ranks have each segment's slots of this step.
 *
 * @throws GenerationLostError; the replica is then unchanged, but the step may be pending
 * @throws TrainingHaltedError if loss or gradient is not finite: on every rank, and none applies the step
 */
async function shardedStep(
  replica: ShardedReplica,
  generation: Generation,
  model: TrainableModel,
  layout: ScoreLayout,
  local: readonly Float32Array[],
  signals: number,
): Promise<ShardedStepResult> {
  const { plan, finishedSteps, shards } = replica;
  const { worldSize } = generation;
  const [own, copy] = shards;
  const signalsByRank = await generation.reduceScatter({
    local,
    segments: leafSegments(replica, worldSize),
    own: own!.gradient,
    copy: (copy ?? own!).gradient,
    signals,
    finishedSteps,
  });

  const { squares, sums } = await shareSums(replica, generation);
  const score = scoreOf(layout, sums);
  const mean = 1 / score.weight;
  const gradientNorm = normOfBlocks(squares) * mean;
  requireFinite("loss", score.loss, finishedSteps);
  requireFinite("gradient", gradientNorm, finishedSteps);
  const step = finishedSteps + 1;
  const learningRate = learningRateAt(plan.learningRate, step, plan.totalSteps);
  const update = { step, learningRate, mean, scale: mean * clipFactor(gradientNorm, plan.clipNorm) };

  // From three ranks on, some rank holds neither copy of the own segment.
  const previewed = worldSize > 2;
  if (previewed) own!.preview(replica.weights, replica.next, update);
  replica.pending = update;
  await gatherWeights(replica, generation);

  // No await from here on, so a replica is never seen in between.
  for (const shard of previewed ? shards.slice(1) : shards) shard.advance(replica.weights, replica.next, update);
  if (previewed) own!.advanceSlots(replica.weights, update);
  replica.finish(step);
  const { epoch, stepInEpoch } = plan.sampler.position(finishedSteps);
  if (stepInEpoch === 0) replica.epochScore.fill(0);
  for (let i = 0; i < layout.length; i += 1) replica.epochScore[i]! += sums[i]!;
  model.writeWeights(replica.weights);
  return { outcome: { step, epoch, score, gradientNorm, learningRate }, signalsByRank };
}

/** Returns the segments of a leaf: the parameters', and the score's sums after the last one. */
function leafSegments({ parameterCount, epochScore }: ShardedReplica, worldSize: number): readonly Span[] {
  return Array.from({ length: worldSize }, (_, owner) => {
    const { start, end } = shardSegment(parameterCount, worldSize, owner);
    return { start, end: owner === worldSize - 1 ? parameterCount + epochScore.length : end };
  });
}

/** Shares the squares of all blocks of the gradient, then the score's sums. The owner of each part computes and sends it. */
async function shareSums(replica: ShardedReplica, generation: Generation) {
  const { parameterCount, trainableCount, epochScore } = replica;
  const { rank, worldSize } = generation;
  const blocks = normBlockCount(trainableCount);
  const all = new Float64Array(blocks + epochScore.length);
  const partOf = (owner: number): Span => {
    const { start, end } = shardSegment(parameterCount, worldSize, owner);
    const firstBlock = Math.min(blocks, normBlockCount(start));
    return { start: firstBlock, end: owner === worldSize - 1 ? all.length : Math.min(blocks, normBlockCount(end)) };
  };
  const mine = partOf(rank);
  const { gradient, parameters } = replica.shards[0]!;
  blockSquares(gradient, trainableCount, all, mine.start, Math.min(mine.end, blocks), simdBlockSquare);
  if (rank === worldSize - 1) all.set(gradient.subarray(lengthOf(parameters)), blocks);

  const viewOf = (owner: number): Float32Array => {
    const { start, end } = partOf(owner);
    return new Float32Array(all.buffer, start * 8, (end - start) * 2);
  };
  const others = othersOf(generation);
  await generation.exchange({
    sends: others.map((other) => ({ rank: other, number: 0, values: viewOf(rank) })),
    receives: others.map((other) => ({ rank: other, number: 0, values: viewOf(other) })),
    finishedSteps: replica.finishedSteps,
  });
  return { squares: all.subarray(0, blocks), sums: all.subarray(blocks) };
}

/** Receives into `next` the segments without a shard on this rank. The neighbour of the own one needs none: it has a copy. */
async function gatherWeights(replica: ShardedReplica, generation: Generation): Promise<void> {
  const { parameterCount, next, finishedSteps } = replica;
  const { rank, worldSize } = generation;
  const segment = (owner: number): Float32Array => {
    const { start, end } = shardSegment(parameterCount, worldSize, owner);
    return next.subarray(start, end);
  };
  const others = othersOf(generation);
  await generation.exchange({
    sends: others
      .filter((other) => other !== neighbourOf(worldSize, rank))
      .map((other) => ({ rank: other, number: 0, values: segment(rank) })),
    receives: others
      .filter((other) => other !== copiedBy(worldSize, rank))
      .map((other) => ({ rank: other, number: 0, values: segment(other) })),
    finishedSteps,
  });
}

/** Lists the other ranks from the next one on, so that not all ranks send to the same one first. */
function othersOf({ rank, worldSize }: Generation): readonly number[] {
  return Array.from({ length: worldSize - 1 }, (_, i) => (rank + 1 + i) % worldSize);
}

/** Creates the steps of a sharded optimizer: each rank holds the slots of two segments and computes their updates. */
export function shardedSteps({ model, layout, leaves, writable }: Training, sharding: Sharding): Steps {
  const { replica, checkpointDue } = sharding;
  let signalsByRank: readonly number[] = [];
  return {
    async begin(generation) {
      await writable?.();
      await synchronizeShards(replica, generation, sharding);
    },
    async take(generation, raised) {
      const step = replica.finishedSteps;
      const wanted = generation.rank === 0 && checkpointDue(step + 1) ? gangSignals.checkpoint : 0;
      const local = await leaves.compute(step, generation.leaves, { lost: () => generation.lost });
      await writable?.();
      leaves.ahead(replica.finishedSteps + 1, generation.leaves);
      const taken = await shardedStep(replica, generation, model, layout, local, raised | wanted);
      signalsByRank = taken.signalsByRank;
      return { outcome: taken.outcome, signals: signalsByRank.reduce((bits, signals) => bits | signals, 0) };
    },
    async atBoundary(generation, epochEnd) {
      if (replica.shards.length === 0) return false; // formed again after the last step
      const to = epochEnd ? 0 : gatheringRank(signalsByRank);
      if (to !== undefined && generation.worldSize > 1) await gatherSlots(replica, generation, to);
      return generation.worldSize === 1 || to === 0;
    },
    end() {},
  };
}
