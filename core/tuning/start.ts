import { digestOf } from "../digest";
import { RingmasterError } from "../errors";
import type { ObjectStore } from "../ports";
import type { Run } from "../runs/shapes";
import { checkpointStart } from "../training/initial-weights";
import { type ResumeDependencies, resumeRun } from "../training/pause";
import { findSubmitted, type SubmitDependencies, type SubmitRequest, submitRun } from "../training/submit";
import { bestJob, runSegment, trialJob, trialKey } from "./decide";
import type { StudyRepository, StudyState } from "./ports";
import { isActive, type Study, type Trial } from "./shapes";

export interface StartDependencies extends SubmitDependencies, ResumeDependencies {
  readonly runs: SubmitDependencies["runs"] & ResumeDependencies["runs"];
  readonly team: string;
  readonly studies: Pick<StudyRepository, "save">;
  readonly objects: ObjectStore;
}

/** Starts a running trial's segment: submits its run, or resumes it. Idempotent. */
export async function startSegment(
  dependencies: StartDependencies,
  { study, trials }: StudyState,
  trial: Trial,
): Promise<void> {
  const { definition } = study;
  const { epochs } = definition.job.hyperparameters;
  const pause = trial.until < epochs ? { pauseAt: trial.until } : {};
  if (runSegment(trial) > 0) {
    await resumeRun(dependencies, { runId: trial.runId as string, after: runSegment(trial) - 1, ...pause });
    return;
  }
  await submit(dependencies, study, trialKey(study, trial), async () => ({
    ...pause,
    ...initialWeights(study, trial),
    ...(await checkpointOf(dependencies, trials, trial)),
    job: { ...trialJob(definition, trial.params), name: `${study.name}-${trial.number}` },
    trial: { study: study.name, number: trial.number },
    parentRunId: study.parentRunId,
  }));
}

/** All trials begin with the same weights, even if an alias moves while the study runs. */
function initialWeights({ fineTunedFrom }: Study, { params }: Trial): Pick<SubmitRequest, "fineTunedFrom"> {
  return fineTunedFrom && !("fineTune.from" in params) ? { fineTunedFrom } : {};
}

/** Refers to the checkpoint of another trial with which a trial begins. Its tensors are not copied. */
async function checkpointOf(
  { objects }: StartDependencies,
  trials: readonly Trial[],
  { from }: Trial,
): Promise<Pick<Submission, "restoredFrom" | "beforeCreation">> {
  const source = from && trials.find(({ number }) => number === from.trial)?.runId;
  if (from === undefined || source === undefined) return {};
  const { restoredFrom, copyTo } = await checkpointStart(objects, source, from.epoch);
  return { restoredFrom, beforeCreation: copyTo };
}

/**
 * Submits the run that trains the best trial's settings to the end, and registers its model. A trial that was trained
 * to the end has the same training step, so its output is reused. Idempotent.
 */
export async function registerBest(dependencies: StartDependencies, state: StudyState): Promise<Study> {
  const { study, trials } = state;
  const best = trials.find(({ number }) => number === study.best[0]);
  if (isActive(study) || study.definition.best === undefined || best === undefined) return study;
  if (study.bestRunId !== undefined || study.bestFailure !== undefined) return study;
  const next: Study = { ...study, ...(await submitBest(dependencies, study, best)), revision: study.revision + 1 };
  // Another call may have been first: it has submitted the same run.
  return (await dependencies.studies.save(next, [])) ? next : study;
}

/** Submits the best trial's settings. A refusal that a repetition would meet again is recorded. */
async function submitBest(
  dependencies: StartDependencies,
  study: Study,
  best: Trial,
): Promise<Pick<Study, "bestRunId" | "bestFailure">> {
  try {
    const run = await submit(dependencies, study, `study ${study.name} best ${study.extensions}`, async () => ({
      ...initialWeights(study, best),
      job: bestJob(study.definition, best.params),
      parentRunId: study.parentRunId,
    }));
    return { bestRunId: run.runId };
  } catch (error) {
    if (!isPermanent(error)) throw error;
    return { bestFailure: `${error.code}: ${error.message}` };
  }
}

/** Tests whether the same request would fail again. */
export function isPermanent(error: unknown): error is RingmasterError {
  return error instanceof RingmasterError && !error.retryable && error.httpStatus < 500;
}

type Submission = Pick<
  SubmitRequest,
  "job" | "pauseAt" | "trial" | "parentRunId" | "fineTunedFrom" | "restoredFrom" | "beforeCreation"
>;

async function submit(
  dependencies: StartDependencies,
  study: Study,
  idempotencyKey: string,
  submission: () => Promise<Submission>,
): Promise<Run> {
  const { name, definition, submitters } = study;
  const identity = {
    team: dependencies.team,
    idempotencyKey,
    requestDigest: digestOf({ study: name, idempotencyKey }),
  };
  const known = await findSubmitted(dependencies, identity);
  if (known) return known;
  return submitRun(dependencies, {
    ...identity,
    ...(await submission()),
    code: definition.code,
    ...(definition.environment ? { environment: definition.environment } : {}),
    noCache: false,
    actor: `study ${name}`,
    ...(submitters ? { submitters } : {}),
  });
}
