import { createHash } from "node:crypto";
import { GenerationLostError } from "../../../trainer-container/collective/errors";
import { type Gang, GangCompletedError, type Generation, gangSignals } from "../../../trainer-container/gang/gang";

export interface ToyTask {
  /** At most; a worker that raises `gangSignals.stop` ends all at the same step before. */
  readonly steps: number;
  readonly elements: number;
  readonly microBatches: number;
  /** Time that a step's computation takes. */
  readonly stepMs: number;
}

export interface ToyOutcome {
  readonly finishedSteps: number;
  readonly sha256: string;
  readonly generations: number;
  /** Another member had completed the run before this one came back. */
  readonly late: boolean;
}

export interface ToyHooks {
  /** Before step `finishedSteps + 1`; answers with signals to raise. */
  beforeStep?(finishedSteps: number, generation: Generation): number | Promise<number>;
}

/** The training loop in small: a gradient that depends on the weights, so that any slip in any step shows in the end. */
export async function trainToy(gang: Gang, task: ToyTask, hooks: ToyHooks = {}): Promise<ToyOutcome> {
  const weights = new Float32Array(task.elements).fill(0.25);
  const out = new Float32Array(task.elements);
  let finishedSteps = 0;
  let generations = 0;
  const outcome = (late: boolean): ToyOutcome => ({ finishedSteps, sha256: digest(weights), generations, late });
  for (;;) {
    try {
      const generation = await gang.enter(finishedSteps);
      generations++;
      finishedSteps = await generation.synchronize([weights], finishedSteps);
      let reform = false;
      let stop = false;
      while (finishedSteps < task.steps && !reform && !stop) {
        const raised = (await hooks.beforeStep?.(finishedSteps, generation)) ?? 0;
        await new Promise((resolve) => setTimeout(resolve, task.stepMs));
        const { first, end } = generation.leaves;
        const local = Array.from({ length: end - first }, (_, i) => gradient(weights, finishedSteps, first + i));
        const signals = await generation.allReduce(local, out, raised, finishedSteps);
        for (let i = 0; i < weights.length; i++) weights[i]! -= 0.01 * out[i]!;
        finishedSteps++;
        if (raised & gangSignals.leaving) {
          await gang.leave("interrupted");
          return outcome(false);
        }
        stop = (signals & gangSignals.stop) !== 0;
        reform = (signals & (gangSignals.joinerWaiting | gangSignals.leaving)) !== 0;
      }
      if (finishedSteps === task.steps || stop) {
        await gang.leave("completed");
        return outcome(false);
      }
    } catch (error) {
      if (error instanceof GenerationLostError) continue;
      if (error instanceof GangCompletedError) {
        await gang.leave("interrupted");
        return outcome(true);
      }
      throw error;
    }
  }
}

function gradient(weights: Float32Array, step: number, leaf: number): Float32Array {
  const result = new Float32Array(weights.length);
  let noise = (step * 7_919 + leaf * 104_729 + 1) >>> 0;
  for (let i = 0; i < result.length; i++) {
    noise = (noise * 69_069 + 12_345) % 4_294_967_296;
    result[i] = weights[i]! * (1 + leaf) + noise / 4_294_967_296 - 0.5;
  }
  return result;
}

function digest(weights: Float32Array): string {
  return createHash("sha256").update(Buffer.from(weights.buffer)).digest("hex");
}

/** The outcome by definition: one worker, no sockets. */
export function undisturbed(task: ToyTask): string {
  const weights = new Float32Array(task.elements).fill(0.25);
  for (let step = 0; step < task.steps; step++) {
    const sum = tree(Array.from({ length: task.microBatches }, (_, leaf) => gradient(weights, step, leaf)));
    for (let i = 0; i < weights.length; i++) weights[i]! -= 0.01 * sum[i]!;
  }
  return digest(weights);
}

function tree(leaves: readonly Float32Array[]): Float32Array {
  if (leaves.length === 1) return leaves[0]!;
  let split = 1;
  while (split * 2 < leaves.length) split *= 2;
  const left = tree(leaves.slice(0, split));
  const right = tree(leaves.slice(split));
  for (let i = 0; i < left.length; i++) left[i]! += right[i]!;
  return left;
}
