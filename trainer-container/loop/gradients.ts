import { setImmediate as nextTurn } from "node:timers/promises";
import { allocateSum } from "../collective/sum-memory";
import type { Feed } from "../data/feed";
import type { OnFinal, TrainableModel } from "../engine/engine";
import type { LeafRange } from "../gang/gang";
import { createGradientWire } from "./gradient-wire";
import type { TrainingPlan } from "./plan";
import { addScore, type ScoreLayout } from "./score";

/**
 * Computes microshards' gradients into leaves: `parameterCount` gradient elements, then the score's sums. A leaf depends on (weights,
 * seed, step, microshard) alone, so it has the same bits whoever computes it.
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
  /** Where a leaf is computed before it is packed. */
  let elements: Float32Array | undefined;
  const pool: Float32Array[] = [];
  let dataWaitMs = 0;

  return {
    /** Elements of a leaf. */
    length,
    /** In what form they are summed. */
    wire,
    /** Milliseconds spent waiting for data since the start. */
    dataWaitMs: () => dataWaitMs,
    /** Between two steps' computations: gets the next one's data where that takes this thread's time. */
    ahead(step: number, range: LeafRange): void {
      if (step < plan.totalSteps) feed.ahead?.(step, range);
    },
    /**
     * The leaves of `range`, in the wire's form; their memory is used again at the next call.
     * @param lossScale multiplies gradients that are rounded.
     * @param lost looked at after each microshard, and thrown: survivors of a loss are back in a microshard's time, not in a step's.
     * @param beforeLast gets all leaves before the last one is computed; what it answers is told which of their elements are final. Not called
     *   where the wire's form is not the one that is computed.
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
        const asked = now();
        const batch = await feed.microshard(step, microshard, range);
        dataWaitMs += now() - asked;
        const key = `seed ${plan.seed} step ${step} microshard ${microshard}`;
        const last = microshard === range.end - 1 && leaf === summed;
        const onFinal = last ? beforeLast([...leaves, summed]) : undefined;
        const result = model.gradients(batch, key, leaf.subarray(0, model.parameterCount), onFinal);
        const sums = leaf.subarray(model.parameterCount).fill(0);
        addScore(layout, result, sums);
        if (leaf !== summed) wire.write(leaf, lossScale, summed);
        leaves.push(summed);
        await nextTurn(); // gradients block the thread; sockets, leases and signals get their turn here
        const loss = lost();
        if (loss) throw loss;
      }
      return leaves;
    },
  };
}

export type LeafComputer = ReturnType<typeof createLeafComputer>;
