import type { Action, Scheduler, SchedulerTrial } from "../scheduler";
import { comparable } from "./comparable";
import { byNumber, isSettledAt, rankAt } from "./rank";
import type { HalvingContext } from "./rungs";

/**
 * Asynchronous successive halving (Li et al., 2020): a trial is resumed as soon as it is among the best 1 / η of those
 * that have reached its rung. No slot waits, and which trials are resumed depends on the order in which they finish. At
 * the end of the study the best trial of the highest rung continues where no trial has reached the maximum.
 */
export function asha({ rungs, factor, objective }: HalvingContext): Scheduler {
  function promotable(all: readonly SchedulerTrial[], rung: number, atEnd: boolean): readonly SchedulerTrial[] {
    const epoch = rungs[rung]!;
    const settled = all.filter((trial) => trial.until >= epoch && isSettledAt(trial, epoch));
    const keep = Math.max(atEnd && settled.length > 0 ? 1 : 0, Math.floor(settled.length / factor));
    return rankAt(settled, epoch, objective)
      .slice(0, keep)
      .filter(({ trial, loss }) => trial.state === "paused" && trial.until === epoch && loss < Infinity)
      .map(({ trial }) => trial);
  }

  return {
    next(trials, { free, mayCreate }) {
      const all = [...trials].sort(byNumber);
      const starts: Action[] = [];
      const promote = (atEnd: boolean) => {
        for (let rung = rungs.length - 2; rung >= 0; rung--) {
          for (const { number } of promotable(all, rung, atEnd)) {
            starts.push({ type: "resume", trial: number, until: rungs[rung + 1]! });
          }
          if (atEnd && starts.length > 0) break;
        }
      };
      promote(false);
      for (let created = 0; starts.length < free && created < mayCreate; created++) {
        starts.push({ type: "create", until: rungs[0]! });
      }
      const isIdle = all.every(({ state }) => state !== "running");
      if (starts.length === 0 && isIdle && all.every(({ until }) => until < rungs.at(-1)!)) promote(true);
      return starts.slice(0, free);
    },
    visibleHistory: (trials) => comparable(trials, rungs, ({ reports }) => reports.length > 0),
  };
}
