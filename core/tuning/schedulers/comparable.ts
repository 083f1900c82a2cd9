import type { ObservedTrial } from "../history";
import type { SchedulerTrial } from "../scheduler";

/** A model of the objective needs about this many trials. */
const minTrials = 12;

/**
 * Returns a history whose values can be compared: those after the highest rung that enough of the visible trials have
 * reached (BOHB; Falkner et al., 2018). Visible trials that have not reached it have no value, except those that stopped
 * early by themselves. All visible trials have their values at the rungs as `curve`. The others show the settings alone,
 * as if they had just begun.
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
  return trials.flatMap((trial): readonly ObservedTrial[] => {
    if (!isVisible(trial)) return [{ number: trial.number, params: trial.params, state: "running", reports: [] }];
    const isComplete = trial.state === "completed" && lastEpoch(trial) <= epoch;
    const curve = curveOf(trial, rungs);
    if (lastEpoch(trial) < epoch && !isComplete) {
      return [{ number: trial.number, params: trial.params, state: "stopped", reports: [], curve }];
    }
    const { values, ...rest } = trial;
    const reports = trial.reports.filter((report) => report.epoch <= epoch);
    // With several objectives, trials that have reached the end alone have all values. With early stopping, the value is
    // that of the best epoch, not of the last one.
    return [
      {
        ...rest,
        curve,
        state: "completed",
        reports,
        ...(values && (values.length > 1 || isComplete) ? { values } : {}),
      },
    ];
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
