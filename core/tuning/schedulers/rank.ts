import type { Objective } from "../history";
import type { SchedulerTrial } from "../scheduler";

/** Tells whether the trial has trained for a segment that ends at `epoch` or later, or cannot get there any more. */
export function isSettledAt(trial: SchedulerTrial, epoch: number): boolean {
  if (trial.state === "paused" || trial.state === "running") {
    return trial.until > epoch || (trial.state === "paused" && trial.until === epoch);
  }
  return true;
}

/**
 * Returns the objective at an epoch, so that less is better: the last report up to it, or the value of a trial that has
 * completed by then. With early stopping, that is the value of its best epoch. Infinity for NaN, for no report, and for a
 * trial that ended before the epoch without completing.
 */
export function lossAt(trial: SchedulerTrial, epoch: number, { direction }: Objective): number {
  const lost = trial.until <= epoch && (trial.state === "failed" || endedEarly(trial, epoch));
  if (lost) return Number.POSITIVE_INFINITY;
  let last: { readonly epoch: number; readonly value: number } | undefined;
  for (const report of trial.reports) {
    if (report.epoch <= epoch && (last === undefined || report.epoch >= last.epoch)) last = report;
  }
  const isComplete = trial.state === "completed" && last !== undefined && last === trial.reports.at(-1);
  const value = (isComplete ? trial.values?.[0] : undefined) ?? last?.value;
  if (value === undefined || !Number.isFinite(value)) return Number.POSITIVE_INFINITY;
  return direction === "minimize" ? value : -value;
}

function endedEarly({ state, reports }: SchedulerTrial, epoch: number): boolean {
  return state === "stopped" && !reports.some((report) => report.epoch >= epoch);
}

/** Orders trials by their loss at an epoch. Equal losses go to the smaller number. */
export function rankAt(
  trials: readonly SchedulerTrial[],
  epoch: number,
  objective: Objective,
): readonly { readonly trial: SchedulerTrial; readonly loss: number }[] {
  return trials
    .map((trial) => ({ trial, loss: lossAt(trial, epoch, objective) }))
    .sort((a, b) => (a.loss === b.loss ? a.trial.number - b.trial.number : a.loss < b.loss ? -1 : 1));
}

export function byNumber(a: SchedulerTrial, b: SchedulerTrial): number {
  return a.number - b.number;
}
