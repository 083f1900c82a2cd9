import { isoTime } from "../clock";
import type { Clock } from "../ports";
import { JobRefusedError } from "../runs/errors";
import type { JobRequest, TrainingJobs } from "../runs/ports";
import type { Run, RunDetails, TrainingAttempt } from "../runs/run";
import type { RunRepository } from "../runs/run-repository";

export interface LaunchDependencies {
  readonly runs: RunRepository;
  readonly jobs: TrainingJobs;
  readonly clock: Clock;
}

/** After its claim an attempt's process asks Batch within this time, or not at all. */
const submitWithinMs = 10_000;
/** Whoever claimed an attempt this long ago and has not recorded its job is dead, and what it asked of Batch can be found by name. */
export const launchPatienceMs = 30_000;

/**
 * Begins a run's next attempt and submits its Batch job, once: the attempt's row comes first, under the condition that the run is open and trains.
 *
 * @returns undefined where another call has begun this attempt, or the run has ended.
 * @throws JobRefusedError where Batch does not take the job: the attempt has failed then.
 */
export async function launchAttempt(
  dependencies: LaunchDependencies,
  run: Run,
  plan: Pick<TrainingAttempt, "attempt" | "market">,
): Promise<TrainingAttempt | undefined> {
  const at = isoTime(dependencies.clock);
  const attempt: TrainingAttempt = {
    attempt: plan.attempt,
    market: plan.market,
    workers: run.job.resources.workers,
    status: "submitting",
    startedAt: at,
    claimedAt: at,
  };
  return (await dependencies.runs.beginAttempt(run.runId, attempt)) ? submit(dependencies, run, attempt) : undefined;
}

/** Goes on with an attempt whose process died before it had recorded its job. Leaves it alone while that one may live. */
export async function takeOverAttempt(
  dependencies: LaunchDependencies,
  run: Run,
  attempt: TrainingAttempt,
): Promise<TrainingAttempt | undefined> {
  const { runs, clock } = dependencies;
  if (!isAbandoned(attempt, clock)) return undefined;
  const claimedAt = isoTime(clock);
  if (!(await runs.takeOverAttempt(run.runId, attempt.attempt, claimOf(attempt), claimedAt))) return undefined;
  return submit(dependencies, run, { ...attempt, claimedAt });
}

/** Whether the process that was to submit this attempt's job has died before it could say that it did. */
export function isAbandoned(attempt: TrainingAttempt, clock: Clock): boolean {
  return attempt.jobId === undefined && clock.now() - Date.parse(claimOf(attempt)) > launchPatienceMs;
}

/** The attempt that a launch is about where none is under way. */
export function nextAttempt({ run, attempts }: RunDetails): Pick<TrainingAttempt, "attempt" | "market"> {
  const latest = attempts.at(-1);
  return { attempt: (latest?.attempt ?? 0) + 1, market: latest?.market ?? run.job.resources.market };
}

export function jobRequestOf(run: Run, { attempt, market }: Pick<TrainingAttempt, "attempt" | "market">): JobRequest {
  const { workers, gpusPerWorker, vcpusPerWorker, memoryMbPerWorker } = run.job.resources;
  const { runId, team } = run;
  return { runId, team, attempt, market, workers, gpusPerWorker, vcpusPerWorker, memoryMbPerWorker };
}

const claimOf = ({ claimedAt, startedAt }: TrainingAttempt): string => claimedAt ?? startedAt;

async function submit(
  { runs, jobs, clock }: LaunchDependencies,
  run: Run,
  attempt: TrainingAttempt,
): Promise<TrainingAttempt | undefined> {
  const { runId } = run;
  const request = jobRequestOf(run, attempt);
  let jobId = await jobs.find(request);
  if (jobId === undefined) {
    // Held up for so long, this process may have been taken for dead: another one goes on with the attempt.
    if (clock.now() - Date.parse(claimOf(attempt)) > submitWithinMs) return undefined;
    try {
      ({ jobId } = await jobs.submit(request));
    } catch (error) {
      if (error instanceof JobRefusedError) {
        await runs.endAttempt(runId, attempt.attempt, { status: "failed", reason: error.message, at: isoTime(clock) });
      }
      throw error;
    }
  }
  if (await runs.recordJob(runId, attempt.attempt, jobId)) return { ...attempt, jobId, status: "submitted" };

  // Somebody else recorded it, or the run ended meanwhile: a job that is in no row must not live.
  const row = (await runs.findDetails(runId))?.attempts.find((one) => one.attempt === attempt.attempt);
  if (row?.jobId === jobId) return row;
  const reason = `attempt ${attempt.attempt} ended or got another job before this job was submitted`;
  await jobs.terminate(jobId, reason);
  if (row?.status === "submitting")
    await runs.endAttempt(runId, attempt.attempt, { status: "failed", reason, at: isoTime(clock), jobId });
  return undefined;
}
