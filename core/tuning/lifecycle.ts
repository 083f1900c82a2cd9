import type { Person } from "../access/principals";
import { inRounds, type Pause } from "../backoff";
import { resolveDataset } from "../datasets/repository";
import { digestOf } from "../digest";
import { InvalidInputError, type Problem } from "../errors";
import { lessIsBetter } from "../evaluation/metric-goal";
import { objectKeys } from "../object-keys";
import { type Clock, isoTime, type ObjectStore } from "../ports";
import type { Job } from "../runs/job";
import type { RunRepository } from "../runs/run-repository";
import { type LogRunDependencies, logRun } from "../tracking/records/log-run";
import { type CancelDependencies, cancelRun } from "../training/close-run";
import { type FineTuneDependencies, fineTuneSourceOf } from "../training/initial-weights";
import { checkJobAgainst, type DeploymentSettings, deploymentProblems } from "../training/job-checks";
import { validationMetricOf } from "../training/primary-metric";
import type { SubmitDependencies } from "../training/submit";
import { resumed } from "./decide";
import { bestTrials } from "./history";
import {
  type StudyEvents,
  type StudyRepository,
  type StudyState,
  studyBusy,
  studyExists,
  studyNotFound,
  studyWithoutResult,
} from "./ports";
import { problemsOfSampler, problemsOfScheduler } from "./settings";
import type { Study, Trial } from "./shapes";
import { maxTrials, type StudyDefinition } from "./study";
import { type WarmStartDependencies, warmTrials } from "./warm-start";

export interface StudyDependencies extends LogRunDependencies {
  readonly metrics: LogRunDependencies["metrics"] & WarmStartDependencies["metrics"];
  readonly config?: DeploymentSettings;
  readonly team: string;
  readonly studies: StudyRepository;
  readonly events: StudyEvents;
  readonly datasets: SubmitDependencies["datasets"];
  readonly objects: ObjectStore;
  readonly runs: Pick<RunRepository, "find" | "findDetails">;
  readonly registry: NonNullable<FineTuneDependencies["registry"]>;
  readonly clock: Clock;
  readonly pause: Pause;
}

interface Author {
  readonly by: string;
  readonly person?: Person | undefined;
}

const rounds = 24;

/**
 * Creates a study and has it driven. Idempotent for the same definition; another definition under the same name is
 * refused. Nothing is created if the definition has a problem.
 * @throws InvalidInputError with every problem, STUDY_EXISTS, DATASET_NOT_FOUND
 */
export async function createStudy(
  dependencies: StudyDependencies,
  draft: StudyDefinition,
  { by, person }: Author,
): Promise<{ readonly created: boolean; readonly study: Study }> {
  const definition = await withObjective(dependencies, draft);
  const { studies, clock, team, objects } = dependencies;
  const existingStudy = await studies.find(definition.name);
  if (existingStudy) return existing(dependencies, existingStudy, definition);
  await requireFit(dependencies, definition);
  const warm = await warmTrials(dependencies, definition);
  if (warm.length > 0) await objects.put(objectKeys.studyWarmStart(definition.name), JSON.stringify(warm));
  const { fineTune } = definition.job;
  const fineTunedFrom = fineTune && (await fineTuneSourceOf(dependencies, fineTune));
  const parent = await logParent(dependencies, definition, by);
  const at = isoTime(clock);
  const study: Study = {
    name: definition.name,
    team,
    definition,
    status: "running",
    revision: 1,
    parentRunId: parent,
    best: [],
    extensions: 0,
    ...(fineTunedFrom ? { fineTunedFrom } : {}),
    warmTrials: warm.length,
    createdBy: by,
    ...(person ? { submitters: [person.id] } : {}),
    startedAt: at,
    createdAt: at,
    updatedAt: at,
  };
  const stored = await studies.create(study);
  if (!stored.created) return existing(dependencies, stored.study, definition);
  await publish(dependencies, study.name);
  return { created: true, study };
}

