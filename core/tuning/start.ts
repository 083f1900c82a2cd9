import { digestOf } from "../digest";
import type { Run } from "../runs/shapes";
import { type ResumeDependencies, resumeRun } from "../training/pause";
import { findSubmitted, type SubmitDependencies, submitRun } from "../training/submit";
import { trialKey } from "./decide";
import type { StudyRepository, StudyState } from "./ports";
import { isActive, type Study, type Trial } from "./shapes";
import { bestJob, trialJob } from "./trial-job";

export interface StartDependencies extends SubmitDependencies, ResumeDependencies {
  readonly runs: SubmitDependencies["runs"] & ResumeDependencies["runs"];
  readonly team: string;
  readonly studies: Pick<StudyRepository, "save">;
}

/** Starts a running trial's segment: submits its run, or resumes it. Idempotent. */
export async function startSegment(dependencies: StartDependencies, study: Study, trial: Trial): Promise<void> {
  const { definition } = study;
  const { epochs } = definition.job.hyperparameters;
  const pause = trial.until < epochs ? { pauseAt: trial.until } : {};
  if (trial.segment > 0) {
    await resumeRun(dependencies, { runId: trial.runId as string, after: trial.segment - 1, ...pause });
    return;
  }
  await submit(dependencies, study, trial.number, {
    ...pause,
    job: trialJob(definition, trial.params),
    trial: { study: study.name, number: trial.number },
    parentRunId: study.parentRunId,
  });
}

/**
 * Submits the run that trains the best trial's settings to the end, and registers its model. A trial that was trained
 * to the end has the same training step, so its output is reused. Idempotent.
 */
export async function registerBest(dependencies: StartDependencies, state: StudyState): Promise<Study> {
  const { study, trials } = state;
  const best = trials.find(({ number }) => number === study.best[0]);
  if (isActive(study) || study.definition.best === undefined || best === undefined) return study;
  if (study.bestRunId !== undefined) return study;
  const run = await submit(dependencies, study, `best ${study.extensions}`, {
    job: bestJob(study.definition, best.params),
    parentRunId: study.parentRunId,
  });
  const next: Study = { ...study, bestRunId: run.runId, revision: study.revision + 1 };
  // Another call may have been first: it has submitted the same run.
  return (await dependencies.studies.save(next, [])) ? next : study;
}

type Submission = Pick<Parameters<typeof submitRun>[1], "job" | "pauseAt" | "trial" | "parentRunId">;

async function submit(
  dependencies: StartDependencies,
  study: Study,
  trial: number | string,
  submission: Submission,
): Promise<Run> {
  const { name, definition, submitters } = study;
  const identity = {
    team: dependencies.team,
    idempotencyKey: trialKey(study, trial),
    requestDigest: digestOf({ study: name, trial }),
  };
  const known = await findSubmitted(dependencies, identity);
  if (known) return known;
  return submitRun(dependencies, {
    ...identity,
    ...submission,
    code: definition.code,
    ...(definition.environment ? { environment: definition.environment } : {}),
    noCache: false,
    actor: `study ${name}`,
    ...(submitters ? { submitters } : {}),
  });
}
