import type { GenerationLostError } from "../collective/errors";
import type { ValidationBlocks } from "../data/feed";
import type { TrainableModel } from "../engine/engine";
import type { Generation } from "../gang/gang";
import type { StepOutcome } from "./apply";
import type { LeafComputer } from "./gradients";
import type { TrainingPlan } from "./plan";
import type { Replica } from "./replica";
import type { Score, ScoreLayout } from "./score";
import type { ShardedReplica } from "./sharded-replica";
import type { Recovery } from "./sharded-synchronize";

/** What the loop tells the world. None of these may wait or throw. */
export interface TrainingEvents {
  generationStarted(generation: Generation, finishedSteps: number): void;
  generationLost(error: GenerationLostError, finishedSteps: number): void;
  stepFinished(outcome: StepOutcome, generation: Generation): void;
  /** Validation is undefined where that split is empty. */
  epochFinished(epoch: number, step: number, train: Score, validation: Score | undefined): void;
  /** A step boundary, every rank's replica at the same step: the moment to copy the state for a checkpoint. */
  boundary(replica: Replica, generation: Generation, validation: Score | undefined): void;
}

export interface Training {
  readonly plan: TrainingPlan;
  readonly model: TrainableModel;
  readonly replica: Replica;
  readonly layout: ScoreLayout;
  readonly leaves: LeafComputer;
  readonly validation: ValidationBlocks;
  readonly events: TrainingEvents;
  /** Enters the next generation; undefined where the training has ended without this worker. */
  readonly enter: (finishedSteps: number) => Promise<Generation | undefined>;
  /** Whether this worker's host is going away. */
  readonly leaving: () => boolean;
  /** Awaited before anything writes to the replica's buffers: a checkpoint may still need them as they are. */
  readonly writable?: () => Promise<void> | undefined;
  /** Where the optimizer's state is split between the ranks; its replica is then `replica`. */
  readonly sharding?: Sharding;
}

/** The part of a training whose optimizer state is split between the ranks. */
export interface Sharding extends Recovery {
  readonly replica: ShardedReplica;
  /** Returns whether a checkpoint is due after that step. Only the leader calls it, before the step. */
  readonly checkpointDue: (finishedSteps: number) => boolean;
}
