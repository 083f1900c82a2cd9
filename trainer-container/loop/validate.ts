import { setImmediate as nextTurn } from "node:timers/promises";
import type { SplitBlocks } from "../data/feed";
import type { TrainableModel } from "../engine/engine";
import type { Generation } from "../gang/gang";
import { leafRange } from "../reduction/plan";
import { addScore, type Score, type ScoreLayout, scoreOf } from "./score";

/**
 * Scores a split on all ranks, with the same bits for every world size. The split is cut into blocks of a fixed
 * number of rows. Leaf l of the V leaves is the sum of its fixed, contiguous range of blocks, in order. The gang adds the V
 * leaves in its canonical order, as it does with gradients.
 *
 * @returns the score, its sums, and the signals that ranks raised in the meantime
 */
export async function validate(
  generation: Generation,
  model: TrainableModel,
  blocks: SplitBlocks,
  layout: ScoreLayout,
  microBatches: number,
  signals: number,
  finishedSteps: number,
): Promise<{ readonly score: Score; readonly sums: Float32Array; readonly signals: number }> {
  const leaves: Float32Array[] = [];
  for (let leaf = generation.leaves.first; leaf < generation.leaves.end; leaf += 1) {
    const sums = new Float64Array(layout.length);
    const range = leafRange(blocks.count, microBatches, leaf);
    for (let block = range.first; block < range.end; block += 1) {
      addScore(layout, model.evaluate(await blocks.block(block)), sums);
      await nextTurn();
      if (generation.lost) throw generation.lost;
    }
    leaves.push(Float32Array.from(sums));
  }
  const total = new Float32Array(layout.length);
  const answer = await generation.allReduce(leaves, total, signals, finishedSteps);
  return { score: scoreOf(layout, total), sums: total, signals: answer };
}
