import { allocateSum, releaseSum } from "../collective/sum-memory";
import { simdGround } from "../kernels/updates";
import { createOptimizer } from "../optimizer/create-optimizer";
import type { Optimizer, OptimizerConfig, StepOptions } from "../optimizer/optimizer";
import { applyStatistics } from "../optimizer/statistics";
import { clip, lengthOf, type Span } from "../sharding/segments";

/** What turns a segment's gradient sum into the segment's next state; the same on every rank. */
export interface Update extends StepOptions {
  readonly scale: number;
  /** 1 / Σ weight: the scale of running statistics, which are not clipped. */
  readonly mean: number;
}

export type Slots = Readonly<Record<string, Float32Array>>;

/** Elements whose slots are copied at a time where new weights are computed without touching the slots. */
const previewElements = 16 * 1024;

/** One segment as a rank holds it: the optimizer's slots of its trainable parameters, and room for its gradient sum. */
export class Shard {
  /** Those of the segment's parameters that have slots; the others are running statistics. */
  readonly slots: Span;
  /** As long as what the reduce-scatter gives: on the last segment, the score's sums follow. */
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

  /** The segment's next weights into `next`, and nothing else: until all ranks are as far, the slots stay those of the finished step. */
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

  /** Slots and, in `next`, weights. */
  advance(weights: Float32Array, next: Float32Array, update: Update): void {
    this.copyParameters(weights, next);
    this.advanceSlots(next, update);
    this.updateStatistics(next, update);
  }

  /** @param weights those of the finished step; those of the segment are of no use afterwards. */
  advanceSlots(weights: Float32Array, update: Update): void {
    this.optimizer.step(weights.subarray(this.slots.start, this.slots.end), this.gradient, update);
  }

  /** What the slots would be after `update`, on the heap. */
  advancedSlots(weights: Float32Array, update: Update): Slots {
    const optimizer = createOptimizer(this.config, lengthOf(this.slots));
    for (const [name, values] of Object.entries(this.state)) optimizer.state[name]!.set(values);
    optimizer.step(weights.slice(this.slots.start, this.slots.end), this.gradient, update);
    return optimizer.state;
  }

  /** Gives its memory back. */
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
