import { isoTime } from "../clock";
import type { StepDependencies } from "../pipelines/step";
import type { TrainingJobs } from "./ports";
import type { Run, RunDetails, TrainingAttempt } from "./run";

/**
 * Submits the Batch job of a run's next attempt, once: the attempt's row is written before the job is submitted, and a job that was submitted
 * by a process that died before it could say so is found by its name.
 */
export async function launchAttempt(
  dependencies: Pick<StepDependencies, "runs" | "clock"> & { readonly jobs: TrainingJobs },
  run: Run,
  plan: { readonly attempt: number; readonly market: "spot" | "on-demand" },
): Promise<TrainingAttempt> {
  const { runs, clock, jobs } = dependencies;
  const { resources } = run.job;
  const attempt: TrainingAttempt = {
    attempt: plan.attempt,
    market: plan.market,
    workers: resources.workers,
    status: "submitting",
    startedAt: isoTime(clock),
  };
  await runs.beginAttempt(run.runId, attempt);
  const { jobId } = await jobs.submit({
    runId: run.runId,
    attempt: plan.attempt,
    workers: resources.workers,
    market: plan.market,
    gpusPerWorker: resources.gpusPerWorker,
    vcpusPerWorker: resources.vcpusPerWorker,
    memoryMbPerWorker: resources.memoryMbPerWorker,
  });
  const submitted: TrainingAttempt = { ...attempt, jobId, status: "submitted" };
  await runs.updateAttempt(run.runId, submitted);
  return submitted;
}

/** The attempt that a launch is about: the latest where it has not ended, else the next. */
export function nextAttempt(details: RunDetails): { readonly attempt: number; readonly market: "spot" | "on-demand" } {
  const latest = details.attempts.at(-1);
  if (!latest) return { attempt: 1, market: details.run.job.resources.market };
  const ended = latest.status === "failed" || latest.status === "succeeded";
  return { attempt: ended ? latest.attempt + 1 : latest.attempt, market: latest.market };
}
