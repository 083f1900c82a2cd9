/** When a checkpoint is due, and which ones stay. Pure decisions; the trainer carries them out. */
export interface CheckpointRule {
  readonly everySteps: number;
  readonly everySeconds: number;
}

export interface CheckpointMoment {
  readonly finishedSteps: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/**
 * Due at each multiple of `everySteps` (or at the first step after it that can take one), at an epoch's end, and when the last one
 * is `everySeconds` old. Never twice at a step.
 */
export function isCheckpointDue(
  rule: CheckpointRule,
  last: CheckpointMoment,
  now: CheckpointMoment,
  atEpochEnd: boolean,
): boolean {
  if (now.finishedSteps <= last.finishedSteps) return false;
  return (
    atEpochEnd ||
    Math.floor(now.finishedSteps / rule.everySteps) > Math.floor(last.finishedSteps / rule.everySteps) ||
    now.at - last.at >= rule.everySeconds * 1000
  );
}

export interface KeptCheckpoint {
  readonly finishedSteps: number;
  readonly validationLoss?: number;
}

/** The step of the lowest validation loss; the earliest of equals. */
export function bestCheckpoint(checkpoints: readonly KeptCheckpoint[]): number | undefined {
  let best: { readonly step: number; readonly loss: number } | undefined;
  for (const { finishedSteps, validationLoss } of [...checkpoints].sort((a, b) => a.finishedSteps - b.finishedSteps)) {
    if (validationLoss === undefined || !Number.isFinite(validationLoss)) continue;
    if (best === undefined || validationLoss < best.loss) best = { step: finishedSteps, loss: validationLoss };
  }
  return best?.step;
}

/** Steps whose manifests may go: all but the `keep` newest and the best. */
export function expiredCheckpoints(checkpoints: readonly KeptCheckpoint[], keep: number): readonly number[] {
  const best = bestCheckpoint(checkpoints);
  return checkpoints
    .map(({ finishedSteps }) => finishedSteps)
    .sort((a, b) => b - a)
    .slice(keep)
    .filter((step) => step !== best);
}
