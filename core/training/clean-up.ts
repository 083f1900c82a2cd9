import type { Executions } from "../runs/ports";
import type { RunDetails, TrainingAttempt } from "../runs/shapes";
import { type CompleteAttemptDependencies, completeAttempt } from "./complete-attempt";
import { isAbandoned, jobRequestOf, latestAttempts } from "./launch";
import { runEnded } from "./run-ended";

/**
 * Stops the remaining work of an ended run, publishes its end, and removes it from the list of open runs once nothing
 * is left. Idempotent.
 *
 * The list is the outbox of the end's event: the run stays in it until the event was accepted, so that `reconcile`
 * publishes the event if a process died.
 *
 * The run's end is written before. After that no attempt can start, and none can get a job into its row. What may
 * remain is the job of a process that died between its SubmitJob request and the record. While that process may live,
 * the run stays listed, and `reconcile` returns to it.
 *
 * @param executions stops the execution of a killed run; omitted if the execution itself has ended
 */
export async function cleanUpRun(
  dependencies: CompleteAttemptDependencies,
  runId: string,
  reason: string,
  executions?: Executions,
): Promise<void> {
  const details = await dependencies.runs.findDetails(runId);
  if (!details) return;
  // An execution that is about to end by itself must not be stopped in its last steps.
  if (details.run.status === "killed") await executions?.stop(details.run, reason);
  const stopped = await stopJobs(dependencies, details, reason);
  const event = details.endPublished ? undefined : runEnded(details);
  if (event) await dependencies.runEvents.publishRunEnded(event);
  if (stopped) await dependencies.runs.delist(runId);
  else if (event) await dependencies.runs.markEndPublished(runId);
}

/** @returns whether no work is left */
async function stopJobs(
  dependencies: CompleteAttemptDependencies,
  details: RunDetails,
  reason: string,
): Promise<boolean> {
  let stopped = true;
  for (const attempt of latestAttempts(details.attempts)) {
    if (!(await stopAttempt(dependencies, details, attempt, reason))) stopped = false;
  }
  return stopped;
}

async function stopAttempt(
  dependencies: CompleteAttemptDependencies,
  details: RunDetails,
  attempt: TrainingAttempt,
  reason: string,
): Promise<boolean> {
  const { jobs, clock } = dependencies;
  const { run } = details;
  if (attempt.jobId === undefined && attempt.reason !== undefined && attempt.status === "failed") return true; // refused
  if (attempt.jobId === undefined && !isAbandoned(attempt, clock)) return false;
  const jobId = attempt.jobId ?? (await jobs.find(jobRequestOf(run, attempt)));
  // Workers of a training that succeeded end by themselves, unless one hangs.
  if (jobId !== undefined && attempt.status !== "failed") await jobs.terminate(jobId, reason, run.runId);
  await completeAttempt(dependencies, details, { ...attempt, jobId }, { status: "failed", reason }, "rows");
  return true;
}
