import type { Objective } from "../history";
import type { Scheduler, SchedulerSettings } from "../scheduler";
import type { Space } from "../space";
import { asha } from "./asha";
import { hyperband, successiveHalving } from "./halving";
import { medianStop, runAll } from "./median";
import { populationBased } from "./population";
import { rungsOf } from "./rungs";

export interface SchedulerContext {
  readonly maxEpochs: number;
  /** The first objective of the study. */
  readonly objective: Objective;
  readonly space: Space;
  /** Whether the sampler looks at results. */
  readonly usesHistory: boolean;
}

export function createScheduler(settings: SchedulerSettings, context: SchedulerContext): Scheduler {
  const { maxEpochs, objective, space, usesHistory } = context;
  switch (settings.type) {
    case "none":
      return runAll(maxEpochs);
    case "median":
      return medianStop(settings, maxEpochs, objective);
    case "population":
      return populationBased(settings, maxEpochs, objective, space);
    default: {
      const { type, minEpochs, factor } = settings;
      const halving = { rungs: rungsOf(minEpochs, maxEpochs, factor), factor, objective, usesHistory };
      return { asha, hyperband, "successive-halving": successiveHalving }[type](halving);
    }
  }
}
