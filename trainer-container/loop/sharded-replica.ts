import { allocateSum } from "../collective/sum-memory";
import type { TrainableModel } from "../engine/engine";
import { createOptimizer } from "../optimizer/create-optimizer";
import type { Optimizer } from "../optimizer/optimizer";
import type { Holding, Standing } from "../sharding/rank-state";
import { lengthOf } from "../sharding/segments";
import { TrainingHaltedError } from "./errors";
import type { TrainingPlan } from "./plan";
import type { Replica } from "./replica";
import type { ScoreLayout } from "./score";
import type { Shard, Slots, Update } from "./shard";

/** Slots of [start, end) as they are after `step` finished steps. */
export interface HeldSlots extends Holding {
  readonly state: Slots;
}

/**
 * This worker's part of a training whose optimizer is sharded: all weights, and the slots of two segments. docs/algorithms.md
 * shows why one lost rank never takes the only copy of something.
 *
 * As a `Replica` its optimizer state is there to be read only while it is whole: before the first generation, alone in one, and at a
 * boundary where the others' slots were gathered.
 */
export class ShardedReplica implements Replica {
  finishedSteps = 0;
  readonly epochScore: Float64Array;
  /** Nothing that `Generation.synchronize` could send: see `synchronizeShards`. */
  readonly buffers: readonly Float32Array[] = [];
  readonly optimizer: Optimizer;
  /** Names of the optimizer's slots, in the order in which they are sent. */
  readonly slotNames: readonly string[];
  readonly parameterCount: number;
  readonly trainableCount: number;
  /** Elements that have slots: none where the optimizer keeps none. */
  readonly slotElements: number;
  /** The own segment, then the copy; empty before the first generation. */
  shards: readonly Shard[] = [];
  /**
   * The step under way, once its gradient sums, its norm and its score are here: with it the shards can be brought to the next step,
   * whether or not this rank came to finish it.
   */
  pending: Update | undefined;
  /** How often a generation was given up because slots were missing that a late member may hold. */
  waited = 0;
  /** All of the weights of another step, while they are being put together. */
  next: Float32Array;
  private present: Float32Array;
  /** All slots of the present step, on the heap: before the first generation, after a restore, and gathered for a checkpoint. */
  private all: Slots | undefined;
  /** What a layout that is not everyone's yet has replaced. */
  private aside: readonly HeldSlots[] = [];
  private retired: Shard[] = [];
  private readonly initial: Float32Array;

  /** @throws TrainingHaltedError `BAD_TASK` where gradients are narrow: their sums are made of whole packed vectors. */
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
    this.slotNames = Object.keys(createOptimizer(plan.optimizer, 0).state).sort();
    this.slotElements = this.slotNames.length === 0 ? 0 : model.trainableCount;
    this.optimizer = this.wholeOptimizer();
    this.makeWhole();
  }

  get weights(): Float32Array {
    return this.present;
  }

  /** Whether `optimizer.state` is there. */
  get whole(): boolean {
    return this.wholeSlots() !== undefined;
  }

  /** Back to step 0. */
  reset(): void {
    this.finishedSteps = 0;
    this.present.set(this.initial);
    this.epochScore.fill(0);
    this.makeWhole();
  }

  /** Room for a whole state, in place of what is held: zeros, which take no memory before they are written. */
  makeWhole(): void {
    this.forget();
    for (const shard of this.shards) shard.release();
    this.shards = [];
    this.pending = undefined;
    this.waited = 0;
    this.all = Object.fromEntries(this.slotNames.map((name) => [name, new Float32Array(this.slotElements)]));
  }

  standing(): Standing {
    const { finishedSteps, waited } = this;
    const steps = this.pending === undefined ? [finishedSteps] : [finishedSteps, this.pending.step];
    const holdings = [
      ...steps.flatMap((step) => this.shards.map(({ slots }) => ({ ...slots, step }))),
      ...this.others().map(({ start, end, step }) => ({ start, end, step })),
    ];
    return { finishedSteps, holdings: holdings.filter((holding) => lengthOf(holding) > 0), waited };
  }

  /** All slots that this rank has of that step; those of the pending one are computed. */
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

  /**
   * Takes over a layout and, where `next` was filled, its weights. What was held of this step stays until `forget`: others may still
   * need it for theirs.
   */
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

  /** All ranks hold their shards of the present layout. */
  forget(): void {
    this.aside = [];
    for (const shard of this.retired) shard.release();
    this.retired = [];
  }

  /** The step under way is finished: `next` holds its weights. */
  finish(step: number): void {
    this.swap();
    this.pending = undefined;
    this.all = undefined;
    this.finishedSteps = step;
  }

  /** Everyone's slots of the present step, for a checkpoint or because ranks are going. */
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

  private wholeOptimizer(): Optimizer {
    const stateOf = (): Slots => {
      const state = this.wholeSlots();
      if (state === undefined) throw new Error("this rank holds only its shards of the optimizer's state");
      return state;
    };
    return {
      type: this.plan.optimizer.type,
      get state() {
        return stateOf();
      },
      step() {
        throw new Error("a sharded optimizer steps shard by shard");
      },
    };
  }
}

/** Whether all of the replica's state is there to be stored. */
export function isWhole(replica: Replica): boolean {
  return !(replica instanceof ShardedReplica) || replica.whole;
}
