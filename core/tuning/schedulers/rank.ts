import type { Objective, ObservedTrial } from "../history";
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

/** Returns the epochs R / η^k, rounded, from the smallest that is at least `minEpochs` up to R. */
export function rungsOf(minEpochs: number, maxEpochs: number, factor: number): readonly number[] {
  const rungs: number[] = [];
  for (let divisor = 1; maxEpochs / divisor >= minEpochs; divisor *= factor) {
    rungs.unshift(Math.round(maxEpochs / divisor));
  }
  return rungs;
}

/** Tells whether a sampler can learn from a trial. */
export const hasResult = ({ reports, state }: SchedulerTrial): boolean => reports.length > 0 || state === "failed";

/** A model of the objective needs about this many trials. */
const minTrials = 12;

/**
 * Returns a history whose values can be compared: those after the highest rung that enough of the visible trials have
 * reached (BOHB; Falkner et al., 2018). A visible trial that has not reached it has its last value and is worse than all
 * that have, except those that stopped early by themselves: samplers order trials by (`reached`, value). All visible
 * trials have their values at the rungs as `curve`. The others show the settings alone, as if they had just begun.
 *
 * @param rungs epochs, ascending
 */
export function comparable(
  trials: readonly SchedulerTrial[],
  rungs: readonly number[],
  isVisible: (trial: SchedulerTrial) => boolean,
): readonly ObservedTrial[] {
  const visible = trials.filter(isVisible);
  const lastEpoch = ({ reports }: ObservedTrial) => reports.at(-1)?.epoch ?? 0;
  const isEnough = (rung: number) => visible.filter((trial) => lastEpoch(trial) >= rung).length >= minTrials;
  const epoch = rungs.findLast(isEnough) ?? rungs[0] ?? 0;
  return trials.map((trial): ObservedTrial => {
    if (!isVisible(trial)) return { number: trial.number, params: trial.params, state: "running", reports: [] };
    const isComplete = trial.state === "completed" && lastEpoch(trial) <= epoch;
    const curve = curveOf(trial, rungs);
    const { values, ...rest } = trial;
    if (lastEpoch(trial) < epoch && !isComplete) {
      const state = trial.state === "failed" ? "failed" : "stopped";
      return { ...rest, curve, state, reached: lastEpoch(trial) / epoch };
    }
    const reports = trial.reports.filter((report) => report.epoch <= epoch);
    // With several objectives, trials that have reached the end alone have all values. With early stopping, the value is
    // that of the best epoch, not of the last one.
    const counted = values && (values.length > 1 || isComplete) ? { values } : {};
    return { ...rest, curve, state: "completed", reports, ...counted };
  });
}

/** Returns a trial's values at the rungs that it has reached. */
function curveOf({ reports, state }: SchedulerTrial, rungs: readonly number[]): NonNullable<ObservedTrial["curve"]> {
  if (state === "failed") return [];
  const last = Math.max(1, rungs.length - 1);
  return rungs.flatMap((rung, index) => {
    const value = reports.find(({ epoch }) => epoch === rung)?.value;
    return value === undefined || !Number.isFinite(value) ? [] : [{ at: index / last, value }];
  });
}
