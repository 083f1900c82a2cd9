import type { GenerationLostError } from "../collective/errors";
import type { SplitBlocks } from "../data/feed";
import type { TrainableModel } from "../engine/engine";
import type { Generation } from "../gang/gang";
import type { StepOutcome } from "./apply";
import type { LeafComputer } from "./gradients";
import type { TrainingPlan } from "./plan";
import type { Replica } from "./replica";
import type { Score, ScoreLayout } from "./score";
import type { ShardedReplica } from "./sharded-replica";
import type { Recovery } from "./sharded-synchronize";

export interface TrainingEvents {
  generationStarted(generation: Generation, finishedSteps: number): void;
  generationLost(error: GenerationLostError, finishedSteps: number): void;
  stepFinished(outcome: StepOutcome, generation: Generation): void;
  /** Validation is undefined if that split is empty. */
  epochFinished(epoch: number, step: number, train: Score, validation: Score | undefined): void;
  /** A step boundary: every rank's replica is at the same step, so the state can be copied for a checkpoint. */
  boundary(replica: Replica, generation: Generation, validation: Score | undefined): void;
}

export interface Training {
  readonly plan: TrainingPlan;
  readonly model: TrainableModel;
  readonly replica: Replica;
  readonly layout: ScoreLayout;
  readonly leaves: LeafComputer;
  readonly validation: SplitBlocks;
  /** Opens the test split, which the result's weights are scored on; absent: they are not. */
  readonly test?: (() => Promise<SplitBlocks>) | undefined;
  readonly events: TrainingEvents;
  /** Enters the next generation; undefined if the training has ended without this worker. */
  readonly enter: (finishedSteps: number) => Promise<Generation | undefined>;
  /** Whether this worker's host is about to go away. */
  readonly leaving: () => boolean;
  /** Awaited before any write to the replica's buffers: a checkpoint may still need them unchanged. */
  readonly writable?: () => Promise<void> | undefined;
  /** Present if the optimizer's state is split between the ranks; its replica is then `replica`. */
  readonly sharding?: Sharding;
}

/** The part of a training whose optimizer state is split between the ranks. */
export interface Sharding extends Recovery {
  readonly replica: ShardedReplica;
  /** Returns whether a checkpoint is due after that step. Only the leader calls it, before the step. */
  readonly checkpointDue: (finishedSteps: number) => boolean;
}
