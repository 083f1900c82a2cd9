import { isoTime } from "../clock";
import type { Clock } from "../ports";
import { RunEndedError, RunNotFoundError } from "./errors";
import type { Executions, TrainingJobs } from "./ports";
import { isOpen, type Run, type RunDetails } from "./run";
import type { RunRepository } from "./run-repository";

export interface CancelDependencies {
  readonly runs: RunRepository;
  readonly executions: Executions;
  readonly jobs: TrainingJobs;
  readonly clock: Clock;
}

/**
 * Ends a run on a person's word. Its row first, so that no step goes on; then its execution and its job. Cancelling twice is cancelling
 * once; a run that ended otherwise is refused. Dying after the row leaves a killed run in the list of open ones, which `reconcile` winds up.
 */
export async function cancelRun(dependencies: CancelDependencies, runId: string, actor: string): Promise<Run> {
  const { runs, clock } = dependencies;
  const run = await runs.find(runId);
  if (!run) throw new RunNotFoundError(runId);
  if (!isOpen(run.status) && run.status !== "killed") throw new RunEndedError(runId, run.status);
  const at = isoTime(clock);
  const message = `cancelled by ${actor}`;
  await runs.conclude(runId, {
    status: "killed",
    at,
    failure: { code: "CANCELLED", message, phase: run.phase },
    workLeft: true,
  });
  const details = await windUp(dependencies, runId, message);
  // It may have come to its end in the same moment: the first end stands.
  const { status } = details?.run ?? run;
  if (status !== "killed") throw new RunEndedError(runId, status);
  return details?.run ?? run;
}

/** Stops what a run that has ended left at work. May be repeated. */
export async function windUp(
  { runs, executions, jobs, clock }: CancelDependencies,
  runId: string,
  reason: string,
): Promise<RunDetails | undefined> {
  await executions.stop(runId, reason);
  const details = await runs.findDetails(runId);
  const attempt = details?.attempts.at(-1);
  if (attempt?.jobId !== undefined && attempt.status === "submitted") {
    await jobs.terminate(attempt.jobId, reason);
    await runs.updateAttempt(runId, { ...attempt, status: "failed", reason, endedAt: isoTime(clock) });
  }
  await runs.delist(runId);
  return details;
}
