import type { Feed } from "../../trainer-container/data/feed";
import type { TrainableModel } from "../../trainer-container/engine/engine";
import { add } from "../../trainer-container/kernels/add";
import { applyStep, type StepOutcome } from "../../trainer-container/loop/apply";
import { createLeafComputer } from "../../trainer-container/loop/gradients";
import type { TrainingPlan } from "../../trainer-container/loop/plan";
import { createReplica } from "../../trainer-container/loop/replica";
import { scoreLayout } from "../../trainer-container/loop/score";
import { canonicalAdditions } from "../../trainer-container/reduction/plan";

/** Wires a training of one worker as the trainer does, without a gang. */
export function trainAlone(model: TrainableModel, plan: TrainingPlan, feed: Feed) {
  const layout = scoreLayout([]);
  const replica = createReplica(model, plan, layout);
  model.writeWeights(replica.weights);
  const leaves = createLeafComputer({ model, plan, layout, feed, now: () => performance.now() });
  const range = { first: 0, end: plan.microBatches };
  return {
    replica,
    async step(): Promise<StepOutcome> {
      const step = replica.finishedSteps;
      if (replica.lossScale) leaves.scaleLoss(replica.lossScale.scale);
      const pass = replica.optimizer && (await leaves.beginStep(replica.optimizer, step, range));
      return applyStep(replica, pass ?? sumOf(await leaves.compute(step, range)), plan, layout);
    },
  };
}

function sumOf(leaves: readonly Float32Array[]): Float32Array {
  for (const { into, from } of canonicalAdditions(leaves.length)) {
    add(leaves[into]!, 0, leaves[into]!, 0, leaves[from]!, 0, leaves[into]!.length);
  }
  return leaves[0]!;
}
