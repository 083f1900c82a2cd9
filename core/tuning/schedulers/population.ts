import type { Objective } from "../history";
import { drawsFor } from "../samplers/sampler";
import type { Action, Scheduler, SchedulerTrial } from "../scheduler";
import type { SchedulerSettings } from "../settings";
import {
  fromUnit,
  indexOfChoice,
  isActive,
  type Json,
  type Parameter,
  type Point,
  parameterOrder,
  type Space,
  snap,
} from "../space";
import { byNumber, isSettledAt, rankAt } from "./rank";

type Settings = Extract<SchedulerSettings, { type: "population" }>;

/**
 * Population-based training (Jaderberg et al., 2017), by generations: when all members have trained for `interval` more
 * epochs, the worst `fraction` of them and the failed ones continue from the checkpoints of the best, with other
 * parameters. The members' parameters do not depend on the order in which they finish.
 */
export function populationBased(settings: Settings, maxEpochs: number, objective: Objective, space: Space): Scheduler {
  const { population, interval, fraction, seed } = settings;
  return {
    next(trials, { free, mayCreate }) {
      const members = [...trials].sort(byNumber);
      const missing = Math.max(0, Math.min(population - members.length, mayCreate));
      const starts: Action[] = [];
      for (let epoch = interval; epoch < maxEpochs && missing === 0; epoch += interval) {
        if (!members.every((trial) => isSettledAt(trial, epoch))) break;
        starts.push(...generation(members, epoch));
      }
      const until = Math.min(interval, maxEpochs);
      starts.push(...Array.from({ length: missing }, (): Action => ({ type: "create", until })));
      return starts.slice(0, free);
    },
    // The first generation is suggested without results, so that it does not depend on which members are ahead.
    visibleHistory: (trials) => trials.map(({ number, params }) => ({ number, params, state: "running", reports: [] })),
  };

  /** Returns what the members that still stand at an epoch do next. Ranks come from reports, which do not change. */
  function generation(members: readonly SchedulerTrial[], epoch: number): readonly Action[] {
    const ranked = rankAt(
      members.filter((trial) => hasReached(trial, epoch)),
      epoch,
      objective,
    );
    const healthy = ranked.filter(({ loss }) => loss < Infinity).map(({ trial }) => trial);
    const count = Math.max(1, Math.floor(members.length * fraction));
    const donors = healthy.slice(0, count);
    const survivors = healthy.slice(0, Math.max(donors.length, members.length - count));
    const until = Math.min(epoch + interval, maxEpochs);
    const waiting = members.filter(
      (trial) => trial.until === epoch && (trial.state === "paused" || trial.state === "failed"),
    );
    if (donors.length === 0) return [];
    const replaced = waiting.filter((trial) => !survivors.includes(trial));
    // The donors' checkpoints are read before the donors continue.
    return [
      ...replaced.map((trial) => exploitation(trial, donors, epoch, until)),
      ...waiting
        .filter((trial) => survivors.includes(trial))
        .map((trial): Action => ({ type: "resume", trial: trial.number, until })),
    ];
  }

  function exploitation(
    { number }: SchedulerTrial,
    donors: readonly SchedulerTrial[],
    epoch: number,
    until: number,
  ): Action {
    const draws = drawsFor(seed, number, epoch);
    const draw = () => draws.uniform();
    const donor = donors[Math.floor(draw() * donors.length)] as SchedulerTrial;
    const params = explore(space, donor.params, settings.resample, draw);
    return { type: "resume", trial: number, until, from: { trial: donor.number, epoch }, params };
  }
}

/** A member that failed on the way to an epoch has no report there, also after it continues from another one. */
function hasReached({ reports }: SchedulerTrial, epoch: number): boolean {
  return reports.some((report) => report.epoch === epoch);
}

/** Perturbs or draws again each value of a point. Conditions that the new values meet add drawn values. */
export function explore(space: Space, point: Point, resample: number, draw: () => number): Point {
  const explored: Record<string, Json> = {};
  for (const name of parameterOrder(space)) {
    const parameter = space[name] as Parameter;
    const old = point[name];
    // Every parameter takes the same number of draws, so that a condition does not shift the draws of the others.
    const draws = [draw(), draw()] as const;
    if (!isActive(parameter, explored)) continue;
    explored[name] =
      old === undefined || draws[0] < resample ? fromUnit(parameter, draws[1]) : perturbed(parameter, old, draws[1]);
  }
  return explored;
}

/** Multiplies a number by 0.8 or 1.2 (Jaderberg et al., 2017), and takes a choice next to a choice. */
function perturbed(parameter: Parameter, old: Json, draw: number): Json {
  const direction = draw < 0.5 ? -1 : 1;
  if (parameter.type === "categorical") {
    const at = indexOfChoice(parameter.choices, old) + direction;
    return parameter.choices[Math.min(parameter.choices.length - 1, Math.max(0, at))] as Json;
  }
  const value = Number(old);
  const moved = snap(parameter, value * (1 + 0.2 * direction));
  return moved === value ? snap(parameter, value + direction * (parameter.step ?? 0)) : moved;
}
