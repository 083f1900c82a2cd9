import { digestOf } from "../digest";
import { bestTrials, type Objective, type ObservedTrial } from "./history";
import { createSampler, type Sampler } from "./sampler";
import { drawsFor, pointsOf } from "./samplers/sampler";
import type { CreateAction, ResumeAction, Scheduler, SchedulerTrial, StopAction } from "./scheduler";
import { asha, hyperband, successiveHalving } from "./schedulers/halving";
import { explore, populationBased } from "./schedulers/population";
import { rungsOf } from "./schedulers/rank";
import type { SamplerSettings, SchedulerSettings } from "./settings";
import { cardinality, type Point, type Space } from "./space";
import type { StudyDefinition } from "./study";

export interface PlannedStudy {
  readonly definition: Pick<StudyDefinition, "objectives" | "parallel" | "stop"> & {
    readonly space: Space;
    readonly sampler: SamplerSettings;
    readonly scheduler: SchedulerSettings;
    readonly maxEpochs: number;
  };
  /** Trials of earlier runs and studies, which the sampler sees too. */
  readonly warmStart: readonly ObservedTrial[];
  readonly trials: readonly SchedulerTrial[];
  /** Hours since the study began. */
  readonly hours: number;
  readonly dollars: number;
}

interface PlannedCreation extends CreateAction {
  /** The next numbers, without gaps. */
  readonly number: number;
  readonly params: Point;
}

export type PlannedAction = PlannedCreation | ResumeAction | StopAction;

interface Plan {
  readonly actions: readonly PlannedAction[];
  /** Present if nothing runs and nothing is left to start. */
  readonly finished?: { readonly reason: string };
}

/** Decides from the stored trials alone: calling again is safe, whether or not the actions were applied. */
export function plan(study: PlannedStudy): Plan {
  const { definition, trials } = study;
  const { space, objectives, parallel, maxEpochs } = definition;
  const sampler = createSampler(definition.sampler, space, objectives);
  const [objective] = objectives;
  if (objective === undefined) throw new RangeError("a study needs an objective");
  const { usesHistory } = sampler;
  const scheduler = createScheduler(definition.scheduler, { maxEpochs, objective, space, usesHistory, parallel });
  const limit = reachedLimit(study);
  const running = trials.filter(({ state }) => state === "running").length;
  const free = limit === undefined ? Math.max(0, parallel - running) : 0;
  const mayCreate = trialsLeft(study);
  const actions = withParams(study, sampler, scheduler, scheduler.next(trials, { free, mayCreate }));
  if (running > 0 || actions.some(({ type }) => type !== "stop")) return { actions };
  return { actions, finished: { reason: limit ?? endReason(study, mayCreate) } };
}

/** Returns the limit that forbids further starts. */
function reachedLimit({ definition: { stop, objectives }, trials, hours, dollars }: PlannedStudy): string | undefined {
  if (stop.hours !== undefined && hours >= stop.hours) return `the limit of ${stop.hours} hours is reached`;
  if (stop.dollars !== undefined && dollars >= stop.dollars) return `the limit of ${stop.dollars} dollars is reached`;
  if (stop.noImprovement === undefined) return undefined;
  const last = Math.max(-1, ...bestTrials(trials, objectives).map(({ number }) => number));
  const later = trials.filter(({ number, state }) => number > last && hasEnded(state)).length;
  if (later < stop.noImprovement) return undefined;
  return `${later} trials ended without a better value, and noImprovement is ${stop.noImprovement}`;
}

function hasEnded(state: SchedulerTrial["state"]): boolean {
  return state === "completed" || state === "stopped" || state === "failed";
}

function trialsLeft({ definition: { space, stop }, trials }: PlannedStudy): number {
  const left = Math.max(0, (stop.trials ?? Infinity) - trials.length);
  return left === 0 ? 0 : Math.min(left, newPoints(space, trials, Math.min(left, maxCounted)));
}

/** A study has at most this many trials, so that more points need not be counted. */
const maxCounted = 10_000;

/** Returns how many points are new, counted up to a number. */
function newPoints(space: Space, trials: PlannedStudy["trials"], enough: number): number {
  if (!isCountable(space)) return Infinity;
  const seen = seenBy(trials);
  let count = 0;
  for (const point of pointsOf(space)) if (!seen.has(digestOf(point)) && ++count === enough) return Infinity;
  return count;
}

function seenBy(trials: readonly { readonly params: Point }[]): Set<string> {
  return new Set(trials.map(({ params }) => digestOf(params)));
}

function endReason({ definition: { stop }, trials }: PlannedStudy, mayCreate: number): string {
  if (stop.trials !== undefined && trials.length >= stop.trials) return `all ${trials.length} trials have ended`;
  return mayCreate === 0 ? "every point of the space has been tried" : "the scheduler has finished";
}

function withParams(
  { definition: { space }, warmStart, trials }: PlannedStudy,
  sampler: Sampler,
  scheduler: Scheduler,
  actions: ReturnType<Scheduler["next"]>,
): readonly PlannedAction[] {
  if (!actions.some(({ type }) => type === "create")) return actions as readonly PlannedAction[];
  const all = [...trials].sort((a, b) => a.number - b.number);
  const seen = seenBy(all);
  return actions.flatMap((action) => {
    if (action.type !== "create") return action;
    const number = (all.at(-1)?.number ?? -1) + 1;
    const suggested = sampler.suggest([...warmStart, ...scheduler.visibleHistory(all, action.bracket)], number);
    if (suggested === undefined) return [];
    const params = newPoint(space, suggested, seen, number);
    all.push({ ...action, number, params, state: "running", reports: [] });
    seen.add(digestOf(params));
    return { ...action, number, params };
  });
}

const attempts = 32;

/** Returns the suggestion, or a point near it if a trial has it: equal parameters would repeat the same bits. */
function newPoint(space: Space, suggested: Point, seen: ReadonlySet<string>, number: number): Point {
  if (!seen.has(digestOf(suggested))) return suggested;
  const draws = drawsFor(0, number);
  for (let attempt = 0; attempt < attempts; attempt++) {
    const near = explore(space, suggested, 0.25, () => draws.uniform());
    if (!seen.has(digestOf(near))) return near;
  }
  for (const point of isCountable(space) ? pointsOf(space) : []) if (!seen.has(digestOf(point))) return point;
  return suggested;
}

function isCountable(space: Space): boolean {
  return Object.values(space).every((parameter) => cardinality(parameter) < Infinity);
}

interface SchedulerContext {
  readonly maxEpochs: number;
  /** The first objective of the study. */
  readonly objective: Objective;
  readonly space: Space;
  /** Whether the sampler looks at results. */
  readonly usesHistory: boolean;
  readonly parallel: number;
}

/** Creates the scheduler of a study. It has no state: it decides from the trials alone. */
export function createScheduler(settings: SchedulerSettings, context: SchedulerContext): Scheduler {
  const { maxEpochs, objective, space, usesHistory, parallel } = context;
  switch (settings.type) {
    case "none":
      return {
        next: (_, { free, mayCreate }) =>
          Array.from({ length: Math.min(free, mayCreate) }, () => ({ type: "create", until: maxEpochs })),
        visibleHistory: (trials) => trials,
      };
    case "population":
      return populationBased(settings, maxEpochs, objective, space);
    default: {
      const { type, minEpochs, factor } = settings;
      const halving = { rungs: rungsOf(minEpochs, maxEpochs, factor), factor, objective, usesHistory, parallel };
      return { asha, hyperband, "successive-halving": successiveHalving }[type](halving);
    }
  }
}
