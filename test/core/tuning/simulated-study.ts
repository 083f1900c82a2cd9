import { type PlannedStudy, plan } from "../../../core/tuning/planner";
import type { SchedulerTrial } from "../../../core/tuning/scheduler";
import type { Point } from "../../../core/tuning/space";

export interface SimulatedStudy {
  readonly definition: PlannedStudy["definition"];
  /** Returns the objective after an epoch; `undefined`: the trial fails in that epoch. */
  readonly curve: (params: Point, epoch: number, trial: number) => number | undefined;
  /** Returns which of the running trials ends its segment next. */
  readonly next: (running: readonly SchedulerTrial[]) => number;
}

export interface SimulatedResult {
  readonly trials: readonly SchedulerTrial[];
  readonly reason: string;
  /** Epochs trained, with resumed trials continued. */
  readonly epochs: number;
}

export function simulate({ definition, curve, next }: SimulatedStudy): SimulatedResult {
  let trials: SchedulerTrial[] = [];
  let epochs = 0;
  for (;;) {
    const decided = plan({ definition, warmStart: [], trials, hours: 0, dollars: 0 });
    trials = applied(trials, decided);
    const running = trials.filter(({ state }) => state === "running");
    if (running.length > definition.parallel) throw new Error(`${running.length} trials run`);
    if (decided.finished) return { trials, reason: decided.finished.reason, epochs };
    const trial = running[next(running) % running.length]!;
    const ended = trained(trial, definition.maxEpochs, curve);
    epochs += ended.reports.length - trial.reports.length;
    trials = trials.map((one) => (one === trial ? ended : one));
  }
}

function applied(trials: readonly SchedulerTrial[], { actions }: ReturnType<typeof plan>): SchedulerTrial[] {
  const changed = [...trials];
  const at = (number: number) => changed.findIndex((trial) => trial.number === number);
  for (const action of actions) {
    if (action.type === "create") {
      const { number, params, until, bracket } = action;
      if (number !== changed.length) throw new Error(`trial ${number} follows ${changed.length} trials`);
      const placed = bracket === undefined ? {} : { bracket };
      changed.push({ number, params, until, state: "running", reports: [], ...placed });
    } else {
      const known = changed[at(action.trial)];
      if (known === undefined || known.state === "running") throw new Error(`trial ${action.trial} is ${known?.state}`);
      const { type: _, trial: __, ...change } = action;
      changed[at(action.trial)] = {
        ...known,
        ...("until" in change ? { ...change, state: "running" } : { state: "stopped" }),
      };
    }
  }
  return changed;
}

function trained(trial: SchedulerTrial, maxEpochs: number, curve: SimulatedStudy["curve"]): SchedulerTrial {
  const reports = [...trial.reports];
  const from = Math.max(trial.from?.epoch ?? 0, reports.at(-1)?.epoch ?? 0);
  for (let epoch = from + 1; epoch <= trial.until; epoch++) {
    const value = curve(trial.params, epoch, trial.number);
    if (value === undefined) return { ...trial, state: "failed", reports };
    reports.push({ epoch, value });
  }
  if (trial.until < maxEpochs) return { ...trial, state: "paused", reports };
  return { ...trial, state: "completed", reports, values: [reports.at(-1)!.value] };
}
