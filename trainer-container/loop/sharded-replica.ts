import type { TrainableModel } from "../engine/engine";
import { allocateSum, releaseSum } from "../kernels/sum-memory";
import { simdGround } from "../kernels/updates";
import { createOptimizer } from "../optimizer/create-optimizer";
import type { Optimizer, OptimizerConfig, StepOptions } from "../optimizer/optimizer";
import { applyStatistics } from "../optimizer/updates";
import { clip, type Holding, lengthOf, type RankState, type Span } from "../sharding/sharding";
import { type BestEpoch, createBestEpoch } from "./best-epoch";
import { TrainingHaltedError } from "./errors";
import type { TrainingPlan } from "./plan";
import type { Replica } from "./replica";
import type { ScoreLayout } from "./score";

/** Parameters of the update of a segment from its gradient sum; the same on every rank. */
interface Update extends StepOptions {
  readonly scale: number;
  /** 1 / Σ weight: the scale of running statistics, which are not clipped. */
  readonly mean: number;
}

type Slots = Readonly<Record<string, Float32Array>>;

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

/** Slots of [start, end) after `step` finished steps. */
export interface HeldSlots extends Holding {
  readonly state: Slots;
}

/**
 * This worker's weights and the slots of two segments (docs/algorithms.md). Its state as a `Replica` is readable only
 * while it is whole: before the first generation, alone, or where the others' slots were gathered.
 */
export class ShardedReplica implements Replica {
  finishedSteps = 0;
  readonly epochScore: Float64Array;
  readonly best: BestEpoch | undefined;
  /** Empty: `synchronizeShards` replaces `Generation.synchronize`. */
  readonly buffers: readonly Float32Array[] = [];
  /** Names of the optimizer's slots, in the order of sending. */
  readonly slotNames: readonly string[];
  readonly parameterCount: number;
  readonly trainableCount: number;
  /** Number of elements with slots: 0 if the optimizer keeps none. */
  readonly slotElements: number;
  /** The own segment, then the copy; empty before the first generation. */
  shards: readonly Shard[] = [];
  /** The current step, once its sums, norm and score are known: enough to advance the shards. */
  pending: Update | undefined;
  /** Number of generations that were abandoned because slots were missing that a late member may hold. */
  waited = 0;
  /** Complete weights of another step, while they are being collected. */
  next: Float32Array;
  private present: Float32Array;
  /** All slots of the current step, on the heap: before the first generation, after a restore, and for a checkpoint. */
  private all: Slots | undefined;
  /** Slots that a new layout has replaced, kept until all ranks have that layout. */
  private aside: readonly HeldSlots[] = [];
  private retired: Shard[] = [];
  private readonly initial: Float32Array;

  /** @throws TrainingHaltedError `BAD_TASK` if gradients are narrow: their sums consist of whole packed vectors */
  constructor(
    model: TrainableModel,
    readonly plan: TrainingPlan,
    layout: ScoreLayout,
  ) {
    if (plan.gradientFormat !== "float32") {
      const rule = "a sharded optimizer needs float32 gradients";
      throw new TrainingHaltedError(
        "BAD_TASK",
        `gradientFormat is ${plan.gradientFormat}, but ${rule}; turn one of the two off`,
      );
    }
    this.parameterCount = model.parameterCount;
    this.trainableCount = model.trainableCount;
    this.initial = new Float32Array(model.parameterCount);
    model.readWeights(this.initial);
    this.present = allocateSum(model.parameterCount);
    this.present.set(this.initial);
    this.next = allocateSum(model.parameterCount);
    this.epochScore = new Float64Array(layout.length);
    this.best = plan.earlyStopping && createBestEpoch(model, layout);
    this.slotNames = Object.keys(createOptimizer(plan.optimizer, 0).state).sort();
    this.slotElements = this.slotNames.length === 0 ? 0 : model.trainableCount;
    this.makeWhole();
  }

  get weights(): Float32Array {
    return this.present;
  }

  /** @throws if this rank holds only its shards */
  get slots(): Slots {
    const state = this.wholeSlots();
    if (state === undefined) throw new Error("this rank holds only its shards of the optimizer's state");
    return state;
  }

  get whole(): boolean {
    return this.wholeSlots() !== undefined;
  }

  reset(): void {
    this.finishedSteps = 0;
    this.present.set(this.initial);
    this.epochScore.fill(0);
    this.best?.numbers.fill(0);
    this.makeWhole();
  }

  /** Allocates a whole state in place of the held one: zeros, which take no memory before they are written. */
  makeWhole(): void {
    this.forget();
    for (const shard of this.shards) shard.release();
    this.shards = [];
    this.pending = undefined;
    this.waited = 0;
    this.all = Object.fromEntries(this.slotNames.map((name) => [name, new Float32Array(this.slotElements)]));
  }

  rankState(): RankState {
    const { finishedSteps, waited } = this;
    const steps = this.pending === undefined ? [finishedSteps] : [finishedSteps, this.pending.step];
    const holdings = [
      ...steps.flatMap((step) => this.shards.map(({ slots }) => ({ ...slots, step }))),
      ...this.others().map(({ start, end, step }) => ({ start, end, step })),
    ];
    return { finishedSteps, holdings: holdings.filter((holding) => lengthOf(holding) > 0), waited };
  }

  /** Returns all slots of a step on this rank. Those of the pending step are computed. */
  slotsAt(step: number): readonly HeldSlots[] {
    const { pending } = this;
    const stateOf = (shard: Shard): Slots | undefined => {
      if (step === this.finishedSteps) return shard.state;
      return pending?.step === step ? shard.advancedSlots(this.present, pending) : undefined;
    };
    const held = this.shards.flatMap((shard) => {
      const state = stateOf(shard);
      return state === undefined ? [] : [{ ...shard.slots, step, state }];
    });
    return [...held, ...this.others().filter((other) => other.step === step)];
  }

  /** Takes over a layout and the weights in `next`. Old slots stay until `forget`: other ranks may need them. */
  adopt(step: number, shards: readonly Shard[], held: readonly HeldSlots[], weightsAreNext: boolean): void {
    if (weightsAreNext) this.swap();
    this.retired.push(...this.shards);
    this.shards = shards;
    this.aside = held;
    this.all = undefined;
    this.pending = undefined;
    this.waited = 0;
    this.finishedSteps = step;
  }

  /** All ranks hold their shards of the current layout: old slots are dropped. */
  forget(): void {
    this.aside = [];
    for (const shard of this.retired) shard.release();
    this.retired = [];
  }

  finish(step: number): void {
    this.swap();
    this.pending = undefined;
    this.all = undefined;
    this.finishedSteps = step;
  }

  /** Sets all ranks' slots of the current step, for a checkpoint or because ranks leave. */
  setGathered(state: Slots): void {
    this.all = state;
  }

  private swap(): void {
    [this.present, this.next] = [this.next, this.present];
  }

  private others(): readonly HeldSlots[] {
    if (this.all === undefined) return this.aside;
    return [...this.aside, { start: 0, end: this.slotElements, step: this.finishedSteps, state: this.all }];
  }

  private wholeSlots(): Slots | undefined {
    const alone = this.shards.find(({ slots }) => lengthOf(slots) === this.slotElements);
    return this.all ?? alone?.state;
  }
}

export function isWhole(replica: Replica): boolean {
  return !(replica instanceof ShardedReplica) || replica.whole;
}
