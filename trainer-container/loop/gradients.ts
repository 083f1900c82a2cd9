import { setImmediate as nextTurn } from "node:timers/promises";
import { allocateSum } from "../collective/sum-memory";
import type { TrainableModel } from "../engine/engine";
import type { LeafRange } from "../gang/gang";
import type { Feed } from "./feed";
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
  const pool: Float32Array[] = [];
  let dataWaitMs = 0;

  return {
    /** Elements of a leaf. */
    length,
    /** Milliseconds spent waiting for data since the start. */
    dataWaitMs: () => dataWaitMs,
    /** The leaves of `range`; their memory is used again at the next call. */
    async compute(step: number, range: LeafRange): Promise<readonly Float32Array[]> {
      const leaves: Float32Array[] = [];
      for (let microshard = range.first; microshard < range.end; microshard += 1) {
        const leaf = pool[leaves.length] ?? allocateSum(length);
        pool[leaves.length] = leaf;
        const asked = now();
        const batch = await feed.microshard(step, microshard, range);
        dataWaitMs += now() - asked;
        const key = `seed ${plan.seed} step ${step} microshard ${microshard}`;
        const result = model.gradients(batch, key, leaf.subarray(0, model.parameterCount));
        const sums = leaf.subarray(model.parameterCount).fill(0);
        addScore(layout, result, sums);
        leaves.push(leaf);
        await nextTurn(); // gradients block the thread; sockets, leases and signals get their turn here
      }
      return leaves;
    },
  };
}

export type LeafComputer = ReturnType<typeof createLeafComputer>;