async function existing(dependencies: StudyDependencies, study: Study, definition: StudyDefinition) {
  if (digestOf(withoutLimits(study.definition)) !== digestOf(withoutLimits(definition)))
    throw studyExists(definition.name);
  await publish(dependencies, study.name);
  return { created: false, study };
}

async function withObjective({ datasets }: StudyDependencies, definition: StudyDefinition): Promise<StudyDefinition> {
  const { objectives, job, scheduler } = definition;
  if (objectives.length > 0) return definition;
  const { manifest } = await resolveDataset(datasets, job.dataset);
  if (manifest.split.indexes.validation.rows === 0) {
    const rule = `is required: ${manifest.name}@${manifest.version} has no validation rows, on which trials are compared by default`;
    throw new InvalidInputError("the study needs an objective", [{ path: "objective", rule }]);
  }
  const metric = validationMetricOf(manifest, job.evaluation, scheduler.type !== "none");
  return { ...definition, objectives: [{ metric, direction: lessIsBetter(metric) ? "minimize" : "maximize" }] };
}

/** A study that was extended is still the one that its file describes. */
function withoutLimits({ stop: _, ...definition }: StudyDefinition): Omit<StudyDefinition, "stop"> {
  return definition;
}

/** Checks a definition against its data. The schema has checked it by itself. */
async function requireFit({ datasets, config }: StudyDependencies, definition: StudyDefinition): Promise<void> {
  const { space, sampler, scheduler, job } = definition;
  const { manifest } = await resolveDataset(datasets, job.dataset);
  const problems: readonly Problem[] = [
    ...[...checkJobAgainst(manifest, job as Job), ...deploymentProblems(job as Job, config)].map((problem) => ({
      ...problem,
      path: `job.${problem.path}`,
    })),
    ...problemsOfSampler(sampler, space, definition.objectives.length),
    ...problemsOfScheduler(scheduler, job.hyperparameters.epochs),
  ];
  if (problems.length > 0) throw new InvalidInputError("the study does not fit its job or dataset", problems);
}

/** Creates the run whose children are the trials. Idempotent. */
async function logParent(dependencies: StudyDependencies, definition: StudyDefinition, by: string): Promise<string> {
  const { name, job, sampler, scheduler, objectives, parallel } = definition;
  const { runId } = await logRun(dependencies, {
    team: dependencies.team,
    actor: by,
    idempotencyKey: `study ${name}`,
    experiment: job.experiment,
    name,
    status: "running",
    params: {
      sampler: sampler.type,
      scheduler: scheduler.type,
      parallel: String(parallel),
      objective: objectives.map(({ metric, direction }) => `${direction} ${metric}`).join(", "),
    },
    tags: { "ringmaster.study": name },
    notes: "",
    metrics: {},
    datasets: [],
    code: {},
  });
  return runId;
}

/** The limits of an extension replace those of the study. */
export interface StudyExtension extends Readonly<StudyDefinition["stop"]> {
  /** Trials to resume up to an epoch, also stopped ones. */
  readonly resume?: readonly { readonly trial: number; readonly until: number }[] | undefined;
}

/**
 * Continues a study with other limits, or resumes some of its trials. Limits of hours count from the extension on.
 * @throws STUDY_NOT_FOUND, InvalidInputError
 */
export async function extendStudy(
  dependencies: StudyDependencies,
  name: string,
  { resume = [], ...limits }: StudyExtension,
): Promise<Study> {
  return change(dependencies, name, ({ study, trials }, at) => {
    const problems = extensionProblems(study, trials, limits, resume);
    if (problems.length > 0) throw new InvalidInputError("the study cannot be extended", problems);
    const { endedAt: _, reason: __, bestRunId: ___, bestFailure: ____, ...rest } = study;
    const changes = Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
    return {
      study: {
        ...rest,
        definition: { ...study.definition, stop: { ...study.definition.stop, ...changes } },
        status: "running",
        extensions: study.extensions + 1,
        startedAt: at,
      },
      trials: resume.map(({ trial, until }) => resumed(trials[trial] as Trial, until)),
    };
  });
}

