import { isoTime } from "../clock";
import type { StepDependencies } from "../pipelines/step";
import type { TrainingJobs } from "./ports";
import { isOpen, type Run, type RunDetails, type TrainingAttempt } from "./run";

export interface LaunchPlan {
  readonly attempt: number;
  readonly market: "spot" | "on-demand";
  /** This attempt was begun by a process that died before it could record its job. */
  readonly again?: boolean;
}

/**
 * Submits the Batch job of a run's next attempt, once: the attempt's row is written before the job is submitted, and a job that was submitted
 * by a process that died before it could say so is found by its name.
 *
 * A run that is cancelled meanwhile ends the job here: whoever cancels ends the run's row first and looks for a job then, and this looks in
 * the other order, so that one of the two sees it.
 *
 * @returns undefined where another call has begun this attempt.
 */
export async function launchAttempt(
  dependencies: Pick<StepDependencies, "runs" | "clock"> & { readonly jobs: TrainingJobs },
  run: Run,
  plan: LaunchPlan,
): Promise<TrainingAttempt | undefined> {
  const { runs, clock, jobs } = dependencies;
  const { resources } = run.job;
  const attempt: TrainingAttempt = {
    attempt: plan.attempt,
    market: plan.market,
    workers: resources.workers,
    status: "submitting",
    startedAt: isoTime(clock),
  };
  if (!(await runs.beginAttempt(run.runId, attempt)) && !plan.again) return undefined;
  const { jobId } = await jobs.submit({
    runId: run.runId,
    team: run.team,
    attempt: plan.attempt,
    workers: resources.workers,
    market: plan.market,
    gpusPerWorker: resources.gpusPerWorker,
    vcpusPerWorker: resources.vcpusPerWorker,
    memoryMbPerWorker: resources.memoryMbPerWorker,
  });
  const submitted: TrainingAttempt = { ...attempt, jobId, status: "submitted" };
  await runs.updateAttempt(run.runId, submitted);
  const now = await runs.find(run.runId);
  if (now && isOpen(now.status)) return submitted;
  const reason = `the run ended while its attempt ${plan.attempt} was submitted`;
  await jobs.terminate(jobId, reason);
  const ended: TrainingAttempt = { ...submitted, status: "failed", reason, endedAt: isoTime(clock) };
  await runs.updateAttempt(run.runId, ended);
  return ended;
}

/** The attempt that a launch is about: the latest where it has not ended, else the next. */
export function nextAttempt(details: RunDetails): LaunchPlan {
  const latest = details.attempts.at(-1);
  if (!latest) return { attempt: 1, market: details.run.job.resources.market };
  const ended = latest.status === "failed" || latest.status === "succeeded";
  return { attempt: ended ? latest.attempt + 1 : latest.attempt, market: latest.market, again: !ended };
}
