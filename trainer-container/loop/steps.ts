import type { BegunSum, Generation } from "../gang/gang";
import { allocateSum, releaseSum } from "../kernels/sum-memory";
import { applyStep, type StepOutcome } from "./apply";
import type { Training } from "./training";

export interface StepResult {
  readonly outcome: StepOutcome;
  /** OR over all ranks. */
  readonly signals: number;
}

/** The steps of a replica together with the other ranks. They hide where the training's state is stored. */
export interface Steps {
  /** Brings every rank of a new generation to the most advanced state. @throws GenerationLostError */
  begin(generation: Generation): Promise<void>;
  /** Computes this rank's leaves and takes one step. @throws GenerationLostError, TrainingHaltedError */
  take(generation: Generation, raised: number): Promise<StepResult>;
  /**
   * Runs at a step boundary, on all ranks. @throws GenerationLostError
   * @returns whether the leader has the whole state, so that a checkpoint can be taken
   */
  atBoundary(generation: Generation, epochEnd: boolean): Promise<boolean>;
  /** Called when the generation is closed. */
  end(): void;
}

/** Stands for the sum of a gang of one, which exchanges only signals. */
const nothing = new Float32Array(0);

/** Creates the steps of replicas: every rank holds the whole state and takes the whole step. */
export function replicatedSteps(training: Training): Steps {
  const { plan, replica, layout, leaves, writable } = training;
  const { wire } = leaves;
  let summed: Float32Array | undefined;
  /** The sum's elements, if they are not float32 on the wire. */
  let elements: Float32Array | undefined;
  return {
    async begin(generation) {
      summed = allocateSum(wire.words);
      if (wire.format !== "float32") elements = allocateSum(leaves.length);
      await writable?.();
      replica.finishedSteps = await generation.synchronize(replica.buffers, replica.finishedSteps);
    },
    async take(generation, raised) {
      if (replica.lossScale) leaves.scaleLoss(replica.lossScale.scale);
      const step = replica.finishedSteps;
      const { leaves: range, subtrees, worldSize } = generation;
      const pass =
        worldSize === 1 && replica.optimizer ? await leaves.beginStep(replica.optimizer, step, range) : undefined;
      if (pass !== undefined) {
        await writable?.();
        const signals = await generation.allReduce([nothing], nothing, raised, step);
        const outcome = applyStep(replica, pass, plan, layout);
        leaves.ahead(step + 1, range); // not before: the pass uses the memory of its batches
        return { outcome, signals };
      }
      let begun: BegunSum | undefined;
      // The only leaf, or the only sum, is the total.
      const target = (computed: readonly Float32Array[]) =>
        worldSize === 1 && computed.length === 1 ? computed[0]! : summed!;
      const beforeLast = (computed: readonly Float32Array[]) => {
        begun = generation.beginAllReduce?.(computed, target(computed), raised, step);
        return begun?.ready;
      };
      const local = await leaves.compute(step, range, { subtrees, lost: () => generation.lost, beforeLast });
      const sum = begun ? begun.finish() : generation.allReduce(local, target(local), raised, step, wire.add);
      leaves.ahead(step + 1, range);
      const signals = await sum;
      const total = target(local);
      if (wire.format !== "float32") wire.read(total, elements!);
      await writable?.();
      return { outcome: applyStep(replica, elements ?? total, plan, layout), signals };
    },
    atBoundary: async () => true,
    end() {
      if (elements) releaseSum(elements);
      if (summed) releaseSum(summed);
      summed = undefined;
      elements = undefined;
    },
  };
}
