import { setImmediate as nextTurn } from "node:timers/promises";
import { allocateSum } from "../collective/sum-memory";
import type { Feed } from "../data/feed";
import type { OnFinal, TrainableModel } from "../engine/engine";
import type { LeafRange } from "../gang/gang";
import { createGradientWire } from "./gradient-wire";
import type { TrainingPlan } from "./plan";
import { addScore, type ScoreLayout } from "./score";

/**
 * Computes microshards' gradients into leaves: `parameterCount` gradient elements, then the score's sums. A leaf depends only
 * on (weights, seed, step, microshard), so it has the same bits on every worker.
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

  return {
    /** Number of elements of a leaf. */
    length,
    /** The form in which leaves are summed. */
    wire,
    /** Milliseconds spent waiting for data since the start. */
    dataWaitMs: () => dataWaitMs,
    /** Gathers the next step's data between two steps, if this thread does it. */
    ahead(step: number, range: LeafRange): void {
      if (step < plan.totalSteps) feed.ahead?.(step, range);
    },
    /**
     * Computes the leaves of `range` in the wire's form. Their memory is reused in the next call.
     *
     * @param lossScale factor of gradients that are rounded
     * @param lost checked after each microshard, and thrown: survivors of a loss are back after a microshard, not a step
     * @param beforeLast gets all leaves before the last one is computed. Its result gets the final elements of the last one.
     *   Not called if the wire's form differs from the computed one.
     */
    async compute(
      step: number,
      range: LeafRange,
      lossScale = 1,
      lost: () => Error | undefined = () => undefined,
      beforeLast: (leaves: readonly Float32Array[]) => OnFinal | undefined = () => undefined,
    ): Promise<readonly Float32Array[]> {
      const leaves: Float32Array[] = [];
      for (let microshard = range.first; microshard < range.end; microshard += 1) {
        const summed = pool[leaves.length] ?? allocateSum(wire.words);
        pool[leaves.length] = summed;
        if (wire.format !== "float32") elements ??= allocateSum(length);
        const leaf = elements ?? summed;
        const startedAt = now();
        const batch = await feed.microshard(step, microshard, range);
        dataWaitMs += now() - startedAt;
        const key = `seed ${plan.seed} step ${step} microshard ${microshard}`;
        const last = microshard === range.end - 1 && leaf === summed;
        const onFinal = last ? beforeLast([...leaves, summed]) : undefined;
        const result = model.gradients(batch, key, leaf.subarray(0, model.parameterCount), onFinal);
        const sums = leaf.subarray(model.parameterCount).fill(0);
        addScore(layout, result, sums);
        if (leaf !== summed) wire.write(leaf, lossScale, summed);
        leaves.push(summed);
        await nextTurn(); // gradients block the thread; sockets, leases and signals run here
        const loss = lost();
        if (loss) throw loss;
      }
      return leaves;
    },
  };
}

export type LeafComputer = ReturnType<typeof createLeafComputer>;