function extensionProblems(
  { definition }: Study,
  trials: readonly Trial[],
  limits: Omit<StudyExtension, "resume">,
  resume: NonNullable<StudyExtension["resume"]>,
): readonly Problem[] {
  const problems: Problem[] = [];
  const { epochs } = definition.job.hyperparameters;
  if (limits.trials !== undefined && (limits.trials < trials.length || limits.trials > maxTrials)) {
    const rule = `must be at least the ${trials.length} trials that exist, and at most ${maxTrials}`;
    problems.push({ path: "trials", value: limits.trials, rule });
  }
  if (resume.length === 0 && Object.values(limits).every((limit) => limit === undefined))
    problems.push({ path: "", rule: "must have a new limit, or trials to resume" });
  for (const [i, { trial: number, until }] of resume.entries()) {
    const trial = trials[number];
    if (trial === undefined) {
      problems.push({ path: `resume[${i}].trial`, value: number, rule: `must be less than ${trials.length}` });
    } else if (trial.state !== "paused" && trial.state !== "stopped") {
      const rule = `must be a paused or stopped trial, but it is ${trial.state}`;
      problems.push({ path: `resume[${i}].trial`, value: number, rule });
    } else if (until <= trial.until || until > epochs) {
      const rule = `must be more than the ${trial.until} epochs that trial ${number} has finished, and at most ${epochs}`;
      problems.push({ path: `resume[${i}].until`, value: until, rule });
    }
  }
  return problems;
}

/**
 * Stops a study: no trial starts any more, and those that train end with their segment, or at once with `cancel`.
 * Idempotent.
 * @throws STUDY_NOT_FOUND
 */
export async function stopStudy(
  dependencies: StudyDependencies & CancelDependencies,
  name: string,
  { by, cancel }: { readonly by: string; readonly cancel: boolean },
): Promise<Study> {
  const study = await change(dependencies, name, ({ study }) =>
    study.status === "running"
      ? { study: { ...study, status: "stopping", reason: `stopped by ${by}` }, trials: [] }
      : undefined,
  );
  if (!cancel) return study;
  const state = await dependencies.studies.load(name);
  for (const { runId, state: trialState } of state?.trials ?? []) {
    if (trialState !== "running" || runId === undefined) continue;
    const run = await dependencies.runs.find(runId);
    if (run !== undefined && run.endedAt === undefined) await cancelRun(dependencies, runId, by);
  }
  return study;
}

/** Changes a study under the condition that nobody else has, and has it driven. */
async function change(
  dependencies: StudyDependencies,
  name: string,
  transition: (state: StudyState, at: string) => StudyState | undefined,
): Promise<Study> {
  const { studies, clock, pause } = dependencies;
  const study = await inRounds({ rounds, pause, busy: () => studyBusy(name) }, async () => {
    const before = await studies.load(name);
    if (before === undefined) throw studyNotFound(name);
    const at = isoTime(clock);
    const after = transition(before, at);
    if (after === undefined) return before.study;
    const next = { ...after.study, revision: before.study.revision + 1, updatedAt: at };
    return (await studies.save(next, after.trials)) ? next : undefined;
  });
  await publish(dependencies, name);
  return study;
}

/** If the event is lost, the sweep drives the study. */
async function publish({ events, team, clock }: StudyDependencies, study: string): Promise<void> {
  await events.publishStudyChanged({ team, study, at: isoTime(clock) });
}

/** @throws STUDY_WITHOUT_RESULT */
export function bestOf({ study, trials }: StudyState): readonly Trial[] {
  const numbers = new Set(bestTrials(trials, study.definition.objectives).map(({ number }) => number));
  if (numbers.size === 0) {
    const failed = trials.filter(({ state }) => state === "failed").length;
    throw studyWithoutResult(study.name, failed);
  }
  return trials.filter(({ number }) => numbers.has(number));
}

/** @throws STUDY_NOT_FOUND */
export async function getStudy(studies: Pick<StudyRepository, "load">, name: string): Promise<StudyState> {
  const state = await studies.load(name);
  if (state === undefined) throw studyNotFound(name);
  return state;
}
