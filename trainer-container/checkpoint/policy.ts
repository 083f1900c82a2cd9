/** When a checkpoint is due, and which ones stay. Pure decisions; the trainer carries them out. */
export interface CheckpointRule {
  readonly everySteps: number;
  readonly stepsPerEpoch: number;
  /** A checkpoint is also taken when the last one is this old. */
  readonly everySeconds: number;
  readonly keep: number;
}

export interface KeptCheckpoint {
  readonly finishedSteps: number;
  readonly validationLoss?: number;
}

/**
 * Whether the schedule has a checkpoint after that step: at each multiple of `everySteps` and at each epoch's end, so at the last step too. A function of the
 * step alone: a run and its reproduction have the same ones.
 */
export function isScheduled(
  { everySteps, stepsPerEpoch }: Pick<CheckpointRule, "everySteps" | "stepsPerEpoch">,
  finishedSteps: number,
): boolean {
  return finishedSteps > 0 && (finishedSteps % everySteps === 0 || finishedSteps % stepsPerEpoch === 0);
}

/** The one with the lowest validation loss; the earliest of equals. */
export function bestCheckpoint<T extends KeptCheckpoint>(checkpoints: readonly T[]): T | undefined {
  const lossOf = ({ validationLoss = Number.NaN }: T) => validationLoss;
  const [best] = checkpoints
    .filter((checkpoint) => Number.isFinite(lossOf(checkpoint)))
    .sort((a, b) => lossOf(a) - lossOf(b) || a.finishedSteps - b.finishedSteps);
  return best;
}

/**
 * Steps of the checkpoints that may go: all but the newest `keep` of the schedule, the best, and the newest of all. The last one is there for checkpoints outside
 * of the schedule (by time, at an interruption); each stays until a newer one is there. A step may be listed twice.
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
