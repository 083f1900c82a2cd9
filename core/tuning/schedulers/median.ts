import type { Objective } from "../history";
import type { Action, Scheduler, SchedulerTrial } from "../scheduler";
import type { SchedulerSettings } from "../settings";
import { byNumber, comparable, hasResult, isSettledAt, lossAt, rungsOf } from "./rank";

/** Trains each trial to the maximum, in order of numbers. */
export function runAll(maxEpochs: number): Scheduler {
  return {
    next: (_, { free, mayCreate }) => creations(Math.min(free, mayCreate), maxEpochs),
    visibleHistory: (trials) => trials,
  };
}

/**
 * The median rule (Golovin et al., 2017): a trial stops where its best value so far is worse than the median of what the
 * other trials had reached on average up to the same epoch. Depends on which trials have got there first.
 */
export function medianStop(
  { interval, warmUpEpochs, minTrials }: Extract<SchedulerSettings, { type: "median" }>,
  maxEpochs: number,
  objective: Objective,
): Scheduler {
  const firstUntil = Math.min(maxEpochs, Math.max(warmUpEpochs, interval));
  const rungs = rungsOf(firstUntil, maxEpochs, 3);
  return {
    next(trials, { free, mayCreate }) {
      const all = [...trials].sort(byNumber);
      const stopped: Action[] = [];
      const starts: Action[] = [];
      for (const trial of all) {
        if (trial.state !== "paused") continue;
        const reason = reasonToStop(trial, all);
        if (reason !== undefined) stopped.push({ type: "stop", trial: trial.number, reason });
        else starts.push({ type: "resume", trial: trial.number, until: Math.min(maxEpochs, trial.until + interval) });
      }
      starts.push(...creations(Math.min(Math.max(0, free - starts.length), mayCreate), firstUntil));
      return [...stopped, ...starts.slice(0, free)];
    },
    visibleHistory: (trials) => comparable(trials, rungs, hasResult),
  };

  function reasonToStop(trial: SchedulerTrial, all: readonly SchedulerTrial[]): string | undefined {
    const epoch = trial.until;
    if (lossAt(trial, epoch, objective) === Infinity) return `no finite ${objective.metric} at epoch ${epoch}`;
    const others = all.filter((other) => other !== trial && other.until >= epoch && isSettledAt(other, epoch));
    const averages = others.map((other) => average(losses(other, epoch))).filter(Number.isFinite);
    if (averages.length < minTrials) return undefined;
    const middle = medianOf(averages);
    const best = Math.min(...losses(trial, epoch));
    if (best <= middle) return undefined;
    const signed = (loss: number) => (objective.direction === "minimize" ? loss : -loss);
    const own = `its best ${objective.metric} is ${signed(best)} at epoch ${epoch}`;
    return `${own}; the median of ${averages.length} others is ${signed(middle)}`;
  }

  function losses({ reports }: SchedulerTrial, epoch: number): readonly number[] {
    return reports
      .filter((report) => report.epoch <= epoch && Number.isFinite(report.value))
      .map(({ value }) => (objective.direction === "minimize" ? value : -value));
  }
}

function creations(count: number, until: number): Action[] {
  return Array.from({ length: count }, () => ({ type: "create", until }));
}

function average(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
