/** The schedule and the retention of checkpoints. Pure decisions, which the trainer carries out. */
export interface CheckpointRule {
  readonly everySteps: number;
  readonly stepsPerEpoch: number;
  /** A checkpoint is also taken when the last one is this old. */
  readonly everySeconds: number;
  readonly keep: number;
  /** See `TrainingTask.checkpoint`. Default 0. */
  readonly minSeconds?: number;
  /** The last step of this training, with `minSeconds`. Its checkpoint is never omitted. */
  readonly lastStep?: number;
  /** Whether the checkpoints at the ends of epochs are never omitted: early stopping reads the weights of the best one. */
  readonly everyEpoch?: boolean;
}

export interface KeptCheckpoint {
  readonly finishedSteps: number;
  readonly validationLoss?: number;
  /** With early stopping: whether it was taken at the end of the best epoch so far. */
  readonly endsBestEpoch?: boolean;
}

/** Whether the schedule has a checkpoint after a step: each multiple of `everySteps` and each epoch's end. */
export function isScheduled(
  { everySteps, stepsPerEpoch }: Pick<CheckpointRule, "everySteps" | "stepsPerEpoch">,
  finishedSteps: number,
): boolean {
  return finishedSteps > 0 && (finishedSteps % everySteps === 0 || finishedSteps % stepsPerEpoch === 0);
}

/** Returns the checkpoint of the best epoch with early stopping, else the earliest of the lowest validation loss. */
export function bestCheckpoint<T extends KeptCheckpoint>(checkpoints: readonly T[]): T | undefined {
  if (checkpoints.some(({ endsBestEpoch }) => endsBestEpoch !== undefined)) {
    const ofBest = checkpoints.filter(({ endsBestEpoch }) => endsBestEpoch === true);
    return ofBest.toSorted((a, b) => b.finishedSteps - a.finishedSteps)[0];
  }
  const lossOf = ({ validationLoss = Number.NaN }: T) => validationLoss;
  const [best] = checkpoints
    .filter((checkpoint) => Number.isFinite(lossOf(checkpoint)))
    .sort((a, b) => lossOf(a) - lossOf(b) || a.finishedSteps - b.finishedSteps);
  return best;
}

/**
 * Returns the steps to delete: all but the newest `keep` of the schedule, the best, and the newest of all, which may be
 * outside the schedule (by time, at an interruption). A step may be listed twice.
 */
export function expiredCheckpoints(checkpoints: readonly KeptCheckpoint[], rule: CheckpointRule): readonly number[] {
  const steps = [...new Set(checkpoints.map(({ finishedSteps }) => finishedSteps))].sort((a, b) => b - a);
  const kept = new Set([
    ...steps.filter((step) => isScheduled(rule, step)).slice(0, rule.keep),
    ...steps.slice(0, 1),
    bestCheckpoint(checkpoints)?.finishedSteps,
  ]);
  return steps.filter((step) => !kept.has(step));
}
