import { gangSignals } from "../gang/gang";
import { gatheringRank, gatherSlots } from "./sharded-gather";
import { shardedStep } from "./sharded-step";
import { synchronizeShards } from "./sharded-synchronize";
import type { Steps } from "./steps";
import type { Sharding, Training } from "./training";

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
