import { allocateSum, releaseSum } from "../collective/sum-memory";
import { simdGround } from "../kernels/updates";
import { createOptimizer } from "../optimizer/create-optimizer";
import type { Optimizer, OptimizerConfig, StepOptions } from "../optimizer/optimizer";
import { applyStatistics } from "../optimizer/statistics";
import { clip, lengthOf, type Span } from "../sharding/segments";

/** Parameters of the update of a segment from its gradient sum; the same on every rank. */
export interface Update extends StepOptions {
  readonly scale: number;
  /** 1 / Σ weight: the scale of running statistics, which are not clipped. */
  readonly mean: number;
}

export type Slots = Readonly<Record<string, Float32Array>>;

/** Slots copied at a time to compute new weights without changing the slots. */
const previewElements = 16 * 1024;

/** One segment on a rank: the optimizer's slots of its trainable parameters, and memory for its gradient sum. */
export class Shard {
  /** The segment's parameters with slots; the others are running statistics. */
  readonly slots: Span;
  /** Has the length of the reduce-scatter's result: on the last segment, the score's sums follow. */
  readonly gradient: Float32Array;
  private readonly optimizer: Optimizer;
  private scratch: Optimizer | undefined;

  constructor(
    private readonly config: OptimizerConfig,
    readonly parameters: Span,
    trainableCount: number,
    gradientElements: number,
  ) {
    this.slots = clip(parameters, trainableCount);
    this.optimizer = createOptimizer(config, lengthOf(this.slots), simdGround);
    this.gradient = allocateSum(gradientElements);
  }

  get state(): Slots {
    return this.optimizer.state;
  }

  /** Writes the segment's next weights to `next`, and changes nothing else: the slots stay those of the finished step. */
  preview(weights: Float32Array, next: Float32Array, update: Update): void {
    this.copyParameters(weights, next);
    this.scratch ??= createOptimizer(this.config, Math.min(previewElements, lengthOf(this.slots)), simdGround);
    for (let at = 0; at < lengthOf(this.slots); at += previewElements) {
      const end = Math.min(at + previewElements, lengthOf(this.slots));
      for (const [name, values] of Object.entries(this.state)) {
        this.scratch.state[name]!.set(values.subarray(at, end));
      }
      const target = next.subarray(this.slots.start + at, this.slots.start + end);
      this.scratch.step(target, this.gradient.subarray(at, end), update);
    }
    this.updateStatistics(next, update);
  }

  /** Updates the slots, and the weights in `next`. */
  advance(weights: Float32Array, next: Float32Array, update: Update): void {
    this.copyParameters(weights, next);
    this.advanceSlots(next, update);
    this.updateStatistics(next, update);
  }

  /** @param weights the finished step's; those of the segment are undefined afterwards */
  advanceSlots(weights: Float32Array, update: Update): void {
    this.optimizer.step(weights.subarray(this.slots.start, this.slots.end), this.gradient, update);
  }

  /** Returns the slots after `update`, on the heap. */
  advancedSlots(weights: Float32Array, update: Update): Slots {
    const optimizer = createOptimizer(this.config, lengthOf(this.slots));
    for (const [name, values] of Object.entries(this.state)) optimizer.state[name]!.set(values);
    optimizer.step(weights.slice(this.slots.start, this.slots.end), this.gradient, update);
    return optimizer.state;
  }

  /** Releases its memory. */
  release(): void {
    const scratch = Object.values(this.scratch?.state ?? {});
    for (const buffer of [this.gradient, ...Object.values(this.state), ...scratch]) releaseSum(buffer);
  }

  private copyParameters(from: Float32Array, to: Float32Array): void {
    const { start, end } = this.parameters;
    to.set(from.subarray(start, end), start);
  }

  private updateStatistics(weights: Float32Array, { mean }: Update): void {
    const { start, end } = this.parameters;
    applyStatistics(weights.subarray(start, end), this.gradient, lengthOf(this.slots), mean);
  }
}
