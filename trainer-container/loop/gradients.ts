import { setImmediate as nextTurn } from "node:timers/promises";
import { add } from "../collective/add";
import { allocateSum } from "../collective/sum-memory";
import type { Feed } from "../data/feed";
import type {
  Batch,
  BatchResult,
  EngineOptimizer,
  NonFinite,
  OnFinal,
  StepUpdate,
  TrainableModel,
} from "../engine/engine";
import type { LeafRange } from "../gang/gang";
import { canonicalAdditions } from "../reduction/tree";
import { createGradientWire } from "./gradient-wire";
import type { TrainingPlan } from "./plan";
import { addScore, type ScoreLayout } from "./score";

/**
 * Computes micro-batches' gradients into leaves: `parameterCount` gradient elements, then the score's sums. A leaf depends only
 * on (weights, seed, step, micro-batch), so it has the same bits on every worker.
 */
export function createLeafComputer(options: {
  readonly model: TrainableModel;
  readonly plan: TrainingPlan;
  readonly layout: ScoreLayout;
  readonly feed: Feed;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
}) {
  const { model, plan, layout, feed, now } = options;
  const length = model.parameterCount + layout.length;
  const wire = createGradientWire(plan.gradientFormat, model, layout);
  /** Memory in which a leaf is computed before it is packed. */
  let elements: Float32Array | undefined;
  const pool: Float32Array[] = [];
  let dataWaitMs = 0;
  /** Factor of gradients that are rounded to the wire's form. */
  let wireScale = 1;

  const inGraph = plan.precision === "float16";
  if (inGraph && model.scaleLoss === undefined)
    throw new RangeError("precision is float16, but this model has no loss scale");

  // This text seeds draws: in other words, they would have other bits.
  const keyOf = (step: number, microBatch: number): string => `seed ${plan.seed} step ${step} microshard ${microBatch}`;

  const nextBatch = async (step: number, microBatch: number, range: LeafRange): Promise<Batch> => {
    const startedAt = now();
    const batch = await feed.microBatch(step, microBatch, range);
    dataWaitMs += now() - startedAt;
    return batch;
  };

  /** Returns the memory of a leaf or a sum. */
  const memoryOf = (index: number): Float32Array => {
    const memory = pool[index] ?? allocateSum(wire.words);
    pool[index] = memory;
    return memory;
  };

  /** Adds the scores of the leaves of a sum, as the vectors of leaves would be added. */
  const addScores = (results: readonly BatchResult[], into: Float32Array): void => {
    const scores = results.map((result) => {
      const score = new Float32Array(layout.length);
      addScore(layout, result, score);
      return score;
    });
    for (const { into: left, from: right } of canonicalAdditions(scores.length)) {
      add(scores[left]!, 0, scores[left]!, 0, scores[right]!, 0, layout.length);
    }
    into.set(scores[0]!);
  };

  return {
    /** Number of elements of a leaf. */
    length,
    /** The form in which leaves are summed. */
    wire,
    /** Milliseconds spent waiting for data since the start. */
    dataWaitMs: () => dataWaitMs,
    /** Sets the factor of gradients that are rounded to float16, from the next computation on. */
    scaleLoss(scale: number): void {
      if (inGraph) model.scaleLoss?.(scale);
      else wireScale = scale;
    },
    /** Gathers the next step's data between two steps, if this thread does it. */
    ahead(step: number, range: LeafRange): void {
      if (step < plan.totalSteps) feed.ahead?.(step, range);
    },
    /**
     * Computes the sums of ranges of leaves, with the bits of the leaves' sums. Their memory is reused in the next call.
     *
     * @param lost checked after each sum, and thrown
     * @returns undefined if the leaves must be computed one by one
     */
    async computeSums(
      step: number,
      range: LeafRange,
      subtrees: readonly LeafRange[],
      lost: () => Error | undefined,
    ): Promise<readonly Float32Array[] | undefined> {
      const sizes = subtrees.map(({ first, end }) => end - first);
      const { maxSum = 1 } = model;
      const possible = wire.format === "float32" && sizes.every((size) => size <= maxSum);
      if (!possible || sizes.every((size) => size === 1)) return undefined;
      const sums: Float32Array[] = [];
      for (const { first, end } of subtrees) {
        const into = memoryOf(sums.length);
        const sum = model.beginSum!(end - first);
        for (let microBatch = first; microBatch < end; microBatch += 1) {
          sum.add(await nextBatch(step, microBatch, range), keyOf(step, microBatch));
        }
        const results = sum.finish(into.subarray(0, model.parameterCount));
        addScores(results, into.subarray(model.parameterCount));
        sums.push(into);
        await nextTurn();
        const loss = lost();
        if (loss) throw loss;
      }
      return sums;
    },
    /** Finds in which of the micro-batches, and where, the loss or a gradient stops being finite. */
    async explainNonFinite(step: number, range: LeafRange): Promise<NonFinite | undefined> {
      for (let microBatch = range.first; microBatch < range.end; microBatch += 1) {
        const batch = await nextBatch(step, microBatch, range);
        const found = model.explainNonFinite?.(batch, keyOf(step, microBatch));
        if (found) return found;
      }
      return undefined;
    },
    /**
     * Computes all leaves and takes the optimizer's step in one call of the engine, with the bits of the sum and `apply`.
     *
     * @param update returns the step's numbers for the sum of all rows' weights
     * @param before awaited before the step; a failure prevents it
     * @returns undefined if the step must be taken otherwise
     */
    async takeStep(
      optimizer: EngineOptimizer | undefined,
      step: number,
      range: LeafRange,
      update: (weight: number) => StepUpdate,
      before: () => Promise<void>,
    ): Promise<TakenStep | undefined> {
      const count = range.end - range.first;
      if (!optimizer?.active || wire.format !== "float32" || count > (model.maxSum ?? 1)) return undefined;
      const begun = optimizer.beginStep(count);
      let rows = 0;
      for (let microBatch = range.first; microBatch < range.end; microBatch += 1) {
        const batch = await nextBatch(step, microBatch, range);
        rows += batch.rows;
        begun.add(batch, keyOf(step, microBatch));
      }
      await nextTurn(); // the step blocks the thread; sockets, leases and signals run here
      await before();
      const numbers = update(rows);
      const { results, gradientNorm } = begun.finish(numbers);
      const sums = new Float32Array(layout.length);
      addScores(results, sums);
      return { sums, gradientNorm, update: numbers };
    },
    /**
     * Computes the leaves of `range` in the wire's form. Their memory is reused in the next call.
     *
     * @param lost checked after each micro-batch, and thrown: survivors of a loss are back after a micro-batch, not a step
     * @param beforeLast gets all leaves before the last one is computed. Its result gets the final elements of the last one.
     *   Not called if the wire's form differs from the computed one.
     */
    async compute(
      step: number,
      range: LeafRange,
      lost: () => Error | undefined = () => undefined,
      beforeLast: (leaves: readonly Float32Array[]) => OnFinal | undefined = () => undefined,
    ): Promise<readonly Float32Array[]> {
      const leaves: Float32Array[] = [];
      for (let microBatch = range.first; microBatch < range.end; microBatch += 1) {
        const summed = memoryOf(leaves.length);
        if (wire.format !== "float32") elements ??= allocateSum(length);
        const leaf = elements ?? summed;
        const batch = await nextBatch(step, microBatch, range);
        const last = microBatch === range.end - 1 && leaf === summed;
        const onFinal = last ? beforeLast([...leaves, summed]) : undefined;
        const result = model.gradients(batch, keyOf(step, microBatch), leaf.subarray(0, model.parameterCount), onFinal);
        const sums = leaf.subarray(model.parameterCount).fill(0);
        addScore(layout, result, sums);
        if (leaf !== summed) wire.write(leaf, wireScale, summed);
        leaves.push(summed);
        await nextTurn(); // gradients block the thread; sockets, leases and signals run here
        const loss = lost();
        if (loss) throw loss;
      }
      return leaves;
    },
  };
}

/** A step that the engine has taken. */
export interface TakenStep {
  /** Sums of the training score. */
  readonly sums: Float32Array;
  readonly update: StepUpdate;
  readonly gradientNorm: number;
}

export type LeafComputer = ReturnType<typeof createLeafComputer>;
