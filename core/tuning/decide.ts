import { InvalidInputError } from "../errors";
import { problemsOf } from "../problems";
import { withoutUnusedOptions } from "../runs/hyperparameters";
import { type Job, jobSchema } from "../runs/job";
import { submittedRunId } from "../training/submit";
import { bestTrials, type ObservedTrial } from "./history";
import { type PlannedAction, plan } from "./planner";
import type { Study, Trial } from "./shapes";
import type { Point } from "./space";
import type { StudyDefinition } from "./study";
import { withSetting } from "./study-problems";

const msPerHour = 3_600_000;

interface Decided {
  /** The same object if the study does not change. */
  readonly study: Study;
  readonly trials: readonly Trial[];
}

/**
 * Decides how a study continues. A pure function of its stored state.
 * @param trials all trials, by number
 * @param now milliseconds since the epoch
 */
export function decide(
  study: Study,
  trials: readonly Trial[],
  warmStart: readonly ObservedTrial[],
  now: number,
): Decided {
  const at = new Date(now).toISOString();
  const { definition, status } = study;
  const end = (ended: Study["status"], reason: string, all: readonly Trial[]): Study => ({
    ...study,
    status: ended,
    reason,
    endedAt: at,
    best: bestTrials(all, definition.objectives).map(({ number }) => number),
  });
  if (status === "stopping") {
    if (trials.some(({ state }) => state === "running")) return { study, trials: [] };
    return { study: end("stopped", study.reason ?? "stopped", trials), trials: [] };
  }
  const decision = plan({
    definition: { ...definition, maxEpochs: definition.job.hyperparameters.epochs },
    trials,
    warmStart,
    hours: (now - Date.parse(study.startedAt)) / msPerHour,
    dollars: trials.reduce((sum, { dollars = 0 }) => sum + dollars, 0),
  });
  const changes = decision.actions.map((action) => carriedOut(study, trials, action, at));
  return { study: decision.finished ? end("completed", decision.finished.reason, trials) : study, trials: changes };
}

function carriedOut(study: Study, trials: readonly Trial[], action: PlannedAction, at: string): Trial {
  if (action.type === "create") {
    const { number, params, until, bracket } = action;
    const runId = submittedRunId(study.team, trialKey(study, { number }));
    const trial: Trial = {
      ...{ number, params, state: "running", until, segment: 0, runId, reports: [], startedAt: at },
      ...(bracket === undefined ? {} : { bracket }),
    };
    return withValidJob(study, trial, at);
  }
  const trial = trials.find(({ number }) => number === action.trial) as Trial;
  if (action.type === "stop") return { ...trial, state: "stopped", reason: action.reason, endedAt: at };
  const next = resumed(trial, action.until);
  const { from, params = trial.params } = action;
  if (from === undefined) return next;
  // Another trial's checkpoint with other settings: a run of its own.
  const begun = { ...next, params, from, firstSegment: next.segment };
  return withValidJob(study, { ...begun, runId: submittedRunId(study.team, trialKey(study, begun)) }, at);
}

/** Returns a trial whose next segment trains to an epoch. */
export function resumed({ endedAt: _, reason: __, ...trial }: Trial, until: number): Trial {
  return { ...trial, state: "running", until, segment: trial.segment + 1 };
}

/** A trial whose settings together break a rule of the job fails without a run. */
function withValidJob({ definition }: Study, trial: Trial, at: string): Trial {
  try {
    trialJob(definition, trial.params);
    return trial;
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    const { runId: _, ...rest } = trial;
    return { ...rest, state: "failed", reason: error.message, endedAt: at };
  }
}

/** Returns the idempotency key under which a trial's current run is submitted. */
export function trialKey(
  { name }: Pick<Study, "name">,
  { number, firstSegment = 0 }: Pick<Trial, "number" | "firstSegment">,
): string {
  return `study ${name} trial ${number} ${firstSegment}`;
}

export function runSegment({ segment, firstSegment = 0 }: Trial): number {
  return segment - firstSegment;
}

type JobOfStudy = Pick<StudyDefinition, "job">;

/** The study's job with the trial's values, without registration. @throws InvalidInputError if they break a rule */
export function trialJob({ job }: JobOfStudy, params: Point): Job {
  return jobWith({ ...job, registerAs: undefined }, params);
}

/** Returns the job that trains the best trial's settings on all epochs and registers the model. */
export function bestJob({ job, best }: JobOfStudy & Pick<StudyDefinition, "best">, params: Point): Job {
  return jobWith({ ...job, registerAs: best?.registerAs }, params);
}

function jobWith(job: Job, params: Point): Job {
  const changed = Object.entries(params).reduce<unknown>(
    (one, [path, value]) => withSetting(one, path, value),
    job,
  ) as Job;
  // A trial may choose another optimizer than the job.
  const used = { ...changed, hyperparameters: withoutUnusedOptions(changed.hyperparameters) };
  const parsed = jobSchema.safeParse(used, { reportInput: true });
  if (!parsed.success)
    throw new InvalidInputError("the trial's settings are not a valid job", problemsOf(parsed.error));
  return parsed.data;
}
